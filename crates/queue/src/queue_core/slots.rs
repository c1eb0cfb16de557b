//! One place for each key the queue knows, whatever it is known for.
//!
//! The ready line and the timeline hold small slot numbers, so a key is stored and hashed once however it
//! travels between them.

#[cfg(test)]
#[path = "slots_tests.rs"]
mod tests;

use std::ops::{Index, IndexMut};

use super::KEPT_CAPACITY;
use super::timeline::Due;

/// Which slot. Valid until the slot is removed.
pub(super) type SlotId = u32;

/// Where a key stands, apart from a time it may be waiting for. In client-go's words: `Ready` is in the dirty
/// set and the queue, `Processing` in the processing set, `ProcessingDirty` in both sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Absent,
    Ready,
    Processing,
    ProcessingDirty,
}

pub(super) struct Slot<T> {
    pub(super) key: T,
    hash: u64,
    /// The next slot of the same chain.
    next: SlotId,
    pub(super) phase: Phase,
    /// The entry in the timeline, if the key is to be added later.
    pub(super) due: Option<Due>,
}

/// The slots, and chains of them by hash to find a key's.
///
/// Chains instead of one of hashbrown's tables: here a lookup costs one cache miss (the head) besides the slot
/// itself, which the caller needs anyhow; there it costs two, and growing reads every slot in random order.
/// Measured on a million keys: adds and drains are 1.5 to 2 times as fast.
pub(super) struct Slots<T> {
    /// The first slot of each chain, or `END`. A power of two, and at least twice as many as keys.
    heads: Vec<SlotId>,
    slots: Vec<Option<Slot<T>>>,
    free: Vec<SlotId>,
}

const END: SlotId = SlotId::MAX;
const FIRST_CHAINS: usize = 16;
const IN_USE: &str = "chains, the ready line and the timeline hold only slots in use";

impl<T: Eq> Slots<T> {
    pub(super) fn new() -> Self {
        Self { heads: vec![END; FIRST_CHAINS], slots: Vec::new(), free: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn find(&self, hash: u64, key: &T) -> Option<SlotId> {
        let mut id = self.heads[self.chain(hash)];
        while id != END {
            let slot = &self[id];
            if slot.hash == hash && slot.key == *key {
                return Some(id);
            }
            id = slot.next;
        }
        None
    }

    /// The key's slot; a new one in [`Phase::Absent`] if the key was unknown.
    pub(super) fn intern(&mut self, hash: u64, key: T) -> SlotId {
        if let Some(known) = self.find(hash, &key) {
            return known;
        }
        if self.len() * 2 >= self.heads.len() {
            self.grow();
        }
        let chain = self.chain(hash);
        let new =
            Some(Slot { key, hash, next: self.heads[chain], phase: Phase::Absent, due: None });
        let id = if let Some(id) = self.free.pop() {
            self.slots[id as usize] = new;
            id
        } else {
            let id = SlotId::try_from(self.slots.len()).unwrap_or(END);
            assert!(id != END, "fewer than 2^32 - 1 keys at a time");
            self.slots.push(new);
            id
        };
        self.heads[chain] = id;
        id
    }

    pub(super) fn remove(&mut self, id: SlotId) {
        let Slot { hash, next, .. } = self[id];
        let chain = self.chain(hash);
        let mut before = self.heads[chain];
        if before == id {
            self.heads[chain] = next;
        } else {
            while self[before].next != id {
                before = self[before].next;
            }
            self[before].next = next;
        }
        self.slots[id as usize] = None;
        self.free.push(id);
        if self.is_empty() && self.slots.capacity() > KEPT_CAPACITY {
            *self = Self::new();
        }
    }

    fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    fn chain(&self, hash: u64) -> usize {
        hash as usize & (self.heads.len() - 1)
    }

    fn grow(&mut self) {
        let size = self.heads.len() * 2;
        self.heads = vec![END; size];
        for (id, slot) in (0..).zip(&mut self.slots) {
            if let Some(slot) = slot {
                let head = &mut self.heads[slot.hash as usize & (size - 1)];
                slot.next = std::mem::replace(head, id);
            }
        }
    }
}

impl<T> Index<SlotId> for Slots<T> {
    type Output = Slot<T>;

    fn index(&self, id: SlotId) -> &Slot<T> {
        self.slots[id as usize].as_ref().expect(IN_USE)
    }
}

impl<T> IndexMut<SlotId> for Slots<T> {
    fn index_mut(&mut self, id: SlotId) -> &mut Slot<T> {
        self.slots[id as usize].as_mut().expect(IN_USE)
    }
}
