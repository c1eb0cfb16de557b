//! Limiters made of limiters.

use std::fmt;
use std::time::Duration;

use super::RateLimiter;

/// Asks several limiters and takes the longest wait (client-go's `MaxOfRateLimiter`).
pub struct MaxOfLimiter<T> {
    limiters: Vec<Box<dyn RateLimiter<T>>>,
}

impl<T> MaxOfLimiter<T> {
    /// Combines the limiters. Each of them counts every try; with none there is no wait.
    pub fn new(limiters: Vec<Box<dyn RateLimiter<T>>>) -> Self {
        Self { limiters }
    }
}

impl<T> RateLimiter<T> for MaxOfLimiter<T> {
    fn when(&self, key: &T) -> Duration {
        let waits = self.limiters.iter().map(|limiter| limiter.when(key));
        waits.max().unwrap_or(Duration::ZERO)
    }

    fn forget(&self, key: &T) {
        self.limiters.iter().for_each(|limiter| limiter.forget(key));
    }

    fn num_requeues(&self, key: &T) -> u32 {
        let counts = self.limiters.iter().map(|limiter| limiter.num_requeues(key));
        counts.max().unwrap_or(0)
    }
}

impl<T> fmt::Debug for MaxOfLimiter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MaxOfLimiter")
            .field("limiters", &self.limiters.len())
            .finish_non_exhaustive()
    }
}

/// Cuts another limiter's waits at `max` (client-go's `WithMaxWaitRateLimiter`).
pub struct MaxWaitLimiter<T> {
    limiter: Box<dyn RateLimiter<T>>,
    max: Duration,
}

impl<T> MaxWaitLimiter<T> {
    /// Wraps a limiter. It goes on counting beyond `max`.
    pub fn new(limiter: impl RateLimiter<T> + 'static, max: Duration) -> Self {
        Self { limiter: Box::new(limiter), max }
    }
}

impl<T> RateLimiter<T> for MaxWaitLimiter<T> {
    fn when(&self, key: &T) -> Duration {
        self.limiter.when(key).min(self.max)
    }

    fn forget(&self, key: &T) {
        self.limiter.forget(key);
    }

    fn num_requeues(&self, key: &T) -> u32 {
        self.limiter.num_requeues(key)
    }
}

impl<T> fmt::Debug for MaxWaitLimiter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MaxWaitLimiter").field("max", &self.max).finish_non_exhaustive()
    }
}
