//! The objects of one resource and the ring of their changes.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::watch;

use super::{Change, Objects, TooOld};
use crate::kinds::ResourceKind;

/// How much a ring holds at most.
#[derive(Clone, Copy)]
pub(super) struct Bound {
    pub(super) changes: usize,
    /// Writing a large object again and again must not fill the memory.
    pub(super) bytes: usize,
}

pub(super) struct Collection {
    /// The kind in its stored form.
    pub(super) kind: Arc<ResourceKind>,
    pub(super) objects: Objects,
    pub(super) changed: watch::Sender<u64>,
    /// Oldest first.
    changes: VecDeque<Arc<Change>>,
    /// How many bytes of objects the changes hold.
    bytes: usize,
    /// The newest change that is no longer in the ring.
    dropped: u64,
    /// Nobody may start from before this revision, whether or not something changed since.
    compacted: u64,
}

impl Collection {
    pub(super) fn new(kind: Arc<ResourceKind>, revision: u64) -> Self {
        Self {
            kind,
            objects: Objects::new(),
            changed: watch::Sender::new(revision),
            changes: VecDeque::new(),
            bytes: 0,
            dropped: 0,
            compacted: revision,
        }
    }

    pub(super) fn record(&mut self, change: Change, bound: Bound) {
        let revision = change.revision();
        self.bytes += change.object.bytes().len();
        self.changes.push_back(Arc::new(change));
        while self.changes.len() > bound.changes || self.bytes > bound.bytes {
            if let Some(oldest) = self.changes.pop_front() {
                self.bytes -= oldest.object.bytes().len();
                self.dropped = oldest.revision();
                self.compacted = self.compacted.max(self.dropped);
            }
        }
        self.changed.send_replace(revision);
    }

    pub(super) fn compact(&mut self, revision: u64) {
        if let Some(newest) = self.changes.back() {
            self.dropped = newest.revision();
        }
        self.changes.clear();
        self.bytes = 0;
        self.compacted = revision;
        // Watchers that are behind must learn of it without waiting for the next change.
        self.changed.send_replace(revision);
    }

    /// `started` says that the reader has read up to `revision` already, and so only minds what it missed.
    pub(super) fn changes_after(
        &self,
        revision: u64,
        started: bool,
        limit: usize,
    ) -> Result<Vec<Arc<Change>>, TooOld> {
        let oldest = if started { self.dropped } else { self.compacted };
        if revision < oldest {
            return Err(TooOld { oldest });
        }
        let start = self.changes.partition_point(|change| change.revision() <= revision);
        Ok(self.changes.range(start..).take(limit).cloned().collect())
    }

    pub(super) fn at(&self, revision: u64) -> Result<Objects, TooOld> {
        if revision < self.compacted {
            return Err(TooOld { oldest: self.compacted });
        }
        let mut objects = self.objects.clone();
        let start = self.changes.partition_point(|change| change.revision() <= revision);
        for change in self.changes.range(start..).rev() {
            match &change.previous {
                Some(previous) => objects.insert(change.key.clone(), previous.clone()),
                None => objects.remove(&change.key),
            };
        }
        Ok(objects)
    }
}
