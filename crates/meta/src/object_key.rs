//! The name by which caches and queues know an object.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

/// Namespace and name of an object, printed as client-go's store keys are: `namespace/name`, or `name` for
/// cluster-wide objects.
///
/// One shared allocation, so that clones are cheap: queues, stores and handlers pass many of them.
#[derive(Clone)]
pub struct ObjectKey {
    text: Arc<str>,
    name_at: u32,
}

impl ObjectKey {
    /// The key of a namespaced object.
    pub fn namespaced(namespace: &str, name: &str) -> Self {
        Self::new(Some(namespace), name)
    }

    /// The key of a cluster-wide object.
    pub fn cluster(name: &str) -> Self {
        Self::new(None, name)
    }

    /// A key from its parts. An empty namespace is no namespace.
    pub fn new(namespace: Option<&str>, name: &str) -> Self {
        match namespace {
            Some(namespace) if !namespace.is_empty() => Self {
                text: format!("{namespace}/{name}").into(),
                // Names are at most 253 bytes; an absurd one merely reads as a name without namespace.
                name_at: u32::try_from(namespace.len() + 1).unwrap_or(0),
            },
            _ => Self { text: name.into(), name_at: 0 },
        }
    }

    /// The namespace; `None` for cluster-wide objects.
    pub fn namespace(&self) -> Option<&str> {
        (self.name_at as usize).checked_sub(1).map(|end| &self.text[..end])
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.text[self.name_at as usize..]
    }

    /// `namespace/name`, or `name`.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

/// A text with more than one `/`, or with an empty name.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no object key: expected NAMESPACE/NAME or NAME")]
pub struct ParseObjectKeyError(String);

/// As the text: a `main` that returns the error prints this form.
impl fmt::Debug for ParseObjectKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ParseObjectKeyError({self})")
    }
}

impl FromStr for ObjectKey {
    type Err = ParseObjectKeyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (namespace, name) = match text.split_once('/') {
            Some((namespace, name)) => (Some(namespace), name),
            None => (None, text),
        };
        if name.is_empty() || name.contains('/') || namespace == Some("") {
            return Err(ParseObjectKeyError(text.to_owned()));
        }
        Ok(Self::new(namespace, name))
    }
}

// The text decides alone: where the name starts follows from it, since no name contains a slash. So maps
// with these keys can be asked with a `&str`.
impl PartialEq for ObjectKey {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for ObjectKey {}

impl Hash for ObjectKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl PartialOrd for ObjectKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ObjectKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.cmp(&other.text)
    }
}

impl Borrow<str> for ObjectKey {
    fn borrow(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_and_printed() {
        for text in ["a", "ns/a", "kube-system/x.y"] {
            assert_eq!(text.parse::<ObjectKey>().unwrap().to_string(), text);
        }
        for text in ["", "/", "/a", "ns/", "a/b/c"] {
            assert!(text.parse::<ObjectKey>().is_err(), "{text}");
        }
    }

    #[test]
    fn parts_come_back() {
        let key = ObjectKey::namespaced("shop", "web");
        assert_eq!((key.namespace(), key.name()), (Some("shop"), "web"));
        let key = ObjectKey::new(Some(""), "node-1");
        assert_eq!((key.namespace(), key.name()), (None, "node-1"));
        assert_eq!(key, ObjectKey::cluster("node-1"));
        assert_ne!(ObjectKey::namespaced("a", "b"), ObjectKey::namespaced("b", "a"));
    }

    #[test]
    fn maps_are_asked_with_a_text() {
        let map = std::collections::HashMap::from([(ObjectKey::namespaced("a", "b"), 1)]);
        assert_eq!(map.get("a/b"), Some(&1));
    }
}
