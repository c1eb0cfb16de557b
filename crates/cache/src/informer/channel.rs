//! The queue between the task that reads and the task that applies.

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::{Batch, Delta, Fifo};

/// How many objects may wait to be applied before the reader waits in turn. Applying runs index functions at most
/// and never a handler, so only a process without any time to spare gets there.
const MOST_WAITING: usize = 10_000;

/// A [`Fifo`] between one task that pushes and one that pops. It holds at most [`MOST_WAITING`] objects, and beyond
/// that what came with the push that passed the bound: one list.
pub(super) struct DeltaChannel<K> {
    fifo: Mutex<Fifo<K>>,
    filled: Notify,
    drained: Notify,
}

impl<K> DeltaChannel<K> {
    pub(super) fn new() -> Self {
        Self { fifo: Mutex::default(), filled: Notify::new(), drained: Notify::new() }
    }

    /// Appends, once there is room. When the future is dropped before, nothing was appended.
    pub(super) async fn push(&self, delta: Delta<K>) {
        loop {
            {
                let mut fifo = self.fifo.lock();
                if fifo.weight() < MOST_WAITING {
                    fifo.push(delta);
                    break;
                }
            }
            // A wake-up between the look and the wait is kept for it.
            self.drained.notified().await;
        }
        self.filled.notify_one();
    }

    /// The next batch, once there is one.
    pub(super) async fn pop(&self) -> Batch<K> {
        loop {
            let batch = self.fifo.lock().pop();
            if let Some(batch) = batch {
                self.drained.notify_one();
                return batch;
            }
            self.filled.notified().await;
        }
    }

    /// The batch popped last was applied. True when the first list was in it.
    pub(super) fn done(&self) -> bool {
        self.fifo.lock().done()
    }
}
