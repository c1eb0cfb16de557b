//! Waits that double with each failure of a key.

use std::fmt;
use std::hash::Hash;
use std::time::Duration;

use super::RateLimiter;
use super::requeues::Requeues;

/// Waits `base`·2ⁿ for a key's n-th failure (from 0), never more than `max` (client-go's
/// `ItemExponentialFailureRateLimiter`).
///
/// The default is 1 ms up to 1000 s (client-go's `DefaultItemBasedRateLimiter`).
pub struct ExponentialLimiter<T> {
    requeues: Requeues<T>,
    base: Duration,
    max: Duration,
}

impl<T: Clone + Eq + Hash> ExponentialLimiter<T> {
    /// A limiter that starts at `base` and stays at `max` once it is reached.
    pub fn new(base: Duration, max: Duration) -> Self {
        Self { requeues: Requeues::new(), base, max }
    }
}

impl<T: Clone + Eq + Hash + Send> RateLimiter<T> for ExponentialLimiter<T> {
    fn when(&self, key: &T) -> Duration {
        doubled(self.base, self.requeues.count(key), self.max)
    }

    fn forget(&self, key: &T) {
        self.requeues.forget(key);
    }

    fn num_requeues(&self, key: &T) -> u32 {
        self.requeues.get(key)
    }
}

/// `base`·2ⁿ or `max`, without ever computing a number that is too large.
fn doubled(base: Duration, n: u32, max: Duration) -> Duration {
    match 1u32.checked_shl(n) {
        Some(factor) => base.saturating_mul(factor).min(max),
        None if base.is_zero() => Duration::ZERO,
        // 2³¹ fits a factor; do the rest from there.
        None if base >= max => max,
        None => doubled(base.saturating_mul(1 << 31), n - 31, max),
    }
}

impl<T: Clone + Eq + Hash> Default for ExponentialLimiter<T> {
    fn default() -> Self {
        Self::new(Duration::from_millis(1), Duration::from_secs(1000))
    }
}

impl<T> fmt::Debug for ExponentialLimiter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExponentialLimiter")
            .field("base", &self.base)
            .field("max", &self.max)
            .finish_non_exhaustive()
    }
}
