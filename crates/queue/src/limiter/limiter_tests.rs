use proptest::prelude::*;
use tokio::time::advance;

use super::*;

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

const fn s(n: u64) -> Duration {
    Duration::from_secs(n)
}

#[test]
fn exponential_doubles_by_key_until_forgotten() {
    let limiter = ExponentialLimiter::new(ms(1), s(1));
    let waits: Vec<Duration> = (0..5).map(|_| limiter.when(&"one")).collect();
    assert_eq!(waits, [ms(1), ms(2), ms(4), ms(8), ms(16)]);
    assert_eq!(limiter.num_requeues(&"one"), 5);
    assert_eq!(limiter.num_requeues(&"two"), 0);
    assert_eq!(limiter.when(&"two"), ms(1));

    limiter.forget(&"one");
    assert_eq!(limiter.num_requeues(&"one"), 0);
    assert_eq!(limiter.when(&"one"), ms(1));
    assert_eq!(limiter.num_requeues(&"two"), 1);
}

#[test]
fn exponential_stays_at_its_cap_for_ever() {
    for (base, max) in [
        (ms(5), s(1000)),
        (ms(1), s(1000)),
        (Duration::from_nanos(1), Duration::MAX),
        (s(3600), Duration::MAX),
    ] {
        let limiter = ExponentialLimiter::new(base, max);
        let mut before = Duration::ZERO;
        for n in 0..2000 {
            let wait = limiter.when(&"key");
            assert!(wait >= before && wait <= max, "try {n}: {wait:?} after {before:?}");
            before = wait;
        }
        assert_eq!(before, max);
    }
}

#[test]
fn exponential_with_a_base_above_the_cap_waits_the_cap() {
    let limiter = ExponentialLimiter::new(s(10), s(1));
    assert!((0..100).all(|_| limiter.when(&"key") == s(1)));
}

#[test]
fn exponential_without_a_base_never_waits() {
    let limiter = ExponentialLimiter::new(Duration::ZERO, s(1));
    assert!((0..1000).all(|_| limiter.when(&"key").is_zero()));
}

proptest! {
    #[test]
    fn exponential_is_base_times_two_to_the_n(base in 0u64.., n in 0u32..200, max in 0u64..) {
        let limiter = ExponentialLimiter::new(Duration::from_nanos(base), Duration::from_nanos(max));
        let mut wait = Duration::ZERO;
        for _ in 0..=n {
            wait = limiter.when(&());
        }
        let mut expected = u128::from(base);
        for _ in 0..n {
            expected = expected.saturating_mul(2);
        }
        prop_assert_eq!(wait.as_nanos(), expected.min(u128::from(max)));
    }
}

#[test]
fn default_item_limiter_goes_from_a_millisecond_to_a_thousand_seconds() {
    let limiter = ExponentialLimiter::default();
    let waits: Vec<Duration> = (0..25).map(|_| limiter.when(&1)).collect();
    assert_eq!(waits[..3], [ms(1), ms(2), ms(4)]);
    assert_eq!(waits[19], ms(524_288));
    assert_eq!(waits[20..], [s(1000); 5]);
}

#[test]
fn fast_then_slow() {
    let limiter = FastSlowLimiter::new(ms(5), s(10), 3);
    let waits: Vec<Duration> = (0..5).map(|_| limiter.when(&"one")).collect();
    assert_eq!(waits, [ms(5), ms(5), ms(5), s(10), s(10)]);
    assert_eq!(limiter.num_requeues(&"one"), 5);
    assert_eq!(limiter.when(&"two"), ms(5));
    limiter.forget(&"one");
    assert_eq!(limiter.num_requeues(&"one"), 0);
    assert_eq!(limiter.when(&"one"), ms(5));
}

#[tokio::test(start_paused = true)]
async fn bucket_lets_the_burst_through_and_then_reserves_ahead() {
    let limiter = BucketLimiter::new(10.0, 3);
    let waits: Vec<Duration> = (0..6).map(|key| limiter.when(&key)).collect();
    assert_eq!(waits, [ms(0), ms(0), ms(0), ms(100), ms(200), ms(300)]);
    RateLimiter::<i32>::forget(&limiter, &0);
    assert_eq!(RateLimiter::<i32>::num_requeues(&limiter, &0), 0);
    assert_eq!(limiter.when(&0), ms(400), "forget gives no token back");

    // The reservations are over after 400 ms; what comes then refills the bucket, but only to its brim.
    advance(ms(600)).await;
    assert_eq!(limiter.when(&0), ms(0));
    assert_eq!(limiter.when(&0), ms(0));
    assert_eq!(limiter.when(&0), ms(100));
    advance(s(3600)).await;
    let waits: Vec<Duration> = (0..4).map(|key| limiter.when(&key)).collect();
    assert_eq!(waits, [ms(0), ms(0), ms(0), ms(100)]);
}

#[tokio::test(start_paused = true)]
async fn bucket_takes_any_rate() {
    let unlimited = BucketLimiter::new(f64::INFINITY, 0);
    assert!((0..1000).all(|key| unlimited.when(&key).is_zero()));

    for never in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY, f64::MIN_POSITIVE] {
        let limiter = BucketLimiter::new(never, 2);
        assert_eq!([limiter.when(&0), limiter.when(&0)], [Duration::ZERO; 2]);
        assert!((0..1000).all(|key| limiter.when(&key) >= s(3_000_000_000)));
        let full = BucketLimiter::new(never, u32::MAX);
        assert!((0..1000).all(|key| full.when(&key).is_zero()));
    }

    // Without a burst every key waits for its token.
    let limiter = BucketLimiter::new(0.5, 0);
    assert_eq!([limiter.when(&0), limiter.when(&0)], [s(2), s(4)]);
}

#[test]
fn max_of_takes_the_longest_and_tells_all() {
    let limiter = MaxOfLimiter::new(vec![
        Box::new(FastSlowLimiter::new(ms(5), s(3), 3)),
        Box::new(ExponentialLimiter::new(ms(1), s(1))),
    ]);
    let waits: Vec<Duration> = (0..5).map(|_| limiter.when(&"one")).collect();
    assert_eq!(waits, [ms(5), ms(5), ms(5), s(3), s(3)]);
    assert_eq!(limiter.num_requeues(&"one"), 5);
    assert_eq!(limiter.when(&"two"), ms(5));
    limiter.forget(&"one");
    assert_eq!(limiter.num_requeues(&"one"), 0);
    assert_eq!(limiter.when(&"one"), ms(5));

    let none = MaxOfLimiter::new(Vec::new());
    assert_eq!((none.when(&1), none.num_requeues(&1)), (Duration::ZERO, 0));
}

#[test]
fn max_wait_cuts_the_wait_but_not_the_count() {
    let inner = Arc::new(ExponentialLimiter::new(ms(1), s(1000)));
    let limiter = MaxWaitLimiter::new(Arc::clone(&inner), ms(10));
    let waits: Vec<Duration> = (0..6).map(|_| limiter.when(&"one")).collect();
    assert_eq!(waits, [ms(1), ms(2), ms(4), ms(8), ms(10), ms(10)]);
    assert_eq!(limiter.num_requeues(&"one"), 6);
    assert_eq!(inner.when(&"one"), ms(64));
    limiter.forget(&"one");
    assert_eq!(inner.num_requeues(&"one"), 0);
    assert_eq!(limiter.when(&"one"), ms(1));
}

#[tokio::test(start_paused = true)]
async fn default_controller_limiter_is_the_longer_of_key_and_bucket() {
    let limiter = default_controller_limiter();
    for key in 0..100 {
        assert_eq!(limiter.when(&key), ms(5));
    }
    assert_eq!(limiter.when(&1000), ms(100), "the bucket is empty");
    assert_eq!(limiter.when(&1000), ms(200));

    advance(s(3600)).await;
    let waits: Vec<Duration> = (0..30).map(|_| limiter.when(&0)).collect();
    assert_eq!(waits[..2], [ms(10), ms(20)], "the bucket is full again");
    assert_eq!(waits[29], s(1000));
}
