//! The state machine behind its lock: what all handles of one queue share.

use std::hash::{BuildHasher, Hash};
use std::task::Waker;

use hashbrown::DefaultHashBuilder;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::queue_core::QueueCore;

pub(crate) struct Shared<T> {
    hasher: DefaultHashBuilder,
    core: Mutex<QueueCore<T, Waker>>,
    /// Notified when a drain may be over.
    pub(crate) drained: Notify,
}

impl<T: Clone + Eq + Hash> Shared<T> {
    pub(crate) fn new() -> Self {
        Self {
            hasher: DefaultHashBuilder::default(),
            core: Mutex::new(QueueCore::new()),
            drained: Notify::new(),
        }
    }

    pub(crate) fn hash(&self, key: &T) -> u64 {
        self.hasher.hash_one(key)
    }

    /// Does one operation, then wakes those who have reason to look, outside the lock.
    pub(crate) fn with<R>(&self, operation: impl FnOnce(&mut QueueCore<T, Waker>) -> R) -> R {
        let mut core = self.core.lock();
        let result = operation(&mut core);
        let Some(first) = core.next_wake() else {
            return result;
        };
        // Nearly always empty, which allocates nothing.
        let more: Vec<Waker> = std::iter::from_fn(|| core.next_wake()).collect();
        drop(core);
        first.wake();
        more.into_iter().for_each(Waker::wake);
        result
    }
}
