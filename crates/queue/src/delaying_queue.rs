//! Keys to be added later.

use std::fmt;
use std::hash::Hash;
use std::ops::Deref;
use std::time::Duration;

use tokio::time::Instant;

use crate::WorkQueue;

/// As good as for ever, and still a time that can be computed with.
const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 3600);

/// A [`WorkQueue`] that can also add a key later (client-go's `DelayingInterface`).
///
/// The rules where the two meet:
/// - A key has one waiting time; of several the earliest wins.
/// - Waiting and being ready are independent: [`add`](WorkQueue::add) does not cancel a wait. A key added
///   after 10 s, then added and processed at once, is processed again at 10 s, but never by two workers at
///   the same time. (Dropping the later run would lose a reason to look again that the first could not know.)
/// - A key whose time comes while it is processed runs once more after [`done`](WorkQueue::done).
/// - Shut-down drops the keys still waiting, and never starts them.
pub struct DelayingQueue<T> {
    queue: WorkQueue<T>,
}

impl<T: Clone + Eq + Hash + Send + 'static> DelayingQueue<T> {
    /// An empty queue.
    pub fn new() -> Self {
        Self { queue: WorkQueue::new() }
    }

    /// Adds a key after a delay, at once if the delay is zero. Never blocks; ignored after shut-down.
    ///
    /// Delays beyond 30 years count as 30 years. Workers wake within tokio's timer resolution of 1 ms after
    /// the time, never before.
    pub fn add_after(&self, key: T, delay: Duration) {
        if delay.is_zero() {
            return self.queue.add(key);
        }
        let at = Instant::now() + delay.min(FAR);
        let hash = self.queue.shared().hash(&key);
        self.queue.shared().with(|core| core.add_at(hash, key, at));
    }
}

impl<T> Deref for DelayingQueue<T> {
    type Target = WorkQueue<T>;

    fn deref(&self) -> &WorkQueue<T> {
        &self.queue
    }
}

impl<T> Clone for DelayingQueue<T> {
    fn clone(&self) -> Self {
        Self { queue: self.queue.clone() }
    }
}

impl<T: Clone + Eq + Hash + Send + 'static> Default for DelayingQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Clone + Eq + Hash + Send + 'static> fmt::Debug for DelayingQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DelayingQueue").field(&self.queue).finish()
    }
}
