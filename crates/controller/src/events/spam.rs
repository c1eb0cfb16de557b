//! No object may flood the API server with events.

use std::time::Duration;

use hashbrown::HashMap;
use tokio::time::Instant;

/// So many events about one object pass at once; from then on one each interval.
const BURST: u32 = 25;
const INTERVAL: Duration = Duration::from_secs(300);

/// A token bucket for each key (client-go's `EventSourceObjectSpamFilter`).
pub(super) struct SpamFilter<K> {
    buckets: HashMap<K, Bucket>,
    max_buckets: usize,
}

/// The bucket upside down: the time it takes to refill what was taken.
struct Bucket {
    debt: Duration,
    as_of: Instant,
}

impl Bucket {
    fn debt_at(&self, now: Instant) -> Duration {
        self.debt.saturating_sub(now.saturating_duration_since(self.as_of))
    }
}

impl<K: Clone + Eq + std::hash::Hash> SpamFilter<K> {
    /// Beyond `max_buckets` the bucket that was used least lately is forgotten.
    pub(super) fn new(max_buckets: usize) -> Self {
        Self { buckets: HashMap::new(), max_buckets }
    }

    /// Takes a token, if there is one.
    pub(super) fn allow(&mut self, key: &K, now: Instant) -> bool {
        if !self.buckets.contains_key(key) && self.buckets.len() >= self.max_buckets {
            self.make_room(now);
        }
        let bucket =
            self.buckets.entry(key.clone()).or_insert(Bucket { debt: Duration::ZERO, as_of: now });
        let debt = bucket.debt_at(now) + INTERVAL;
        let allowed = debt <= INTERVAL * BURST;
        if allowed {
            *bucket = Bucket { debt, as_of: now };
        }
        allowed
    }

    /// Forgets the buckets that are full again.
    pub(super) fn prune(&mut self, now: Instant) {
        self.buckets.retain(|_, bucket| !bucket.debt_at(now).is_zero());
    }

    fn make_room(&mut self, now: Instant) {
        self.prune(now);
        if self.buckets.len() >= self.max_buckets {
            let oldest = self.buckets.iter().min_by_key(|(_, bucket)| bucket.as_of);
            if let Some(key) = oldest.map(|(key, _)| key.clone()) {
                self.buckets.remove(&key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_then_one_each_interval() {
        let mut filter = SpamFilter::new(10);
        let mut now = Instant::now();
        let passed = (0..100).filter(|_| filter.allow(&"web", now)).count();
        assert_eq!(passed, 25);
        assert!(filter.allow(&"db", now), "another object has a bucket of its own");
        now += INTERVAL - Duration::from_millis(1);
        assert!(!filter.allow(&"web", now));
        now += Duration::from_millis(1);
        assert!(filter.allow(&"web", now));
        assert!(!filter.allow(&"web", now));
        now += INTERVAL * 3;
        assert_eq!((0..100).filter(|_| filter.allow(&"web", now)).count(), 3);
    }

    #[test]
    fn buckets_are_bounded_and_full_ones_forgotten() {
        let mut filter = SpamFilter::new(2);
        let now = Instant::now();
        for key in 0..5 {
            assert!(filter.allow(&key, now + Duration::from_secs(key)));
        }
        assert_eq!(filter.buckets.len(), 2);
        assert!(filter.buckets.contains_key(&4) && filter.buckets.contains_key(&3));
        filter.prune(now + INTERVAL * 2);
        assert!(filter.buckets.is_empty());
    }
}
