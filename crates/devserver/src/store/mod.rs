//! Where objects live: persistent maps under one lock, one revision counter, and a ring of changes for each
//! resource.
//!
//! Reading takes the lock only to clone a map, which costs the same for ten objects and for a hundred
//! thousand; filtering and encoding a list happen on that snapshot. An object is encoded once, as the watch
//! frame of its change; stored object, list item and frame are slices of those bytes.
//!
//! An older state is the newest one with the changes since taken back, so that continue tokens and exact
//! lists need no copies: they are good as long as the ring holds those changes.

mod change;
mod collection;
mod stored;

use std::sync::Arc;

use imbl::OrdMap;
use kubewright_meta::{Object, Unstructured};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;

pub(crate) use change::{Change, ChangeKind};
use collection::{Bound, Collection};
pub(crate) use stored::Stored;

use crate::failure::{self, Result};
use crate::kinds::{Registry, ResourceKind};

/// As large as the largest body of a request, so that patches cannot make an object grow without end.
const OBJECT_MAX: usize = 3 << 20;
const HISTORY_BYTES: usize = 256 << 20;

/// Objects by `namespace/name`, or by name for cluster-wide kinds: the order of lists.
pub(crate) type Objects = OrdMap<Arc<str>, Arc<Stored>>;

/// The asked version is older than what the history holds; `oldest` is the first that would do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TooOld {
    pub(crate) oldest: u64,
}

pub(crate) struct Store {
    state: Mutex<State>,
}

pub(crate) struct State {
    revision: u64,
    collections: Vec<Collection>,
    history: Bound,
}

impl Store {
    /// An empty store that keeps `history` changes a resource and counts on from `revision`.
    pub(crate) fn new(registry: &Registry, revision: u64, history: usize) -> Self {
        let history = Bound { changes: history, bytes: HISTORY_BYTES };
        let mut state = State { revision: revision.max(1), collections: Vec::new(), history };
        state.cover(registry);
        Self { state: Mutex::new(state) }
    }

    /// The lock over everything. It is never held across an await.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl State {
    /// Makes the collections that the registry names.
    pub(crate) fn cover(&mut self, registry: &Registry) {
        for (index, kind) in registry.collections().iter().enumerate() {
            match self.collections.get_mut(index) {
                Some(held) => held.kind = kind.clone(),
                None => self.collections.push(Collection::new(kind.clone(), self.revision)),
            }
        }
    }

    /// The revision of the newest change.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    pub(crate) fn get(&self, kind: &ResourceKind, key: &str) -> Option<Arc<Stored>> {
        self.collections[kind.collection].objects.get(key).cloned()
    }

    /// All objects as they are now.
    pub(crate) fn snapshot(&self, kind: &ResourceKind) -> Objects {
        self.collections[kind.collection].objects.clone()
    }

    /// All objects as they were at `revision`, which is not newer than the newest.
    pub(crate) fn snapshot_at(
        &self,
        kind: &ResourceKind,
        revision: u64,
    ) -> std::result::Result<Objects, TooOld> {
        self.collections[kind.collection].at(revision)
    }

    /// At most `limit` changes after `revision`, oldest first. A reader that has `started` only minds what it
    /// missed; one that starts is refused wherever history was forgotten.
    pub(crate) fn changes_after(
        &self,
        kind: &ResourceKind,
        revision: u64,
        started: bool,
        limit: usize,
    ) -> std::result::Result<Vec<Arc<Change>>, TooOld> {
        self.collections[kind.collection].changes_after(revision, started, limit)
    }

    /// Tells the newest revision whenever an object of the resource changes.
    pub(crate) fn subscribe(&self, kind: &ResourceKind) -> watch::Receiver<u64> {
        self.collections[kind.collection].changed.subscribe()
    }

    /// Creates or replaces an object, given in its stored form, under the next revision.
    pub(crate) fn put(
        &mut self,
        kind: &ResourceKind,
        mut object: Unstructured,
    ) -> Result<Arc<Stored>> {
        let revision = self.revision + 1;
        let collection = &mut self.collections[kind.collection];
        let key: Arc<str> = key_of(object.namespace(), object.name()).into();
        object.metadata.resource_version = Some(revision.to_string());
        let previous = collection.objects.get(&key).cloned();
        let change_kind = if previous.is_some() { ChangeKind::Modified } else { ChangeKind::Added };
        let stored = Arc::new(Stored::new(&collection.kind, change_kind, revision, object)?);
        if stored.bytes().len() > OBJECT_MAX {
            return Err(failure::too_large_to_store());
        }
        collection.objects.insert(key.clone(), stored.clone());
        self.revision = revision;
        collection.record(Change::new(key, change_kind, stored.clone(), previous), self.history);
        Ok(stored)
    }

    /// Removes an object; the change carries its last state under the revision of the removal.
    pub(crate) fn remove(&mut self, kind: &ResourceKind, key: &str) -> Result<Option<Arc<Stored>>> {
        let revision = self.revision + 1;
        let collection = &mut self.collections[kind.collection];
        let Some((key, previous)) = collection.objects.get_key_value(key) else {
            return Ok(None);
        };
        let (key, previous) = (key.clone(), previous.clone());
        let mut object = previous.decode()?;
        object.metadata.resource_version = Some(revision.to_string());
        let last = Arc::new(Stored::new(&collection.kind, ChangeKind::Deleted, revision, object)?);
        collection.objects.remove(&key);
        self.revision = revision;
        collection.record(
            Change::new(key, ChangeKind::Deleted, last.clone(), Some(previous)),
            self.history,
        );
        Ok(Some(last))
    }

    /// Forgets all history, as a compaction of etcd would.
    pub(crate) fn compact(&mut self) {
        let revision = self.revision;
        self.collections.iter_mut().for_each(|collection| collection.compact(revision));
    }
}

/// How the store names an object.
pub(crate) fn key_of(namespace: Option<&str>, name: &str) -> String {
    match namespace {
        Some(namespace) => format!("{namespace}/{name}"),
        None => name.to_owned(),
    }
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
