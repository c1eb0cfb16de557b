//! `done` that cannot be forgotten.

use std::fmt;
use std::hash::Hash;
use std::ops::Deref;

use crate::WorkQueue;

/// A key being processed; dropping it calls [`WorkQueue::done`]. Made by [`WorkQueue::done_on_drop`].
#[must_use = "dropping the guard ends the processing of the key"]
pub struct DoneGuard<T: Clone + Eq + Hash + Send + 'static> {
    queue: WorkQueue<T>,
    key: T,
}

impl<T: Clone + Eq + Hash + Send + 'static> DoneGuard<T> {
    pub(crate) fn new(queue: WorkQueue<T>, key: T) -> Self {
        Self { queue, key }
    }
}

impl<T: Clone + Eq + Hash + Send + 'static> Deref for DoneGuard<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.key
    }
}

impl<T: Clone + Eq + Hash + Send + 'static> Drop for DoneGuard<T> {
    fn drop(&mut self) {
        self.queue.done(&self.key);
    }
}

impl<T: Clone + Eq + Hash + Send + fmt::Debug + 'static> fmt::Debug for DoneGuard<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DoneGuard").field(&self.key).finish()
    }
}
