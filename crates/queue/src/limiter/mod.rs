//! When a key may run again: the limiters of [`RateLimitingQueue`](crate::RateLimitingQueue).

mod bucket;
mod combine;
mod exponential;
mod fast_slow;
mod requeues;

#[cfg(test)]
#[path = "limiter_tests.rs"]
mod tests;

use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

pub use bucket::BucketLimiter;
pub use combine::{MaxOfLimiter, MaxWaitLimiter};
pub use exponential::ExponentialLimiter;
pub use fast_slow::FastSlowLimiter;

/// Decides how long a key has to wait (client-go's `RateLimiter`).
pub trait RateLimiter<T>: Send + Sync {
    /// Counts one more try of the key and says how long to wait before it.
    fn when(&self, key: &T) -> Duration;

    /// Forgets the tries of the key. Must be called for each key in the end, or its counter stays for ever.
    fn forget(&self, key: &T);

    /// How many tries of the key were counted since it was last forgotten.
    fn num_requeues(&self, key: &T) -> u32;
}

/// What controllers use unless told otherwise: the longer wait of 5 ms·2ⁿ a key, up to 1000 s, and a bucket of
/// 100 tokens for all keys, refilled by 10 a second (client-go's `DefaultControllerRateLimiter`).
pub fn default_controller_limiter<T: Clone + Eq + Hash + Send + 'static>() -> MaxOfLimiter<T> {
    MaxOfLimiter::new(vec![
        Box::new(ExponentialLimiter::new(Duration::from_millis(5), Duration::from_secs(1000))),
        Box::new(BucketLimiter::new(10.0, 100)),
    ])
}

impl<T, L: RateLimiter<T> + ?Sized> RateLimiter<T> for Arc<L> {
    fn when(&self, key: &T) -> Duration {
        (**self).when(key)
    }

    fn forget(&self, key: &T) {
        (**self).forget(key);
    }

    fn num_requeues(&self, key: &T) -> u32 {
        (**self).num_requeues(key)
    }
}
