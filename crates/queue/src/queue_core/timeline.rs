//! Keys to be added later, by time; those of the same time in the order they came.

use std::collections::BTreeMap;

use tokio::time::Instant;

use super::slots::SlotId;

/// An entry of the timeline. A slot keeps its own, so that an earlier time can replace it: the timeline never
/// holds a stale entry, and so no more entries than keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Due {
    pub(super) at: Instant,
    sequence: u64,
}

pub(super) struct Timeline {
    order: BTreeMap<Due, SlotId>,
    next_sequence: u64,
}

impl Timeline {
    pub(super) fn new() -> Self {
        Self { order: BTreeMap::new(), next_sequence: 0 }
    }

    pub(super) fn insert(&mut self, at: Instant, id: SlotId) -> Due {
        let due = Due { at, sequence: self.next_sequence };
        self.next_sequence += 1;
        self.order.insert(due, id);
        due
    }

    pub(super) fn remove(&mut self, due: Due) {
        self.order.remove(&due);
    }

    pub(super) fn first(&self) -> Option<Instant> {
        self.order.first_key_value().map(|(due, _)| due.at)
    }

    pub(super) fn pop(&mut self) -> Option<SlotId> {
        self.order.pop_first().map(|(_, id)| id)
    }

    pub(super) fn pop_due(&mut self, now: Instant) -> Option<SlotId> {
        if self.first()? > now {
            return None;
        }
        self.pop()
    }
}
