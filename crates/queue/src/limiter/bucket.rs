//! One token bucket for all keys.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::RateLimiter;

/// Beyond this a rate counts as no rate at all; times any burst it still fits a `Duration`.
const NEVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Lets `burst` keys through at once and `qps` a second from then on, whichever keys they are (client-go's
/// `BucketRateLimiter`).
///
/// Each call reserves a token, also one of the future, so waits grow while keys come faster than `qps`.
/// [`forget`](RateLimiter::forget) does nothing and [`num_requeues`](RateLimiter::num_requeues) is 0: the
/// bucket knows no keys.
#[derive(Debug)]
pub struct BucketLimiter {
    bucket: Mutex<Bucket>,
}

impl BucketLimiter {
    /// A full bucket of `burst` tokens, refilled by `qps` tokens a second.
    ///
    /// Infinite `qps` means no limit. With `qps` zero, negative or not a number nothing is refilled: once the
    /// burst is used up, waits are longer than any process lives.
    pub fn new(qps: f64, burst: u32) -> Self {
        // `max` makes 0 of what is negative or no number, and the time for one token infinite.
        let interval = Duration::try_from_secs_f64(qps.max(0.0).recip())
            .map_or(NEVER, |interval| interval.min(NEVER));
        Self {
            bucket: Mutex::new(Bucket {
                interval,
                burst: interval * burst,
                debt: Duration::ZERO,
                as_of: None,
            }),
        }
    }
}

impl<T> RateLimiter<T> for BucketLimiter {
    fn when(&self, _key: &T) -> Duration {
        self.bucket.lock().reserve(Instant::now())
    }

    fn forget(&self, _key: &T) {}

    fn num_requeues(&self, _key: &T) -> u32 {
        0
    }
}

/// The bucket upside down: `debt` is the time it takes to refill what was taken.
#[derive(Debug)]
struct Bucket {
    interval: Duration,
    /// The debt that costs no wait.
    burst: Duration,
    debt: Duration,
    as_of: Option<Instant>,
}

impl Bucket {
    fn reserve(&mut self, now: Instant) -> Duration {
        let passed = self.as_of.map_or(Duration::ZERO, |then| now.saturating_duration_since(then));
        self.as_of = Some(self.as_of.map_or(now, |then| then.max(now)));
        self.debt = self.debt.saturating_sub(passed).saturating_add(self.interval);
        self.debt.saturating_sub(self.burst)
    }
}
