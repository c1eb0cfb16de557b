//! The schema: which fields messages have, and how these look in JSON.
//!
//! The format of the text is described with the program that writes it, in `tools/schema`.

use std::collections::HashMap;
use std::sync::LazyLock;

/// All messages known, and the kinds that an envelope may name.
#[derive(Debug, Default)]
pub(super) struct Schema {
    kinds: HashMap<(&'static str, &'static str), MessageId>,
    messages: Vec<Message>,
}

/// A message of the schema it was asked from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MessageId(usize);

#[derive(Debug)]
pub(super) enum Message {
    /// The fields, by number.
    Struct(Vec<Field>),
    /// A named slice: one repeated field with number 1, a list in JSON.
    List(Type),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) number: u32,
    pub(super) name: &'static str,
    pub(super) form: Form,
    pub(super) of: Type,
    pub(super) omit: Omit,
}

/// What Go has around a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    Pointer,
    Slice,
    Map,
    /// A message of its own on the wire, whose fields stand among the others in JSON.
    Inline,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    String,
    Bool,
    Int32,
    Int64,
    Bytes,
    Time,
    MicroTime,
    Quantity,
    IntOrString,
    RawExtension,
    FieldsV1,
    Message(MessageId),
}

/// Which zero values JSON leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Omit {
    /// None.
    Nothing,
    /// Go's `omitempty`: all but structs, on which it has no effect.
    Empty,
    /// Go's `omitzero`, known on times: also the zero time.
    Zero,
}

impl Schema {
    /// The schema in this crate.
    pub(super) fn built_in() -> &'static Self {
        static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
            Schema::parse(include_str!("schema.txt")).expect("a test of this crate reads it too")
        });
        &SCHEMA
    }

    /// Reads a schema; an error is the line that makes no sense.
    pub(super) fn parse(text: &'static str) -> Result<Self, &'static str> {
        let mut ids = HashMap::new();
        for line in text.lines() {
            if let Some(("message" | "list", rest)) = line.split_once(' ') {
                let name = rest.split(' ').next().unwrap_or_default();
                ids.insert(name, MessageId(ids.len()));
            }
        }
        let mut schema = Self::default();
        for line in text.lines() {
            schema.parse_line(line, &ids).ok_or(line)?;
        }
        if schema.messages.len() != ids.len() {
            return Err("two messages have one name");
        }
        Ok(schema)
    }

    fn parse_line(
        &mut self,
        line: &'static str,
        ids: &HashMap<&'static str, MessageId>,
    ) -> Option<()> {
        let words: Vec<&'static str> = line.split(' ').collect();
        match *words.as_slice() {
            [""] | ["#", ..] => {}
            ["kind", group_version, kind, message] => {
                self.kinds.insert((group_version, kind), *ids.get(message)?);
            }
            ["message", _] => self.messages.push(Message::Struct(Vec::new())),
            ["list", _, element] => {
                let element = Type::parse(element, ids)?;
                self.messages.push(Message::List(element));
            }
            [number, name, of, ref flag @ ..] => {
                let Some(Message::Struct(fields)) = self.messages.last_mut() else {
                    return None;
                };
                let field = Field::parse(number, name, of, flag, ids)?;
                if fields.last().is_some_and(|last| last.number >= field.number) {
                    return None;
                }
                fields.push(field);
            }
            _ => return None,
        }
        Some(())
    }

    /// The message of a kind, as an envelope names it.
    pub(super) fn kind(&self, api_version: &str, kind: &str) -> Option<MessageId> {
        let find = |api_version| self.kinds.get(&(api_version, kind)).copied();
        find(api_version).or_else(|| find(EVERY_GROUP))
    }

    pub(super) fn message(&self, id: MessageId) -> &Message {
        &self.messages[id.0]
    }

    #[cfg(test)]
    pub(super) fn kinds(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.kinds.keys().copied()
    }
}

/// Stands for the group and version of kinds that all groups have.
const EVERY_GROUP: &str = "*";

impl Field {
    fn parse(
        number: &'static str,
        name: &'static str,
        of: &'static str,
        flag: &[&'static str],
        ids: &HashMap<&'static str, MessageId>,
    ) -> Option<Self> {
        let (form, of) = if let Some(of) = of.strip_prefix('*') {
            (Form::Pointer, of)
        } else if let Some(of) = of.strip_prefix("[]") {
            (Form::Slice, of)
        } else if let Some(of) = of.strip_prefix("map[string]") {
            (Form::Map, of)
        } else {
            (Form::Plain, of)
        };
        let of = Type::parse(of, ids)?;
        let (form, omit) = match (flag, form, of) {
            ([], ..) => (form, Omit::Empty),
            (["keep"], ..) => (form, Omit::Nothing),
            (["omitzero"], ..) => (form, Omit::Zero),
            (["inline"], Form::Plain, Type::Message(_)) => (Form::Inline, Omit::Nothing),
            _ => return None,
        };
        let number = number.parse().ok()?;
        Some(Self { number, name, form, of, omit })
    }
}

impl Type {
    fn parse(name: &'static str, ids: &HashMap<&'static str, MessageId>) -> Option<Self> {
        Some(match name {
            "string" => Self::String,
            "bool" => Self::Bool,
            "int32" => Self::Int32,
            "int64" => Self::Int64,
            "bytes" => Self::Bytes,
            "time" => Self::Time,
            "microtime" => Self::MicroTime,
            "quantity" => Self::Quantity,
            "intorstring" => Self::IntOrString,
            "rawextension" => Self::RawExtension,
            "fieldsv1" => Self::FieldsV1,
            message => Self::Message(*ids.get(message)?),
        })
    }
}
