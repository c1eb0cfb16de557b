//! Events kept instead of sent: for tests.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use super::Occurrence;

/// How many are kept; further ones are dropped and counted.
const MAX_COLLECTED: usize = 1000;

/// What was recorded on a recorder made by [`EventRecorder::collecting`](super::EventRecorder::collecting).
#[derive(Clone, Debug, Default)]
pub struct CollectedEvents(Arc<Mutex<VecDeque<Occurrence>>>);

impl CollectedEvents {
    /// All that was recorded since the last call, in order. At most 1000 are kept.
    pub fn take(&self) -> Vec<Occurrence> {
        std::mem::take(&mut *self.0.lock()).into()
    }

    /// Keeps one; `false` if there are too many.
    pub(super) fn push(&self, occurrence: Occurrence) -> bool {
        let mut events = self.0.lock();
        let room = events.len() < MAX_COLLECTED;
        if room {
            events.push_back(occurrence);
        }
        room
    }
}
