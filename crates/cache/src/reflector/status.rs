//! What a reflector is doing and has seen, so that a cache that stands still explains itself.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

/// What a reflector is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// It was not started.
    #[default]
    NotStarted,
    /// It reads a list.
    Listing,
    /// It waits for the next event of a watch.
    Watching,
    /// It waits after a failure; see [`ReflectorStatus::last_error`].
    BackingOff,
    /// It was shut down.
    Stopped,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotStarted => "not started",
            Self::Listing => "listing",
            Self::Watching => "watching",
            Self::BackingOff => "backing off",
            Self::Stopped => "stopped",
        })
    }
}

/// What a reflector is doing and has seen. A copy of one moment; counters only grow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReflectorStatus {
    /// What it is doing.
    pub phase: Phase,
    /// The resource version it has seen last, from which the next watch goes on; empty before the first list.
    pub resource_version: String,
    /// Lists that were read to their end.
    pub lists: u64,
    /// Watches that were asked for.
    pub watches: u64,
    /// Events of watches about objects.
    pub events: u64,
    /// Bookmarks.
    pub bookmarks: u64,
    /// Objects and events that could not be read and were left out. The store keeps the last good version of such an
    /// object until a good one comes, or a list without the object; where not even its name can be read, until a list.
    /// (client-go cannot go on: there one such object fails the whole list, again and again.)
    pub bad_objects: u64,
    /// Failures after which it had to try again.
    pub failures: u64,
    /// The last failure or bad object, in words. It stays after things work again.
    pub last_error: Option<String>,
}

/// A view of what a reflector is doing, also while it runs. Clones are of the same.
#[derive(Clone, Debug, Default)]
pub struct ReflectorMonitor(Arc<Mutex<ReflectorStatus>>);

impl ReflectorMonitor {
    /// What it is doing and has seen now.
    pub fn status(&self) -> ReflectorStatus {
        self.0.lock().clone()
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut ReflectorStatus)) {
        change(&mut self.0.lock());
    }
}
