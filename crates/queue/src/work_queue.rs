//! The plain work queue.

use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

use tokio::time::Instant;

use crate::done_guard::DoneGuard;
use crate::get::Get;
use crate::shared::Shared;

/// A queue of keys to work on: first in, first out, without duplicates (client-go's `workqueue.Interface`).
///
/// - A key added several times before a worker gets it is delivered once.
/// - A key is held by one worker at a time. Added again while it is processed, it is delivered once more after
///   [`done`](Self::done), at the end of the line.
/// - After [`shut_down`](Self::shut_down) adds are ignored; what is ready is still delivered, then
///   [`get`](Self::get) returns `None`.
///
/// A clone is another handle to the same queue. `Eq`, `Clone` and `Drop` of the key run inside the queue's lock
/// and must not call the queue. Fewer than 2³² - 1 distinct keys fit at a time.
pub struct WorkQueue<T> {
    shared: Arc<Shared<T>>,
}

impl<T: Clone + Eq + Hash + Send + 'static> WorkQueue<T> {
    /// An empty queue.
    pub fn new() -> Self {
        Self { shared: Arc::new(Shared::new()) }
    }

    /// Asks for a key to be processed. Never blocks.
    ///
    /// Ignored if the key is in line already, and after shut-down. Whenever it is accepted, the key's
    /// processing starts at some time after this call.
    pub fn add(&self, key: T) {
        let hash = self.shared.hash(&key);
        self.shared.with(|core| core.add(hash, key));
    }

    /// Waits for the next key; `None` when the queue is shut down and has nothing left to deliver.
    ///
    /// The caller owns the key until it calls [`done`](Self::done), see also
    /// [`done_on_drop`](Self::done_on_drop).
    ///
    /// Cancel safe: dropping the future loses neither a key nor another worker's wake-up, so it may stand in
    /// `select!`. A future that waits must be polled or dropped, as with any lock or channel: one kept aside
    /// keeps the wake-up it got.
    ///
    /// A queue without delayed keys works on any executor; with them, tokio's timer is needed.
    pub async fn get(&self) -> Option<T> {
        Get::new(&self.shared).await
    }

    /// Says that the processing of a key has ended, well or not.
    ///
    /// If the key was added meanwhile it goes to the end of the line, even after shut-down. Harmless for keys
    /// that are not being processed.
    pub fn done(&self, key: &T) {
        let hash = self.shared.hash(key);
        let drained = self.shared.with(|core| {
            core.done(hash, key);
            core.is_drained()
        });
        if drained {
            self.shared.drained.notify_waiters();
        }
    }

    /// Wraps a key from [`get`](Self::get) so that [`done`](Self::done) is called when the guard is dropped,
    /// also by a panic or a cancelled task.
    ///
    /// Without it a worker that dies leaves its key blocked, and a drain waits for it for ever.
    pub fn done_on_drop(&self, key: T) -> DoneGuard<T> {
        DoneGuard::new(self.clone(), key)
    }

    /// How many keys are ready to be delivered. Keys being processed, or waiting for their time, do not count.
    pub fn len(&self) -> usize {
        self.shared.with(|core| core.ready_len(Instant::now))
    }

    /// Whether no key is ready to be delivered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the queue was shut down, with or without drain.
    pub fn is_shutting_down(&self) -> bool {
        self.shared.with(|core| core.is_shutting_down())
    }

    /// Stops the queue: later adds are ignored, workers get what is ready and then `None`. Can be called again.
    ///
    /// Keys that wait for their time ([`DelayingQueue::add_after`](crate::DelayingQueue::add_after)) are
    /// dropped without being started, except those already due. A running
    /// [`shut_down_with_drain`](Self::shut_down_with_drain) returns at once.
    pub fn shut_down(&self) {
        self.shared.with(|core| core.shut_down(Instant::now));
        self.shared.drained.notify_waiters();
    }

    /// As [`shut_down`](Self::shut_down), and waits until every ready key is processed and
    /// [`done`](Self::done), or until somebody calls `shut_down`.
    ///
    /// Waits for ever if a worker never calls `done`, or if there are ready keys and no workers (client-go
    /// returns in the latter case, and also between two keys of a lone worker). The queue is shut down by the
    /// first poll; dropping the future afterwards only stops the waiting.
    pub async fn shut_down_with_drain(&self) {
        let started = self.shared.with(|core| core.start_drain(Instant::now));
        loop {
            // Made before the check: it hears of everything that happens from here on.
            let drained = self.shared.drained.notified();
            if self.shared.with(|core| core.drain_is_over(started)) {
                return;
            }
            drained.await;
        }
    }

    pub(crate) fn shared(&self) -> &Shared<T> {
        &self.shared
    }
}

impl<T> Clone for WorkQueue<T> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<T: Clone + Eq + Hash + Send + 'static> Default for WorkQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Clone + Eq + Hash + Send + 'static> fmt::Debug for WorkQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkQueue")
            .field("len", &self.len())
            .field("shutting_down", &self.is_shutting_down())
            .finish_non_exhaustive()
    }
}
