//! Reads of an informer's store.

use std::fmt;

use kubewright_meta::{Object, ObjectKey, Selector};

use crate::{CachedObject, Error, SharedInformer};

/// Reads of an informer's store: what was last seen of the cluster, without a request.
///
/// A handle; clones are of the same store, and keep the informer running. Until the informer has synced, objects
/// are missing. The order of lists is not specified.
pub struct Lister<K>(SharedInformer<K>);

impl<K: Object> Lister<K> {
    pub(crate) fn new(informer: SharedInformer<K>) -> Self {
        Self(informer)
    }

    /// The object with this key.
    pub fn get(&self, key: &ObjectKey) -> Option<CachedObject<K>> {
        self.0.store().get(key)
    }

    /// The objects that the selector matches. Labels are read from the bytes; nothing is decoded.
    pub fn list(&self, selector: &Selector) -> Vec<CachedObject<K>> {
        select(self.0.store().list(), selector)
    }

    /// Reads of one namespace.
    pub fn in_namespace<'a>(&'a self, namespace: &'a str) -> NamespaceLister<'a, K> {
        NamespaceLister { lister: self, namespace }
    }

    /// All keys.
    pub fn keys(&self) -> Vec<ObjectKey> {
        self.0.store().keys()
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.0.store().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.store().is_empty()
    }

    /// The objects for which an index function gave `value`; see
    /// [`SharedInformer::add_index`].
    ///
    /// # Errors
    /// When there is no such index.
    pub fn by_index(&self, index: &str, value: &str) -> Result<Vec<CachedObject<K>>, Error> {
        self.0.store().by_index(index, value)
    }

    /// The values of an index that have at least one object, sorted.
    ///
    /// # Errors
    /// When there is no such index.
    pub fn index_values(&self, index: &str) -> Result<Vec<String>, Error> {
        self.0.store().index_values(index)
    }

    /// Whether the informer's first list was applied.
    pub fn has_synced(&self) -> bool {
        self.0.has_synced()
    }

    /// The informer it reads from.
    pub fn informer(&self) -> &SharedInformer<K> {
        &self.0
    }
}

impl<K> Clone for Lister<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K: Object> fmt::Debug for Lister<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lister").field(&self.0.name()).finish()
    }
}

/// Reads of one namespace; see [`Lister::in_namespace`].
#[derive(Debug)]
pub struct NamespaceLister<'a, K: Object> {
    lister: &'a Lister<K>,
    namespace: &'a str,
}

impl<K: Object> NamespaceLister<'_, K> {
    /// The object with this name.
    pub fn get(&self, name: &str) -> Option<CachedObject<K>> {
        self.lister.get(&ObjectKey::namespaced(self.namespace, name))
    }

    /// The objects that the selector matches.
    pub fn list(&self, selector: &Selector) -> Vec<CachedObject<K>> {
        select(self.lister.0.store().list_namespace(self.namespace), selector)
    }
}

fn select<K>(mut objects: Vec<CachedObject<K>>, selector: &Selector) -> Vec<CachedObject<K>> {
    if !selector.is_everything() {
        objects.retain(|object| selector.matches(object));
    }
    objects
}
