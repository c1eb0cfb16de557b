//! The time written into objects: a wall clock that moves with tokio's, paused or not.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use tokio::time::Instant;

#[derive(Clone, Debug)]
pub(crate) struct Clock {
    wall_at_start: SystemTime,
    started: Instant,
}

impl Clock {
    pub(crate) fn starting_at(wall: SystemTime) -> Self {
        Self { wall_at_start: wall, started: Instant::now() }
    }

    fn now(&self) -> SystemTime {
        let elapsed = Instant::now().saturating_duration_since(self.started);
        self.wall_at_start.checked_add(elapsed).unwrap_or(self.wall_at_start)
    }

    /// Microseconds since 1970: where the revisions of a new server start.
    pub(crate) fn micros(&self) -> u64 {
        let since = self.now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        u64::try_from(since.as_micros()).unwrap_or(u64::MAX / 2)
    }

    /// Now, in whole seconds as Kubernetes writes times.
    pub(crate) fn timestamp(&self) -> Time {
        self.timestamp_after(0)
    }

    /// Now and so many seconds.
    pub(crate) fn timestamp_after(&self, seconds: i64) -> Time {
        let now = i64::try_from(self.micros() / 1_000_000).unwrap_or(i64::MAX);
        at_second(now.saturating_add(seconds))
    }
}

/// A time by its seconds since 1970, kept within what can be written.
pub(crate) fn at_second(seconds: i64) -> Time {
    let seconds = seconds.clamp(jiff::Timestamp::MIN.as_second(), jiff::Timestamp::MAX.as_second());
    Time(jiff::Timestamp::from_second(seconds).unwrap_or_default())
}
