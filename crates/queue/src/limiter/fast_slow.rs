//! A few quick tries, then slow ones.

use std::fmt;
use std::hash::Hash;
use std::time::Duration;

use super::RateLimiter;
use super::requeues::Requeues;

/// Waits `fast` for the first `fast_attempts` failures of a key and `slow` from then on (client-go's
/// `ItemFastSlowRateLimiter`).
pub struct FastSlowLimiter<T> {
    requeues: Requeues<T>,
    fast: Duration,
    slow: Duration,
    fast_attempts: u32,
}

impl<T: Clone + Eq + Hash> FastSlowLimiter<T> {
    /// A limiter with these two waits.
    pub fn new(fast: Duration, slow: Duration, fast_attempts: u32) -> Self {
        Self { requeues: Requeues::new(), fast, slow, fast_attempts }
    }
}

impl<T: Clone + Eq + Hash + Send> RateLimiter<T> for FastSlowLimiter<T> {
    fn when(&self, key: &T) -> Duration {
        if self.requeues.count(key) < self.fast_attempts { self.fast } else { self.slow }
    }

    fn forget(&self, key: &T) {
        self.requeues.forget(key);
    }

    fn num_requeues(&self, key: &T) -> u32 {
        self.requeues.get(key)
    }
}

impl<T> fmt::Debug for FastSlowLimiter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FastSlowLimiter")
            .field("fast", &self.fast)
            .field("slow", &self.slow)
            .field("fast_attempts", &self.fast_attempts)
            .finish_non_exhaustive()
    }
}
