//! A counter for each key that has failed.

use std::hash::Hash;

use hashbrown::HashMap;
use parking_lot::Mutex;

#[derive(Debug)]
pub(super) struct Requeues<T> {
    counts: Mutex<HashMap<T, u32>>,
}

impl<T: Clone + Eq + Hash> Requeues<T> {
    pub(super) fn new() -> Self {
        Self { counts: Mutex::new(HashMap::new()) }
    }

    /// Counts one more, and returns how many there were before.
    pub(super) fn count(&self, key: &T) -> u32 {
        let mut counts = self.counts.lock();
        let count = counts.entry_ref(key).or_insert(0);
        let before = *count;
        *count = before.saturating_add(1);
        before
    }

    pub(super) fn forget(&self, key: &T) {
        self.counts.lock().remove(key);
    }

    pub(super) fn get(&self, key: &T) -> u32 {
        self.counts.lock().get(key).copied().unwrap_or(0)
    }
}
