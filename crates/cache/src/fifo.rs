//! The queue between what is read from a server and what is applied to a store.
//!
//! It keeps changes in the order in which they came, none dropped and none merged (client-go's `RealFIFO` with
//! atomic events). What a list changes is worked out when the list is *applied*, not when it is read, so that
//! changes still in the queue before it count.

use std::collections::VecDeque;
use std::fmt;

use hashbrown::HashSet;
use kubewright_meta::ObjectKey;

use crate::CachedObject;

/// The most changes in one batch.
pub const MAX_BATCH: usize = 1000;

/// One thing that was read from a server.
pub enum Delta<K> {
    /// A watch said that an object was added.
    Added(CachedObject<K>),
    /// A watch said that an object was changed.
    Updated(CachedObject<K>),
    /// A watch said that an object was deleted; this is its last state.
    Deleted(CachedObject<K>),
    /// A list, read to its end: the whole state at a resource version.
    ReplacedAll {
        /// The list's resource version.
        resource_version: String,
        /// All objects, in the list's order.
        objects: Vec<CachedObject<K>>,
        /// Objects that the list has and that could not be read: what the store has of them stays.
        unreadable: Vec<ObjectKey>,
    },
    /// Nothing changed up to this resource version.
    Bookmark {
        /// The resource version.
        resource_version: String,
    },
}

impl<K> Delta<K> {
    /// The object of a change of one object.
    pub fn object(&self) -> Option<&CachedObject<K>> {
        match self {
            Self::Added(object) | Self::Updated(object) | Self::Deleted(object) => Some(object),
            Self::ReplacedAll { .. } | Self::Bookmark { .. } => None,
        }
    }

    fn weight(&self) -> usize {
        match self {
            Self::ReplacedAll { objects, .. } => objects.len().max(1),
            _ => 1,
        }
    }
}

impl<K> fmt::Debug for Delta<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Added(object) => write!(f, "Added({object:?})"),
            Self::Updated(object) => write!(f, "Updated({object:?})"),
            Self::Deleted(object) => write!(f, "Deleted({object:?})"),
            Self::ReplacedAll { resource_version, objects, .. } => {
                write!(f, "ReplacedAll({} objects at {resource_version})", objects.len())
            }
            Self::Bookmark { resource_version } => write!(f, "Bookmark({resource_version})"),
        }
    }
}

/// What is applied in one go.
#[derive(Debug)]
pub enum Batch<K> {
    /// Changes of single objects, no two of the same, at most [`MAX_BATCH`].
    Changes(Vec<Delta<K>>),
    /// The whole state at a resource version.
    ReplacedAll {
        /// The list's resource version.
        resource_version: String,
        /// All objects, in the list's order.
        objects: Vec<CachedObject<K>>,
        /// Objects that the list has and that could not be read: what the store has of them stays.
        unreadable: Vec<ObjectKey>,
    },
    /// Nothing changed up to this resource version.
    Bookmark {
        /// The resource version.
        resource_version: String,
    },
}

/// An in-order queue of [`Delta`]s, handed out in [`Batch`]es. A plain structure without locks or waiting.
///
/// After each batch is applied, [`done`](Self::done) is called: [`has_synced`](Self::has_synced) is true when the
/// first list was *applied*, not when it was handed out.
pub struct Fifo<K> {
    queue: VecDeque<Delta<K>>,
    weight: usize,
    out: Option<Out>,
    synced: bool,
}

/// What kind of batch is being applied.
#[derive(Clone, Copy, PartialEq)]
enum Out {
    Simple,
    Whole,
}

impl<K> Fifo<K> {
    /// An empty queue.
    pub fn new() -> Self {
        Self { queue: VecDeque::new(), weight: 0, out: None, synced: false }
    }

    /// Appends.
    pub fn push(&mut self, delta: Delta<K>) {
        self.weight += delta.weight();
        self.queue.push_back(delta);
    }

    /// The next batch; `None` when the queue is empty or the last batch is not [`done`](Self::done): batches are
    /// applied one after the other.
    pub fn pop(&mut self) -> Option<Batch<K>> {
        if self.out.is_some() {
            return None;
        }
        let first = self.queue.pop_front()?;
        self.weight -= first.weight();
        let batch = match first {
            Delta::ReplacedAll { resource_version, objects, unreadable } => {
                Batch::ReplacedAll { resource_version, objects, unreadable }
            }
            Delta::Bookmark { resource_version } => Batch::Bookmark { resource_version },
            change => Batch::Changes(self.fill(change)),
        };
        let whole = matches!(batch, Batch::ReplacedAll { .. });
        self.out = Some(if whole { Out::Whole } else { Out::Simple });
        // A long queue after a relist need not keep its room for ever.
        if self.queue.is_empty() && self.queue.capacity() > 4 * MAX_BATCH {
            self.queue.shrink_to(MAX_BATCH);
        }
        Some(batch)
    }

    /// `first` and the changes that follow it, up to one that cannot go with them.
    fn fill(&mut self, first: Delta<K>) -> Vec<Delta<K>> {
        let mut keys = HashSet::<ObjectKey>::new();
        keys.extend(first.object().map(|object| object.key().clone()));
        let mut changes = vec![first];
        while changes.len() < MAX_BATCH {
            let Some(object) = self.queue.front().and_then(Delta::object) else {
                break;
            };
            if !keys.insert(object.key().clone()) {
                break;
            }
            let Some(next) = self.queue.pop_front() else {
                break;
            };
            self.weight -= next.weight();
            changes.push(next);
        }
        changes
    }

    /// Says that the batch handed out last was applied. True when that made the queue synced.
    pub fn done(&mut self) -> bool {
        let whole = self.out.take() == Some(Out::Whole);
        let newly = whole && !self.synced;
        self.synced |= whole;
        newly
    }

    /// Whether a first list was applied.
    pub fn has_synced(&self) -> bool {
        self.synced
    }

    /// How many objects and bookmarks wait; the objects of a list count one by one.
    pub fn weight(&self) -> usize {
        self.weight
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

impl<K> Default for Fifo<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> fmt::Debug for Fifo<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fifo")
            .field("deltas", &self.queue.len())
            .field("weight", &self.weight)
            .field("synced", &self.synced)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "fifo_tests.rs"]
mod tests;
