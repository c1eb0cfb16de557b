//! A list of objects as a server answers it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ListMeta;

/// One page of a list, decoded.
#[derive(Clone, Debug, PartialEq)]
pub struct List<K> {
    /// The version of the list, the token of the next page, how many objects remain.
    pub metadata: ListMeta,
    /// The objects of this page.
    pub items: Vec<K>,
}

impl<K> List<K> {
    /// The version from which a watch continues this list.
    pub fn resource_version(&self) -> &str {
        self.metadata.resource_version.as_deref().unwrap_or_default()
    }

    /// The token with which to ask for the next page; `None` on the last.
    pub fn continue_token(&self) -> Option<&str> {
        self.metadata.continue_.as_deref().filter(|token| !token.is_empty())
    }
}

impl<K> IntoIterator for List<K> {
    type Item = K;
    type IntoIter = std::vec::IntoIter<K>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a, K> IntoIterator for &'a List<K> {
    type Item = &'a K;
    type IntoIter = std::slice::Iter<'a, K>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}
