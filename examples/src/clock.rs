//! What time it is, for timestamps in objects.

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

/// The clock the controllers go by when they compare or write timestamps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    /// When tokio's clock was looked at first, by both clocks.
    started: Option<(Timestamp, Instant)>,
}

impl Clock {
    /// The machine's clock.
    pub fn wall() -> Self {
        Self::default()
    }

    /// The machine's clock as it is now, advanced by tokio's from here on: for tests that pause tokio's clock.
    pub fn tokio() -> Self {
        Self { started: Some((Timestamp::now(), Instant::now())) }
    }

    /// Now.
    pub fn now(&self) -> Timestamp {
        let Some((at, instant)) = self.started else {
            return Timestamp::now();
        };
        SignedDuration::try_from(instant.elapsed())
            .ok()
            .and_then(|elapsed| at.checked_add(elapsed).ok())
            .unwrap_or(Timestamp::MAX)
    }
}
