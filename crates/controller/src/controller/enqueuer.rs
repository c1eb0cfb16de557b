//! Keys from outside: webhooks, timers, other systems.

use std::fmt;
use std::time::Duration;

use kubewright_meta::ObjectKey;
use kubewright_queue::DelayingQueue;

/// Asks a controller to reconcile keys for reasons that no informer sees. Cheap to clone; made by
/// [`Controller::enqueuer`](super::Controller::enqueuer).
///
/// Keys given before the controller runs wait for it; those given after it has stopped are dropped.
#[derive(Clone)]
pub struct Enqueuer {
    queue: DelayingQueue<ObjectKey>,
}

impl Enqueuer {
    pub(super) fn new(queue: DelayingQueue<ObjectKey>) -> Self {
        Self { queue }
    }

    /// Reconcile this key soon. Never blocks; a key that waits already is reconciled once.
    pub fn enqueue(&self, key: ObjectKey) {
        self.queue.add(key);
    }

    /// Reconcile this key after a delay; of several delays the shortest counts.
    pub fn enqueue_after(&self, key: ObjectKey, delay: Duration) {
        self.queue.add_after(key, delay);
    }
}

impl fmt::Debug for Enqueuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Enqueuer").field("queue", &self.queue).finish()
    }
}
