//! What a controller has done so far, and what it is at.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hashbrown::HashMap;
use kubewright_meta::ObjectKey;
use kubewright_queue::DelayingQueue;
use parking_lot::Mutex;
use tokio::time::Instant;

/// The figures of one controller, readable while it runs and afterwards. Cheap to clone; made by
/// [`Controller::stats`](super::Controller::stats).
///
/// A controller that is stuck shows in [`longest_running`](Self::longest_running), one that is too slow in
/// [`queue_len`](Self::queue_len).
#[derive(Clone)]
pub struct ControllerStats {
    counters: Arc<Counters>,
    queue: DelayingQueue<ObjectKey>,
}

/// What the workers count.
#[derive(Default)]
pub(super) struct Counters {
    reconciles: AtomicU64,
    errors: AtomicU64,
    panics: AtomicU64,
    mapping_panics: AtomicU64,
    retries: AtomicU64,
    given_up: AtomicU64,
    longest_micros: AtomicU64,
    running: Mutex<HashMap<ObjectKey, Instant>>,
}

impl ControllerStats {
    pub(super) fn new(counters: Arc<Counters>, queue: DelayingQueue<ObjectKey>) -> Self {
        Self { counters, queue }
    }

    /// Reconciles that have ended, however they did.
    pub fn reconciles(&self) -> u64 {
        read(&self.counters.reconciles)
    }

    /// Reconciles that failed, by an error or a panic.
    pub fn errors(&self) -> u64 {
        read(&self.counters.errors)
    }

    /// Reconciles that panicked.
    pub fn panics(&self) -> u64 {
        read(&self.counters.panics)
    }

    /// Events lost because the function given to [`watches`](super::Controller::watches) panicked.
    pub fn mapping_panics(&self) -> u64 {
        read(&self.counters.mapping_panics)
    }

    /// Keys queued again with back-off, after failures or by [`Action::requeue`](crate::Action::requeue).
    pub fn retries(&self) -> u64 {
        read(&self.counters.retries)
    }

    /// Keys given up after [`max_retries`](super::Controller::max_retries).
    pub fn given_up(&self) -> u64 {
        read(&self.counters.given_up)
    }

    /// Keys ready to be reconciled. Those that wait for their back-off or batch do not count.
    pub fn queue_len(&self) -> usize {
        self.queue.len()
    }

    /// Reconciles running now.
    pub fn active(&self) -> usize {
        self.counters.running.lock().len()
    }

    /// For how long the oldest of the running reconciles has been running; zero when none is.
    pub fn longest_running(&self) -> Duration {
        let oldest = self.counters.running.lock().values().min().copied();
        oldest.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// The longest that a reconcile has taken so far.
    pub fn longest(&self) -> Duration {
        Duration::from_micros(read(&self.counters.longest_micros))
    }
}

impl Counters {
    /// A reconcile begins; it ends when the result is dropped.
    pub(super) fn start(self: &Arc<Self>, key: &ObjectKey) -> Running {
        self.running.lock().insert(key.clone(), Instant::now());
        Running { counters: Arc::clone(self), key: key.clone() }
    }

    pub(super) fn count_error(&self) {
        count(&self.errors);
    }

    pub(super) fn count_panic(&self) {
        count(&self.panics);
    }

    pub(super) fn count_mapping_panic(&self) {
        count(&self.mapping_panics);
    }

    pub(super) fn count_retry(&self) {
        count(&self.retries);
    }

    pub(super) fn count_given_up(&self) {
        count(&self.given_up);
    }

    pub(super) fn running_keys(&self) -> Vec<ObjectKey> {
        let mut keys: Vec<ObjectKey> = self.running.lock().keys().cloned().collect();
        keys.sort_unstable();
        keys
    }
}

/// A reconcile that is running.
pub(super) struct Running {
    counters: Arc<Counters>,
    key: ObjectKey,
}

impl Drop for Running {
    fn drop(&mut self) {
        let started = self.counters.running.lock().remove(&self.key);
        let took = started.map_or(Duration::ZERO, |since| since.elapsed());
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.counters.longest_micros.fetch_max(micros, Ordering::Relaxed);
        count(&self.counters.reconciles);
    }
}

fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl fmt::Debug for ControllerStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControllerStats")
            .field("reconciles", &self.reconciles())
            .field("errors", &self.errors())
            .field("panics", &self.panics())
            .field("mapping_panics", &self.mapping_panics())
            .field("retries", &self.retries())
            .field("given_up", &self.given_up())
            .field("queue_len", &self.queue_len())
            .field("active", &self.active())
            .field("longest_running", &self.longest_running())
            .field("longest", &self.longest())
            .finish()
    }
}
