//! From the bytes of a message to the JSON that Go makes of it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value};

use super::envelope::{Envelope, MAGIC};
use super::fault::{Fault, Problem, Step};
use super::reader::{Payload, Reader};
use super::schema::{Field, Form, Message, MessageId, Omit, Schema, Type};
use super::{MAX_DEPTH, MAX_VALUES, embedded, text};

type Object = Map<String, Value>;
type Result<T> = std::result::Result<T, Fault>;

const SHOWN_KEY_CHARS: usize = 64;

/// Decodes one body. After an error it is not used again.
pub(super) struct Decoder<'s> {
    schema: &'s Schema,
    depth: usize,
    values: usize,
}

impl<'s> Decoder<'s> {
    pub(super) fn new(schema: &'s Schema) -> Self {
        Self { schema, depth: 0, values: 0 }
    }

    /// Adds a message's fields to an object. As protobuf has it, a message that comes twice is merged.
    pub(super) fn message(
        &mut self,
        id: MessageId,
        bytes: &[u8],
        object: &mut Object,
    ) -> Result<()> {
        self.fields(id, bytes, object)?;
        self.fill(id, object)
    }

    fn fields(&mut self, id: MessageId, bytes: &[u8], object: &mut Object) -> Result<()> {
        let Message::Struct(fields) = self.schema.message(id) else {
            return Ok(());
        };
        self.enter()?;
        let mut reader = Reader::new(bytes);
        while let Some((number, payload)) = reader.next_field()? {
            let Ok(index) = fields.binary_search_by_key(&number, |field| field.number) else {
                continue;
            };
            let field = &fields[index];
            self.field(field, payload, object).map_err(|fault| match field.form {
                Form::Inline => fault,
                _ => fault.under(Step::Field(field.name)),
            })?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn field(&mut self, field: &Field, payload: Payload<'_>, object: &mut Object) -> Result<()> {
        match (field.form, field.of) {
            (Form::Inline, Type::Message(id)) => self.fields(id, payload.bytes()?, object),
            (Form::Slice, _) => self.element(field.of, payload, list_in(object, field.name)),
            (Form::Map, _) => {
                let (key, value) = self.entry(field.of, payload.bytes()?)?;
                object_in(object, field.name).insert(key, value);
                Ok(())
            }
            (_, Type::Message(id)) => self.message_field(field, id, payload.bytes()?, object),
            _ => {
                let value = self.value(field.of, payload)?;
                if is_left_out(field, &value) {
                    object.remove(field.name);
                } else {
                    object.insert(field.name.into(), value);
                }
                Ok(())
            }
        }
    }

    fn message_field(
        &mut self,
        field: &Field,
        id: MessageId,
        bytes: &[u8],
        object: &mut Object,
    ) -> Result<()> {
        self.spend()?;
        match self.schema.message(id) {
            // Without elements it is as if it were not there: Go cannot tell either.
            Message::List(_) if bytes.is_empty() && field.form == Form::Plain => Ok(()),
            Message::List(of) => self.list(*of, bytes, list_in(object, field.name)),
            Message::Struct(_) => self.message(id, bytes, object_in(object, field.name)),
        }
    }

    /// One element of a repeated field, or several numbers packed into one.
    fn element(&mut self, of: Type, payload: Payload<'_>, list: &mut Vec<Value>) -> Result<()> {
        let index = list.len();
        let mut add = |payload, list: &mut Vec<Value>| {
            list.push(self.value(of, payload)?);
            Ok(())
        };
        let added = match (of, payload) {
            (Type::Bool | Type::Int32 | Type::Int64, Payload::Bytes(packed)) => {
                let mut reader = Reader::new(packed);
                let mut added = Ok(());
                while added.is_ok() && !reader.is_at_end() {
                    added = match reader.varint() {
                        Ok(number) => add(Payload::Varint(number), list),
                        Err(problem) => Err(problem.into()),
                    };
                }
                added
            }
            _ => add(payload, list),
        };
        added.map_err(|fault: Fault| fault.under(Step::Index(index)))
    }

    fn list(&mut self, of: Type, bytes: &[u8], list: &mut Vec<Value>) -> Result<()> {
        let mut reader = Reader::new(bytes);
        while let Some((number, payload)) = reader.next_field()? {
            if number == 1 {
                self.element(of, payload, list)?;
            }
        }
        Ok(())
    }

    /// An entry of a map: a message with the key and the value, each of which may be missing.
    fn entry(&mut self, of: Type, bytes: &[u8]) -> Result<(String, Value)> {
        let (mut key, mut value) = ("", None);
        let mut reader = Reader::new(bytes);
        while let Some((number, payload)) = reader.next_field()? {
            match number {
                1 => key = payload.text()?,
                2 => value = Some(payload),
                _ => {}
            }
        }
        let value = match value {
            Some(payload) => self.value(of, payload),
            None => self.zero(of),
        };
        let step = || Step::Key(key.chars().take(SHOWN_KEY_CHARS).collect());
        Ok((key.into(), value.map_err(|fault| fault.under(step()))?))
    }

    /// A value that stands alone.
    fn value(&mut self, of: Type, payload: Payload<'_>) -> Result<Value> {
        self.spend()?;
        Ok(match of {
            Type::String => payload.text()?.into(),
            Type::Bool => (payload.varint()? != 0).into(),
            // Negative numbers come as ten bytes; what is beyond the type is cut off, as in Go.
            Type::Int32 => (payload.varint()? as i32).into(),
            Type::Int64 => (payload.varint()? as i64).into(),
            Type::Bytes => BASE64.encode(payload.bytes()?).into(),
            Type::Time => text::time(payload.bytes()?)?,
            Type::MicroTime => text::micro_time(payload.bytes()?)?,
            Type::Quantity => text::quantity(payload.bytes()?)?,
            Type::IntOrString => text::int_or_string(payload.bytes()?)?,
            Type::FieldsV1 => embedded::json(embedded::content(payload.bytes()?)?)?,
            Type::RawExtension => self.raw_extension(embedded::content(payload.bytes()?)?)?,
            Type::Message(id) => match self.schema.message(id) {
                Message::List(of) => {
                    let mut list = Vec::new();
                    self.list(*of, payload.bytes()?, &mut list)?;
                    list.into()
                }
                Message::Struct(_) => {
                    let mut object = Object::new();
                    self.message(id, payload.bytes()?, &mut object)?;
                    object.into()
                }
            },
        })
    }

    /// A whole object of any kind, as JSON or in an envelope of its own.
    fn raw_extension(&mut self, content: &[u8]) -> Result<Value> {
        if !content.starts_with(MAGIC) {
            return Ok(embedded::json(content)?);
        }
        let envelope = Envelope::read(content)?;
        let id = self
            .schema
            .kind(envelope.api_version, envelope.kind)
            .ok_or_else(|| Problem::EmbeddedKind(envelope.shown()))?;
        let mut object = Object::new();
        envelope.write_type(&mut object);
        self.message(id, envelope.raw, &mut object)?;
        Ok(object.into())
    }

    /// Adds what Go's JSON has though the wire has not: structs that are all zero, and what must not be left out.
    fn fill(&mut self, id: MessageId, object: &mut Object) -> Result<()> {
        let Message::Struct(fields) = self.schema.message(id) else {
            return Ok(());
        };
        self.enter()?;
        for field in fields {
            if let (Form::Inline, Type::Message(id)) = (field.form, field.of) {
                self.fill(id, object)?;
            } else if !object.contains_key(field.name)
                && let Some(value) = self.missing(field)?
            {
                object.insert(field.name.into(), value);
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// What JSON has for a field that is not there.
    fn missing(&mut self, field: &Field) -> Result<Option<Value>> {
        let always = field.omit == Omit::Nothing;
        if field.form != Form::Plain || self.is_slice(field.of) {
            return Ok(always.then_some(Value::Null));
        }
        let is_scalar = matches!(field.of, Type::String | Type::Bool | Type::Int32 | Type::Int64);
        if !always && (is_scalar || field.omit == Omit::Zero) {
            return Ok(None);
        }
        self.zero(field.of).map(Some)
    }

    fn is_slice(&self, of: Type) -> bool {
        match of {
            Type::Bytes => true,
            Type::Message(id) => matches!(self.schema.message(id), Message::List(_)),
            _ => false,
        }
    }

    fn zero(&mut self, of: Type) -> Result<Value> {
        self.spend()?;
        Ok(match of {
            Type::String | Type::Bytes => "".into(),
            Type::Bool => false.into(),
            Type::Int32 | Type::Int64 | Type::IntOrString => 0.into(),
            Type::Quantity => text::ZERO_QUANTITY.into(),
            Type::Time | Type::MicroTime | Type::RawExtension | Type::FieldsV1 => Value::Null,
            Type::Message(_) if self.is_slice(of) => Value::Array(Vec::new()),
            Type::Message(id) => {
                let mut object = Object::new();
                self.fill(id, &mut object)?;
                object.into()
            }
        })
    }

    fn enter(&mut self) -> std::result::Result<(), Problem> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(Problem::TooDeep) } else { Ok(()) }
    }

    fn spend(&mut self) -> std::result::Result<(), Problem> {
        self.values += 1;
        if self.values > MAX_VALUES { Err(Problem::TooMany) } else { Ok(()) }
    }
}

/// Go writes plain scalars always, JSON leaves them out when they are zero and the tag says so.
fn is_left_out(field: &Field, value: &Value) -> bool {
    if field.form == Form::Pointer {
        return false;
    }
    match (field.omit, field.of) {
        (Omit::Nothing, _) => false,
        (Omit::Zero, Type::Time) => value.is_null(),
        (_, Type::String | Type::Bytes) => value == "",
        (_, Type::Bool) => value == false,
        (_, Type::Int32 | Type::Int64) => value == 0,
        _ => false,
    }
}

/// The object under a name, which is put there if it is missing.
fn object_in<'o>(object: &'o mut Object, name: &str) -> &'o mut Object {
    let held = object.entry(name).or_insert(Value::Null);
    if !held.is_object() {
        *held = Value::Object(Object::new());
    }
    match held {
        Value::Object(inner) => inner,
        _ => unreachable!("it was just made an object"),
    }
}

/// The list under a name, likewise.
fn list_in<'o>(object: &'o mut Object, name: &str) -> &'o mut Vec<Value> {
    let held = object.entry(name).or_insert(Value::Null);
    if !held.is_array() {
        *held = Value::Array(Vec::new());
    }
    match held {
        Value::Array(list) => list,
        _ => unreachable!("it was just made a list"),
    }
}
