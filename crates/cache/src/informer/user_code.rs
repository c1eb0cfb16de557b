//! Running code that may take long without holding up the runtime.

use std::time::{Duration, Instant};

use tokio::runtime::{Handle, RuntimeFlavor};

/// Runs `code`, which may block or take long.
///
/// Tokio does not promise that other tasks go on while one blocks its thread: those that wait in that thread's queue can
/// stay there for as long. On a multi-threaded runtime the queue is therefore handed to another thread first. A
/// current-thread runtime has no other thread.
pub(super) fn run<R>(code: impl FnOnce() -> R) -> R {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(code),
        _ => code(),
    }
}

/// What counts as quick.
const QUICK: Duration = Duration::from_millis(1);
/// After so many quick runs in a row the next is taken to be quick too.
const TRUST: u32 = 32;

/// How long some code usually takes. Handing over the thread costs up to a tenth of a millisecond of CPU time, a
/// thousand times what most handlers do; so those that have always been quick run without it, until they are not.
#[derive(Debug, Default)]
pub(super) struct Habit {
    quick: u32,
}

impl Habit {
    /// Runs `code`, handing over the thread first unless it has been quick so far.
    pub(super) fn run<R>(&mut self, code: impl FnOnce() -> R) -> R {
        let begin = Instant::now();
        let result = match self.is_quick() {
            true => code(),
            false => run(code),
        };
        self.took(begin.elapsed());
        result
    }

    fn is_quick(&self) -> bool {
        self.quick >= TRUST
    }

    fn took(&mut self, time: Duration) {
        self.quick = match time < QUICK {
            true => self.quick.saturating_add(1),
            false => 0,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slow_run_has_to_be_made_good_by_many_quick_ones() {
        let mut habit = Habit::default();
        for _ in 0..2 {
            for _ in 0..TRUST {
                assert!(!habit.is_quick());
                habit.took(Duration::ZERO);
            }
            assert!(habit.is_quick());
            habit.took(QUICK);
        }
    }
}
