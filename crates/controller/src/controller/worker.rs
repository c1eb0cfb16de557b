//! One key from the queue to the outcome of its reconcile.

use std::any::Any;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use futures_util::FutureExt;
use hashbrown::HashMap;
use kubewright_meta::ObjectKey;
use kubewright_queue::{DelayingQueue, RateLimiter};
use parking_lot::Mutex;
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::stats::Counters;
use crate::action::Next;
use crate::{Action, BoxError};

/// How deep an error is looked into: a chain may lead back to itself.
const MAX_CHAIN: usize = 32;

pub(super) type Reconcile =
    Box<dyn Fn(ObjectKey) -> BoxFuture<'static, Result<Action, BoxError>> + Send + Sync>;
pub(super) type GiveUpHook = Box<dyn Fn(&ObjectKey, &BoxError) + Send + Sync>;

/// What the workers of one controller share.
pub(super) struct Workshop {
    pub(super) controller: Arc<str>,
    pub(super) queue: DelayingQueue<ObjectKey>,
    pub(super) limiter: Box<dyn RateLimiter<ObjectKey>>,
    pub(super) reconcile: Reconcile,
    pub(super) retries: Retries,
    pub(super) counters: Arc<Counters>,
    pub(super) stop: CancellationToken,
}

/// When to stop trying. Failures in a row are counted here since not every limiter counts, and only failures. A key is
/// here from its first failure to its next success.
#[derive(Default)]
pub(super) struct Retries {
    pub(super) max: Option<u32>,
    pub(super) on_give_up: Option<GiveUpHook>,
    pub(super) failures: Mutex<HashMap<ObjectKey, u32>>,
}

impl Retries {
    /// Counts a failure; how many there were in a row.
    fn count(&self, key: &ObjectKey) -> u32 {
        let mut failures = self.failures.lock();
        let count = failures.entry(key.clone()).or_insert(0);
        *count = count.saturating_add(1);
        *count
    }

    fn is_over(&self, failures: u32) -> bool {
        self.max.is_some_and(|max| failures > max)
    }

    fn forget(&self, key: &ObjectKey) {
        self.failures.lock().remove(key);
    }
}

impl Workshop {
    /// Takes keys until told to stop. A key that is being worked on then is finished.
    pub(super) async fn work(self: Arc<Self>) {
        loop {
            let key = tokio::select! {
                biased;
                () = self.stop.cancelled() => return,
                key = self.queue.get() => key,
            };
            match key {
                Some(key) => self.process(key).await,
                None => return,
            }
        }
    }

    /// To be told how a worker's task ended. A reconcile's panic is caught; this is what else can break in a user's
    /// types, such as a drop.
    pub(super) fn ended(&self, task: Result<(), JoinError>) {
        if let Err(error) = task {
            self.counters.count_panic();
            tracing::error!(controller = &*self.controller, %error, "a worker broke");
        }
    }

    async fn process(&self, key: ObjectKey) {
        // Released last, also when this task is cut off: nobody else gets the key before its retry is arranged.
        let held = self.queue.done_on_drop(key);
        let key: &ObjectKey = &held;
        let running = self.counters.start(key);
        let span = tracing::info_span!("reconcile", controller = &*self.controller, %key);
        // The call itself is inside, since it may panic before there is a future.
        let attempt = async { (self.reconcile)(key.clone()).await };
        let outcome = AssertUnwindSafe(attempt.instrument(span)).catch_unwind().await;
        drop(running);
        match outcome {
            Ok(Ok(action)) => self.succeeded(key, action),
            Ok(Err(error)) => self.failed(key, error),
            Err(payload) => {
                self.counters.count_panic();
                self.failed(key, Box::new(Panicked(panic_text(&*payload).to_owned())));
            }
        }
    }

    fn succeeded(&self, key: &ObjectKey, action: Action) {
        self.retries.forget(key);
        match action.0 {
            Next::Nothing => self.limiter.forget(key),
            Next::After(delay) => {
                self.limiter.forget(key);
                self.queue.add_after(key.clone(), delay);
            }
            Next::RateLimited => drop(self.retry(key)),
        }
    }

    fn failed(&self, key: &ObjectKey, error: BoxError) {
        self.counters.count_error();
        let controller = &*self.controller;
        let attempt = self.retries.count(key);
        if self.retries.is_over(attempt) {
            self.retries.forget(key);
            self.counters.count_given_up();
            self.limiter.forget(key);
            tracing::error!(controller, %key, attempt, %error, "reconcile failed once too often; giving up");
            self.give_up(key, &error);
            return;
        }
        // First of all: an error that panics when it is printed must not cost the key its retry.
        let Some(delay) = self.retry(key) else {
            tracing::warn!(controller, %key, attempt, %error, "reconcile failed; the controller stops");
            return;
        };
        if is_conflict(&*error) {
            tracing::debug!(controller, %key, attempt, ?delay, %error, "reconcile met a conflict; trying again");
        } else {
            tracing::warn!(controller, %key, attempt, ?delay, %error, "reconcile failed; trying again");
        }
    }

    /// Queues the key again; after what delay, or `None` if there is no again.
    fn retry(&self, key: &ObjectKey) -> Option<Duration> {
        // The limiter is not asked for what the queue would drop.
        if self.queue.is_shutting_down() {
            return None;
        }
        self.counters.count_retry();
        let delay = self.limiter.when(key);
        self.queue.add_after(key.clone(), delay);
        Some(delay)
    }

    fn give_up(&self, key: &ObjectKey, error: &BoxError) {
        let Some(hook) = &self.retries.on_give_up else {
            return;
        };
        let call = AssertUnwindSafe(|| hook(key, error));
        if let Err(payload) = std::panic::catch_unwind(call) {
            let panic = panic_text(&*payload);
            tracing::error!(controller = &*self.controller, %key, panic, "the give-up hook panicked");
        }
    }
}

/// Conflicts are part of the daily work against a cache. Whatever the reconcile has wrapped it in.
fn is_conflict(error: &(dyn std::error::Error + 'static)) -> bool {
    let chain = std::iter::successors(Some(error), |error| error.source());
    chain
        .take(MAX_CHAIN)
        .filter_map(|error| error.downcast_ref::<kubewright_client::Error>())
        .any(|error| error.is_conflict())
}

/// The error that stands for a panic in a reconcile.
#[derive(Debug)]
struct Panicked(String);

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the reconcile panicked: {}", self.0)
    }
}

impl std::error::Error for Panicked {}

/// The text of a panic, where it has one.
pub(super) fn panic_text(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without text")
}

#[cfg(test)]
#[path = "worker_tests.rs"]
mod tests;
