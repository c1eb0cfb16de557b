//! Which objects an informer is about, and how it keeps them.

use std::time::Duration;

use kubewright_meta::{FieldSelector, Selector};

use crate::object::DEFAULT_DECODED_BUDGET;

/// Which objects an informer is about, and how it keeps them.
///
/// A factory makes one informer for each kind and set of options: equal options share, any difference is another
/// cache with its own watch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InformerOptions {
    /// Only objects of this namespace. Default, and the empty name: of all.
    pub namespace: Option<String>,
    /// Only objects with such labels. Default: all. One that stops matching is deleted from the cache.
    pub labels: Selector,
    /// Only objects with such fields. Default: all.
    pub fields: FieldSelector,
    /// Keep `metadata.managedFields`, often the larger part of an object. Default: no.
    pub keep_managed_fields: bool,
    /// How many decoded objects are kept, the ones used last. Default: [`DEFAULT_DECODED_BUDGET`].
    pub decoded_budget: usize,
    /// How many objects a page of a list has; see [`ReflectorOptions`](crate::ReflectorOptions::page_size).
    pub page_size: Option<u32>,
    /// Watches last between this and twice this; see
    /// [`ReflectorOptions`](crate::ReflectorOptions::min_watch_timeout). Default: 5 minutes.
    pub min_watch_timeout: Option<Duration>,
}

impl Default for InformerOptions {
    fn default() -> Self {
        Self {
            namespace: None,
            labels: Selector::default(),
            fields: FieldSelector::default(),
            keep_managed_fields: false,
            decoded_budget: DEFAULT_DECODED_BUDGET,
            page_size: None,
            min_watch_timeout: None,
        }
    }
}

impl InformerOptions {
    /// Only objects of one namespace.
    pub fn in_namespace(namespace: impl Into<String>) -> Self {
        Self { namespace: Some(namespace.into()), ..Self::default() }
    }

    /// Only objects with such labels.
    pub fn with_labels(labels: Selector) -> Self {
        Self { labels, ..Self::default() }
    }

    /// How logs and errors name the choice: ` in shop with labels app=web`.
    pub(crate) fn describe(&self) -> String {
        let mut text = String::new();
        if let Some(namespace) = &self.namespace {
            text += &format!(" in {namespace}");
        }
        for (what, selector) in
            [("labels", self.labels.to_string()), ("fields", self.fields.to_string())]
        {
            if !selector.is_empty() {
                text += &format!(" with {what} {selector}");
            }
        }
        text
    }
}
