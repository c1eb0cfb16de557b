//! Where a selector reads labels from.
//!
//! A trait, so that one `matches` serves decoded maps and objects that are still bytes: the
//! latter find a label in their encoded header and may have to unescape it.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher;

/// A set of labels that can be asked for one by its key.
pub trait Labels {
    /// The value of the label `key`; `None` where the label is absent. An empty value is `Some`.
    fn label(&self, key: &str) -> Option<Cow<'_, str>>;
}

impl Labels for BTreeMap<String, String> {
    fn label(&self, key: &str) -> Option<Cow<'_, str>> {
        self.get(key).map(|value| Cow::Borrowed(value.as_str()))
    }
}

impl<S: BuildHasher> Labels for HashMap<String, String, S> {
    fn label(&self, key: &str) -> Option<Cow<'_, str>> {
        self.get(key).map(|value| Cow::Borrowed(value.as_str()))
    }
}

/// Absent labels, as in `ObjectMeta`, are an empty set.
impl<L: Labels> Labels for Option<L> {
    fn label(&self, key: &str) -> Option<Cow<'_, str>> {
        self.as_ref().and_then(|labels| labels.label(key))
    }
}

impl<L: Labels + ?Sized> Labels for &L {
    fn label(&self, key: &str) -> Option<Cow<'_, str>> {
        (**self).label(key)
    }
}
