//! Keys to be retried, each at its own pace.

use std::fmt;
use std::hash::Hash;
use std::ops::Deref;
use std::sync::Arc;

use crate::limiter::{RateLimiter, default_controller_limiter};
use crate::{DelayingQueue, WorkQueue};

/// A [`DelayingQueue`] that asks a [`RateLimiter`] when a key may run again (client-go's
/// `RateLimitingInterface`).
///
/// Call [`add_rate_limited`](Self::add_rate_limited) after a failure and [`forget`](Self::forget) after a
/// success or when giving up; a key that is never forgotten keeps its counter. Neither replaces
/// [`done`](WorkQueue::done).
pub struct RateLimitingQueue<T> {
    queue: DelayingQueue<T>,
    limiter: Arc<dyn RateLimiter<T>>,
}

impl<T: Clone + Eq + Hash + Send + 'static> RateLimitingQueue<T> {
    /// An empty queue with a limiter of its own. Use [`Default`] for
    /// [`default_controller_limiter`](crate::default_controller_limiter).
    pub fn new(limiter: impl RateLimiter<T> + 'static) -> Self {
        Self { queue: DelayingQueue::new(), limiter: Arc::new(limiter) }
    }

    /// Adds a key when the limiter allows it.
    ///
    /// Each call counts as a failure of the key, even if the key waits already (and then keeps the earlier
    /// time). Ignored after shut-down, without asking the limiter.
    pub fn add_rate_limited(&self, key: T) {
        if self.is_shutting_down() {
            return;
        }
        let delay = self.limiter.when(&key);
        self.queue.add_after(key, delay);
    }

    /// [`add_rate_limited`](Self::add_rate_limited) for each of the keys, each with its own delay.
    pub fn add_all_rate_limited(&self, keys: impl IntoIterator<Item = T>) {
        keys.into_iter().for_each(|key| self.add_rate_limited(key));
    }

    /// Resets what the limiter knows of a key: it has succeeded, or nobody will try again.
    ///
    /// A retry that is already waiting stays.
    pub fn forget(&self, key: &T) {
        self.limiter.forget(key);
    }

    /// How often the key was added rate limited since it was last forgotten.
    pub fn num_requeues(&self, key: &T) -> u32 {
        self.limiter.num_requeues(key)
    }
}

impl<T> Deref for RateLimitingQueue<T> {
    type Target = DelayingQueue<T>;

    fn deref(&self) -> &DelayingQueue<T> {
        &self.queue
    }
}

impl<T> Clone for RateLimitingQueue<T> {
    fn clone(&self) -> Self {
        Self { queue: self.queue.clone(), limiter: Arc::clone(&self.limiter) }
    }
}

impl<T: Clone + Eq + Hash + Send + 'static> Default for RateLimitingQueue<T> {
    fn default() -> Self {
        Self::new(default_controller_limiter())
    }
}

impl<T: Clone + Eq + Hash + Send + 'static> fmt::Debug for RateLimitingQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain: &WorkQueue<T> = self;
        f.debug_tuple("RateLimitingQueue").field(plain).finish()
    }
}
