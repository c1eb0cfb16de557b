//! The maps of a store: objects by namespace and name, and the indexes over them.
//!
//! Plain structures, changed under the store's lock and never running user code. The values that an object has in
//! the indexes are kept beside it, so that it leaves exactly the buckets it entered, whatever the index function
//! would say later.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use kubewright_meta::ObjectKey;

use super::values::IndexFn;
use crate::CachedObject;

/// The values of one object in every index, in the order of the indexes.
pub(super) type Values = Vec<Vec<String>>;

pub(super) struct Tables<K> {
    hasher: DefaultHashBuilder,
    /// The namespace index and the objects in one; `""` for cluster-wide objects.
    namespaces: HashMap<String, HashTable<Stored<K>>>,
    len: usize,
    indexes: Vec<Index<K>>,
    /// The version up to which changes were applied.
    pub(super) resource_version: String,
}

struct Stored<K> {
    object: CachedObject<K>,
    values: Box<[Box<[Arc<str>]>]>,
}

struct Index<K> {
    name: Arc<str>,
    function: Arc<IndexFn<K>>,
    buckets: HashMap<Arc<str>, HashTable<CachedObject<K>>>,
}

impl<K> Tables<K> {
    pub(super) fn new() -> Self {
        Self {
            hasher: DefaultHashBuilder::default(),
            namespaces: HashMap::new(),
            len: 0,
            indexes: Vec::new(),
            resource_version: String::new(),
        }
    }

    /// Empty tables with the same indexes.
    pub(super) fn empty_like(other: &Self) -> Self {
        let indexes = other.indexes.iter().map(|index| Index {
            name: index.name.clone(),
            function: index.function.clone(),
            buckets: HashMap::new(),
        });
        Self { indexes: indexes.collect(), ..Self::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn get(&self, key: &ObjectKey) -> Option<&CachedObject<K>> {
        self.stored(key).map(|stored| &stored.object)
    }

    /// The object and the values it has in the indexes.
    pub(super) fn get_with_values(&self, key: &ObjectKey) -> Option<(&CachedObject<K>, Values)> {
        let stored = self.stored(key)?;
        let values =
            stored.values.iter().map(|values| values.iter().map(|v| v.to_string()).collect());
        Some((&stored.object, values.collect()))
    }

    fn stored(&self, key: &ObjectKey) -> Option<&Stored<K>> {
        let table = self.namespaces.get(key.namespace().unwrap_or_default())?;
        table.find(self.hash(key), |stored| stored.object.key() == key)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &CachedObject<K>> {
        self.namespaces.values().flat_map(|table| table.iter().map(|stored| &stored.object))
    }

    pub(super) fn in_namespace(&self, namespace: &str) -> impl Iterator<Item = &CachedObject<K>> {
        let table = self.namespaces.get(namespace);
        table.into_iter().flat_map(|table| table.iter().map(|stored| &stored.object))
    }

    pub(super) fn namespaces(&self) -> impl Iterator<Item = &str> {
        self.namespaces
            .keys()
            .map(|namespace| &**namespace)
            .filter(|namespace| !namespace.is_empty())
    }

    /// Puts an object in, and gives the one it replaces.
    pub(super) fn insert(
        &mut self,
        object: CachedObject<K>,
        values: Values,
    ) -> Option<CachedObject<K>> {
        let replaced = self.remove(&object.key().clone());
        let hash = self.hash(object.key());
        let hasher = self.hasher.clone();
        let mut held = Vec::with_capacity(self.indexes.len());
        // Indexes without values for this object have none of it: `values` may be shorter than `indexes`.
        for (position, index) in self.indexes.iter_mut().enumerate() {
            let values = values.get(position).map(Vec::as_slice).unwrap_or_default();
            held.push(index.insert(&hasher, hash, &object, values));
        }
        let namespace = object.namespace().unwrap_or_default();
        let rehash = |stored: &Stored<K>| hasher.hash_one(stored.object.key());
        let stored = Stored { values: held.into(), object: object.clone() };
        self.namespaces.entry_ref(namespace).or_default().insert_unique(hash, stored, rehash);
        self.len += 1;
        replaced
    }

    /// Takes an object out.
    pub(super) fn remove(&mut self, key: &ObjectKey) -> Option<CachedObject<K>> {
        let hash = self.hash(key);
        let namespace = key.namespace().unwrap_or_default();
        let table = self.namespaces.get_mut(namespace)?;
        let entry = table.find_entry(hash, |stored| stored.object.key() == key).ok()?;
        let (stored, _) = entry.remove();
        if table.is_empty() {
            self.namespaces.remove(namespace);
        }
        self.len -= 1;
        for (index, values) in self.indexes.iter_mut().zip(&stored.values) {
            index.remove(hash, key, values);
        }
        Some(stored.object)
    }

    pub(super) fn index_position(&self, name: &str) -> Option<usize> {
        self.indexes.iter().position(|index| &*index.name == name)
    }

    pub(super) fn index_names(&self) -> Vec<String> {
        self.indexes.iter().map(|index| index.name.to_string()).collect()
    }

    /// Names and functions of the indexes, in their order.
    pub(super) fn index_functions(&self) -> Vec<(Arc<str>, Arc<IndexFn<K>>)> {
        self.indexes.iter().map(|index| (index.name.clone(), index.function.clone())).collect()
    }

    /// Adds an index with the values that the objects have in it.
    pub(super) fn add_index(
        &mut self,
        name: &str,
        function: Arc<IndexFn<K>>,
        values: Vec<(CachedObject<K>, Vec<String>)>,
    ) {
        let mut index = Index { name: name.into(), function, buckets: HashMap::new() };
        for (object, values) in values {
            let hash = self.hash(object.key());
            let values = index.insert(&self.hasher, hash, &object, &values);
            let table = self.namespaces.get_mut(object.namespace().unwrap_or_default());
            let stored = table.and_then(|t| t.find_mut(hash, |s| s.object.key() == object.key()));
            if let Some(stored) = stored {
                let mut all = std::mem::take(&mut stored.values).into_vec();
                all.push(values);
                stored.values = all.into();
            }
        }
        self.indexes.push(index);
    }

    /// The objects under a value of the index at `position`.
    pub(super) fn bucket(
        &self,
        position: usize,
        value: &str,
    ) -> impl Iterator<Item = &CachedObject<K>> {
        let bucket = self.indexes.get(position).and_then(|index| index.buckets.get(value));
        bucket.into_iter().flat_map(HashTable::iter)
    }

    /// The values of the index at `position` that have objects.
    pub(super) fn bucket_names(&self, position: usize) -> impl Iterator<Item = &str> {
        let index = self.indexes.get(position);
        index.into_iter().flat_map(|index| index.buckets.keys().map(|value| &**value))
    }

    fn hash(&self, key: &ObjectKey) -> u64 {
        self.hasher.hash_one(key)
    }
}

impl<K> Index<K> {
    fn insert(
        &mut self,
        hasher: &DefaultHashBuilder,
        hash: u64,
        object: &CachedObject<K>,
        values: &[String],
    ) -> Box<[Arc<str>]> {
        let mut held = Vec::with_capacity(values.len());
        for value in values {
            let name = match self.buckets.get_key_value(value.as_str()) {
                Some((name, _)) => name.clone(),
                None => Arc::from(value.as_str()),
            };
            let bucket = self.buckets.entry(name.clone()).or_default();
            bucket.insert_unique(hash, object.clone(), |object| hasher.hash_one(object.key()));
            held.push(name);
        }
        held.into()
    }

    fn remove(&mut self, hash: u64, key: &ObjectKey, values: &[Arc<str>]) {
        for value in values {
            let Some(bucket) = self.buckets.get_mut(value) else {
                continue;
            };
            if let Ok(entry) = bucket.find_entry(hash, |object| object.key() == key) {
                entry.remove();
            }
            if bucket.is_empty() {
                self.buckets.remove(value);
            }
        }
    }
}
