//! Labels and annotations, read from an object's bytes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use kubewright_meta::selector::Labels;

use crate::scan::{ObjectWalk, Scanner};

/// The labels or annotations of a [`RawObject`](crate::RawObject).
///
/// A view of the object's bytes: nothing is decoded before it is asked for, and each question reads the map
/// from its start. It can be given to [`Selector::matches`](kubewright_meta::Selector::matches).
#[derive(Clone, Copy)]
pub struct TextMap<'a> {
    /// An object whose values are strings or null, or nothing at all.
    json: &'a [u8],
}

impl<'a> TextMap<'a> {
    pub(crate) fn new(json: &'a [u8]) -> Self {
        Self { json }
    }

    /// The value of `key`; `None` where it is absent. A `null` reads as empty text, as it does in Go.
    pub fn get(&self, key: &str) -> Option<Cow<'a, str>> {
        let mut found = None;
        let mut entries = self.entries();
        while let Some(entry) = entries.advance() {
            if entry.key.is(self.json, key) {
                found = Some(entry);
            }
        }
        found.map(|entry| entry.value(self.json))
    }

    /// Keys and values in the order they were sent in, which for the API server is by key.
    pub fn iter(&self) -> impl Iterator<Item = (Cow<'a, str>, Cow<'a, str>)> + use<'a> {
        let json = self.json;
        let mut entries = self.entries();
        std::iter::from_fn(move || {
            entries.advance().map(|entry| (entry.key.read(json), entry.value(json)))
        })
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries().advance().is_none()
    }

    /// A decoded copy, as [`ObjectMeta`](kubewright_meta::ObjectMeta) holds it.
    pub fn to_map(&self) -> BTreeMap<String, String> {
        self.iter().map(|(key, value)| (key.into_owned(), value.into_owned())).collect()
    }

    fn entries(&self) -> Entries<'a> {
        let mut scanner = Scanner::new(self.json);
        let walk = ObjectWalk::enter(&mut scanner).ok();
        Entries { scanner, walk }
    }
}

impl Labels for TextMap<'_> {
    fn label(&self, key: &str) -> Option<Cow<'_, str>> {
        self.get(key)
    }
}

/// Shows the keys; values of annotations may be secret.
impl fmt::Debug for TextMap<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(|(key, _)| key)).finish()
    }
}

struct Entries<'a> {
    scanner: Scanner<'a>,
    walk: Option<ObjectWalk>,
}

struct Entry {
    key: crate::scan::Text,
    value: Option<crate::scan::Text>,
}

impl Entry {
    fn value<'a>(&self, json: &'a [u8]) -> Cow<'a, str> {
        self.value.map(|value| value.read(json)).unwrap_or_default()
    }
}

impl Entries<'_> {
    /// The map was checked when the object arrived, so that a fault can only mean its end.
    fn advance(&mut self) -> Option<Entry> {
        let key = self.walk.as_mut()?.next_key(&mut self.scanner).ok()??;
        let value = if self.scanner.peek() == Some(b'"') {
            Some(self.scanner.text().ok()?)
        } else {
            self.scanner.skip_value(0).ok()?;
            None
        };
        Some(Entry { key, value })
    }
}
