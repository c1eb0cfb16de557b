//! Telling people what happened: `events.k8s.io/v1` events about objects.
//!
//! Events are for people who look; no controller may depend on them. So recording never waits and never fails:
//! what cannot be delivered is counted and logged.

mod collected;
mod delivery;
mod hostname;
mod occurrence;
mod recorder;
mod series;
mod spam;
mod task;

#[cfg(test)]
#[path = "recorder_tests.rs"]
mod tests;

pub use collected::CollectedEvents;
pub use occurrence::{EventType, Occurrence, object_reference};
pub use recorder::{EventRecorder, RecorderStats};
