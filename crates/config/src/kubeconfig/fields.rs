//! Typed access to a tree of values. Every message says which field of which entry is meant, and what was found there
//! by its type only, never by its text.

use serde_json::{Map, Value};

use crate::secret::Secret;

/// A mapping of the file, with the way to it for messages. Fields are taken out, so that secrets are moved, not copied.
pub(crate) struct Fields {
    at: String,
    map: Map<String, Value>,
}

impl Fields {
    /// The mapping at `at`. Null stands for an empty one.
    pub(crate) fn new(at: impl Into<String>, value: Value) -> Result<Self, String> {
        let at = at.into();
        match value {
            Value::Null => Ok(Self { at, map: Map::new() }),
            Value::Object(map) => Ok(Self { at, map }),
            other => Err(mismatch(&at, "a mapping", &other)),
        }
    }

    /// The mapping in a field; absent and null stand for an empty one.
    pub(crate) fn mapping(&mut self, name: &str) -> Result<Self, String> {
        let at = self.path(name);
        Self::new(at, self.take(name))
    }

    /// The mapping in a field, if there is one.
    pub(crate) fn optional_mapping(&mut self, name: &str) -> Result<Option<Self>, String> {
        let at = self.path(name);
        match self.take(name) {
            Value::Null => Ok(None),
            value => Self::new(at, value).map(Some),
        }
    }

    /// A text; empty, null and absent are all `None`.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, String> {
        let at = self.path(name);
        text(&at, self.take(name))
    }

    /// A text that is a credential.
    pub(crate) fn secret(&mut self, name: &str) -> Result<Option<Secret>, String> {
        Ok(self.text(name)?.map(Secret::from))
    }

    /// Bytes written as base64, with line breaks allowed.
    pub(crate) fn base64(&mut self, name: &str) -> Result<Option<Vec<u8>>, String> {
        use base64::{Engine, engine::general_purpose::STANDARD};
        let Some(mut text) = self.text(name)? else {
            return Ok(None);
        };
        text.retain(|c| !c.is_ascii_whitespace());
        match STANDARD.decode(&text) {
            Ok(bytes) => Ok(Some(bytes).filter(|bytes| !bytes.is_empty())),
            Err(_) => Err(format!("{}: is not valid base64", self.path(name))),
        }
    }

    /// A boolean; absent and null are false.
    pub(crate) fn flag(&mut self, name: &str) -> Result<bool, String> {
        match self.take(name) {
            Value::Null => Ok(false),
            Value::Bool(flag) => Ok(flag),
            other => Err(mismatch(&self.path(name), "true or false", &other)),
        }
    }

    /// The items of a list with the way to each; absent and null are an empty list.
    pub(crate) fn list(&mut self, name: &str) -> Result<Vec<(String, Value)>, String> {
        let at = self.path(name);
        list(&at, self.take(name))
    }

    /// The texts of a list.
    pub(crate) fn texts(&mut self, name: &str) -> Result<Vec<String>, String> {
        let at = self.path(name);
        texts(&at, self.take(name))
    }

    /// All fields of a mapping with free names, with the way to each.
    pub(crate) fn into_entries(self) -> impl Iterator<Item = (String, String, Value)> {
        let at = self.at;
        self.map.into_iter().map(move |(name, value)| (format!("{at}.{name}"), name, value))
    }

    /// A field as it is; absent is null.
    pub(crate) fn take(&mut self, name: &str) -> Value {
        self.map.remove(name).unwrap_or(Value::Null)
    }

    /// Lets later messages speak of this mapping by its name.
    pub(crate) fn named(&mut self, name: &str) {
        self.at = format!("{} ({name:?})", self.at);
    }

    fn path(&self, name: &str) -> String {
        match self.at.is_empty() {
            true => name.to_owned(),
            false => format!("{}.{name}", self.at),
        }
    }
}

/// A text; empty and null are `None`.
pub(crate) fn text(at: &str, value: Value) -> Result<Option<String>, String> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text).filter(|text| !text.is_empty())),
        other @ (Value::Number(_) | Value::Bool(_)) => {
            Err(format!("{}; put it in quotes", mismatch(at, "a text", &other)))
        }
        other => Err(mismatch(at, "a text", &other)),
    }
}

/// The items of a list with the way to each; null is an empty list.
fn list(at: &str, value: Value) -> Result<Vec<(String, Value)>, String> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => {
            let items = items.into_iter().enumerate();
            Ok(items.map(|(i, item)| (format!("{at}[{i}]"), item)).collect())
        }
        other => Err(mismatch(at, "a list", &other)),
    }
}

/// The texts of a list; null items are empty texts.
pub(crate) fn texts(at: &str, value: Value) -> Result<Vec<String>, String> {
    let items = list(at, value)?.into_iter();
    items.map(|(at, item)| Ok(text(&at, item)?.unwrap_or_default())).collect()
}

fn mismatch(at: &str, expected: &str, found: &Value) -> String {
    let found = match found {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    };
    match at.is_empty() {
        true => format!("expected {expected}, found {found}"),
        false => format!("{at}: expected {expected}, found {found}"),
    }
}
