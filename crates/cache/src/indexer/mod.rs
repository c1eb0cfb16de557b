//! The store of a cache, with indexes over it.
//!
//! Readers take a lock only to copy handles out; writers work out everything that needs user code (index
//! functions) before they take it, and a whole list replaces the store in one step.

mod apply;
mod tables;
mod values;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kubewright_meta::ObjectKey;
use parking_lot::RwLock;

use self::tables::{Tables, Values};
pub use self::values::IndexValues;
use crate::reentry::OrderedMutex;
use crate::{CachedObject, Error};

/// Objects by key and by the values of index functions. A handle; clones are of the same store.
///
/// Reads give the handles that were there at one moment and hold no lock afterwards. The order of lists is not
/// specified. The index by namespace is built in.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use kubewright_cache::{Batch, CachedObject, Delta, Indexer};
///
/// let pods = Indexer::<Pod>::new("pods/v1");
/// pods.add_index("node", |pod| pod.get().map(|pod| pod.spec.as_ref()?.node_name.clone()))?;
/// let json = br#"{"metadata":{"namespace":"a","name":"web"},"spec":{"nodeName":"n1","containers":[]}}"#;
/// pods.apply(Batch::Changes(vec![Delta::Added(CachedObject::from_json(json)?)]))?;
/// assert_eq!(pods.by_index("node", "n1")?.len(), 1);
/// # Ok::<(), kubewright_cache::Error>(())
/// ```
pub struct Indexer<K>(Arc<Inner<K>>);

struct Inner<K> {
    kind: String,
    tables: RwLock<Tables<K>>,
    /// Held by writers from before they run index functions until they have changed the tables, so that no
    /// other change comes between.
    writer: OrderedMutex<()>,
    index_failures: AtomicU64,
}

impl<K> Indexer<K> {
    /// An empty store. `kind` is how errors name the objects, such as `pods/v1`.
    pub fn new(kind: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            kind: kind.into(),
            tables: RwLock::new(Tables::new()),
            writer: OrderedMutex::new(()),
            index_failures: AtomicU64::new(0),
        }))
    }

    /// How errors name the objects.
    pub fn kind(&self) -> &str {
        &self.0.kind
    }

    /// The object with this key.
    pub fn get(&self, key: &ObjectKey) -> Option<CachedObject<K>> {
        self.0.tables.read().get(key).cloned()
    }

    /// All objects.
    pub fn list(&self) -> Vec<CachedObject<K>> {
        let tables = self.0.tables.read();
        let mut objects = Vec::with_capacity(tables.len());
        objects.extend(tables.all().cloned());
        objects
    }

    /// The objects of one namespace.
    pub fn list_namespace(&self, namespace: &str) -> Vec<CachedObject<K>> {
        self.0.tables.read().in_namespace(namespace).cloned().collect()
    }

    /// All keys.
    pub fn keys(&self) -> Vec<ObjectKey> {
        self.0.tables.read().all().map(|object| object.key().clone()).collect()
    }

    /// The namespaces that have objects.
    pub fn namespaces(&self) -> Vec<String> {
        self.0.tables.read().namespaces().map(str::to_owned).collect()
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.0.tables.read().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The resource version up to which changes were applied; empty before the first list.
    pub fn resource_version(&self) -> String {
        self.0.tables.read().resource_version.clone()
    }

    /// The objects for which the index function named `index` gave `value`.
    ///
    /// # Errors
    /// When there is no such index. A value without objects gives an empty list.
    pub fn by_index(&self, index: &str, value: &str) -> Result<Vec<CachedObject<K>>, Error> {
        let tables = self.0.tables.read();
        let position = self.index_position(&tables, index)?;
        Ok(tables.bucket(position, value).cloned().collect())
    }

    /// The keys of the same objects, sorted.
    ///
    /// # Errors
    /// When there is no such index.
    pub fn keys_by_index(&self, index: &str, value: &str) -> Result<Vec<ObjectKey>, Error> {
        let mut keys: Vec<_> =
            self.by_index(index, value)?.iter().map(|object| object.key().clone()).collect();
        keys.sort_unstable();
        Ok(keys)
    }

    /// The values of an index that have at least one object, sorted.
    ///
    /// # Errors
    /// When there is no such index.
    pub fn index_values(&self, index: &str) -> Result<Vec<String>, Error> {
        let tables = self.0.tables.read();
        let position = self.index_position(&tables, index)?;
        let mut values: Vec<_> = tables.bucket_names(position).map(str::to_owned).collect();
        values.sort_unstable();
        Ok(values)
    }

    /// The names of the indexes that were added.
    pub fn index_names(&self) -> Vec<String> {
        self.0.tables.read().index_names()
    }

    /// How often an index function panicked or failed. The object is then left out of that index until
    /// another version of it comes.
    pub fn index_failures(&self) -> u64 {
        self.0.index_failures.load(Ordering::Relaxed)
    }

    fn index_position(&self, tables: &Tables<K>, index: &str) -> Result<usize, Error> {
        tables
            .index_position(index)
            .ok_or_else(|| Error::no_such_index(&self.0.kind, index, tables.index_names()))
    }

    /// Adds an index, at any time: the objects that are there are put into it before this returns.
    ///
    /// The function gives the values under which an object is found: a `Vec<String>`, an `Option<String>`, or
    /// a `Result` of one with this crate's error, so that it may decode the object. It should depend on the
    /// object alone. It may read the store.
    ///
    /// # Errors
    /// When there is an index of this name, or when called from inside an index function.
    pub fn add_index<V: IndexValues>(
        &self,
        name: &str,
        function: impl Fn(&CachedObject<K>) -> V + Send + Sync + 'static,
    ) -> Result<(), Error> {
        let _writer = self.0.writer.lock("add an index")?;
        if self.0.tables.read().index_position(name).is_some() {
            return Err(Error::index_exists(&self.0.kind, name));
        }
        let function: Arc<values::IndexFn<K>> =
            Arc::new(move |object| function(object).into_values());
        let objects = self.list();
        let values = objects.into_iter().map(|object| {
            let values = self.values_in(&*function, name, &object);
            (object, values)
        });
        let values = values.collect();
        self.0.tables.write().add_index(name, function, values);
        Ok(())
    }

    /// The values of an object in all indexes. Runs user code.
    fn values_of(&self, object: &CachedObject<K>) -> Values {
        let functions = self.0.tables.read().index_functions();
        functions.iter().map(|(name, function)| self.values_in(&**function, name, object)).collect()
    }

    fn values_in(
        &self,
        function: &values::IndexFn<K>,
        name: &str,
        object: &CachedObject<K>,
    ) -> Vec<String> {
        values::call(function, name, object).unwrap_or_else(|values::Failed| {
            self.0.index_failures.fetch_add(1, Ordering::Relaxed);
            Vec::new()
        })
    }
}

impl<K> Clone for Indexer<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K> fmt::Debug for Indexer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Indexer")
            .field("kind", &self.0.kind)
            .field("len", &self.len())
            .field("indexes", &self.index_names())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "indexer_tests.rs"]
mod tests;
