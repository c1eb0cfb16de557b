//! How long a reflector waits after a failure.

use std::time::{Duration, Instant};

const FIRST: Duration = Duration::from_millis(800);
const MOST: Duration = Duration::from_secs(30);
const FACTOR: u32 = 2;
/// After so long without a failure it starts from the first step.
const CALM: Duration = Duration::from_secs(120);

/// 800 ms, doubled up to 30 s, each made longer by a random part of itself; from the start again after two minutes
/// of calm. client-go's numbers.
#[derive(Debug)]
pub(super) struct Backoff {
    step: Duration,
    last: Option<Instant>,
}

impl Backoff {
    pub(super) fn new() -> Self {
        Self { step: FIRST, last: None }
    }

    /// How long to wait after a failure at `now`.
    pub(super) fn after_failure(&mut self, now: Instant, random: &mut fastrand::Rng) -> Duration {
        let calm = self.last.is_some_and(|last| now.saturating_duration_since(last) > CALM);
        if calm {
            self.step = FIRST;
        }
        self.last = Some(now);
        let wait = self.step.mul_f64(1.0 + random.f64());
        self.step = (self.step * FACTOR).min(MOST);
        wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_doubles_to_a_limit_and_starts_again_after_calm() {
        let (mut backoff, mut random) = (Backoff::new(), fastrand::Rng::with_seed(1));
        let mut now = Instant::now();
        for step in [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0] {
            let wait = backoff.after_failure(now, &mut random);
            let base = Duration::from_secs_f64(step);
            assert!(wait >= base && wait < 2 * base, "{wait:?} for {base:?}");
            now += wait;
        }
        now += CALM + Duration::from_secs(1);
        assert!(backoff.after_failure(now, &mut random) < 2 * FIRST);
    }
}
