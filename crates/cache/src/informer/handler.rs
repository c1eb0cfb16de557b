//! A handler, its buffer and its task.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use tokio_util::sync::CancellationToken;

use super::pending::PendingEvents;
use super::user_code;
use crate::{Error, Event};

/// A handler's code.
pub(crate) type HandlerFn<K> = Box<dyn FnMut(Event<K>) + Send + 'static>;

/// What is shared between those who feed a handler, its task and its registration.
pub(crate) struct HandlerState<K> {
    name: String,
    resync: Option<Duration>,
    /// The code, until its task takes it.
    code: Mutex<Option<HandlerFn<K>>>,
    pending: Mutex<PendingEvents<K>>,
    wake: Notify,
    /// Cancelled when the handler is removed or its informer stops.
    token: CancellationToken,
    removed: AtomicBool,
    synced: watch::Sender<bool>,
    ended: watch::Sender<bool>,
    handled: AtomicU64,
    panics: AtomicU64,
}

impl<K> HandlerState<K> {
    pub(crate) fn new(
        name: String,
        buffer: usize,
        resync: Option<Duration>,
        token: CancellationToken,
        code: HandlerFn<K>,
    ) -> Self {
        Self {
            name,
            resync,
            code: Mutex::new(Some(code)),
            pending: Mutex::new(PendingEvents::new(buffer)),
            wake: Notify::new(),
            token,
            removed: AtomicBool::new(false),
            synced: watch::Sender::new(false),
            ended: watch::Sender::new(false),
            handled: AtomicU64::new(0),
            panics: AtomicU64::new(0),
        }
    }

    /// Whether nothing more is to be pushed. Where an informer stops, its handlers are cancelled and not removed.
    pub(crate) fn is_removed(&self) -> bool {
        self.removed.load(Ordering::Relaxed)
    }

    pub(crate) fn push(&self, events: impl IntoIterator<Item = Event<K>>) {
        let synced = {
            let mut pending = self.pending.lock();
            events.into_iter().fold(false, |synced, event| synced | pending.push(event))
        };
        self.note_synced(synced);
        self.wake.notify_one();
    }

    /// Everything that was there when the handler began was pushed.
    pub(crate) fn end_initial(&self) {
        let synced = self.pending.lock().end_initial();
        self.note_synced(synced);
    }

    fn note_synced(&self, synced: bool) {
        if synced {
            self.synced.send_replace(true);
        }
    }

    /// Waits until an event does.
    async fn filled(&self) {
        while self.pending.lock().is_empty() {
            self.wake.notified().await;
        }
    }

    /// Gives the next event to the handler's code. False when none waits, or the handler is cancelled.
    pub(crate) fn step(&self, code: &mut HandlerFn<K>) -> bool {
        if self.token.is_cancelled() {
            return false;
        }
        let event = self.pending.lock().pop();
        let Some(event) = event else {
            return false;
        };
        let key = event.key().clone();
        if catch_unwind(AssertUnwindSafe(|| code(event))).is_err() {
            self.panics.fetch_add(1, Ordering::Relaxed);
            tracing::error!(handler = self.name, %key, "handler panicked; it goes on with the next event");
        }
        self.handled.fetch_add(1, Ordering::Relaxed);
        let synced = self.pending.lock().finished();
        self.note_synced(synced);
        true
    }

    /// The code, for whoever runs it.
    pub(crate) fn take_code(&self) -> Option<HandlerFn<K>> {
        self.code.lock().take()
    }

    /// Stops the handler for good, and lets the informer forget it.
    pub(crate) fn remove(&self) {
        self.removed.store(true, Ordering::Relaxed);
        self.cancel();
    }

    /// Stops the handler. Where its task never began, that is all.
    pub(crate) fn cancel(&self) {
        self.token.cancel();
        if let Some(code) = self.take_code() {
            self.end(code);
        }
    }

    /// Nothing more will be handled.
    fn end(&self, code: HandlerFn<K>) {
        self.pending.lock().clear();
        // What the code holds may have code of its own for its end.
        if catch_unwind(AssertUnwindSafe(|| drop(code))).is_err() {
            tracing::error!(handler = self.name, "handler panicked when it was dropped");
        }
        self.ended.send_replace(true);
    }

    pub(crate) fn has_synced(&self) -> bool {
        *self.synced.borrow()
    }

    pub(crate) fn status(&self) -> HandlerStatus {
        let (pending, merged) = {
            let pending = self.pending.lock();
            (pending.len(), pending.merged())
        };
        HandlerStatus {
            name: self.name.clone(),
            synced: self.has_synced(),
            handled: self.handled.load(Ordering::Relaxed),
            panics: self.panics.load(Ordering::Relaxed),
            pending,
            merged,
        }
    }
}

/// Runs a handler until it is removed or its informer stops. `resync` pushes everything known once more.
pub(super) async fn run<K>(state: Arc<HandlerState<K>>, resync: impl Fn(&HandlerState<K>)) {
    let Some(code) = state.take_code() else {
        return;
    };
    let mut running = Running { state: &state, code };
    let mut habit = user_code::Habit::default();
    let period = state.resync.unwrap_or(MIN_RESYNC);
    let mut ticks = interval_at(Instant::now() + period, period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            () = state.token.cancelled() => break,
            _ = ticks.tick(), if state.resync.is_some() => resync(&state),
            () = state.filled() => {}
        }
        habit.run(|| {
            for _ in 0..EVENTS_IN_A_ROW {
                if !state.step(&mut running.code) {
                    break;
                }
            }
        });
        tokio::task::yield_now().await;
    }
}

/// The code while its task has it. However the task ends, the handler then has ended, for those who wait for that: also
/// where the runtime is dropped under it.
struct Running<'a, K> {
    state: &'a HandlerState<K>,
    code: HandlerFn<K>,
}

impl<K> Drop for Running<'_, K> {
    fn drop(&mut self) {
        let code = std::mem::replace(&mut self.code, Box::new(|_| {}));
        self.state.end(code);
    }
}

/// How many events a handler gets before its task looks at anything else.
const EVENTS_IN_A_ROW: usize = 64;

/// The shortest period of a resync, as in client-go.
pub(super) const MIN_RESYNC: Duration = Duration::from_secs(1);

/// The longest, so that no clock overflows: a year.
pub(super) const MAX_RESYNC: Duration = Duration::from_secs(365 * 86_400);

/// How a handler is doing. A copy of one moment; counters only grow.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HandlerStatus {
    /// The handler's name.
    pub name: String,
    /// Whether it has dealt with all that was there when it began.
    pub synced: bool,
    /// Events it has dealt with, those at which it panicked included.
    pub handled: u64,
    /// Events at which it panicked.
    pub panics: u64,
    /// Events that wait for it.
    pub pending: usize,
    /// Events that were merged into others because too many waited.
    pub merged: u64,
}

/// A handler that was added to an informer.
///
/// Dropping it leaves the handler where it is.
pub struct HandlerRegistration<K>(Arc<HandlerState<K>>);

impl<K> HandlerRegistration<K> {
    pub(super) fn new(state: Arc<HandlerState<K>>) -> Self {
        Self(state)
    }

    /// The handler's name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Whether the handler has dealt with all that was there when it began: the informer's first list, or for
    /// a handler added later what the store held then.
    pub fn has_synced(&self) -> bool {
        self.0.has_synced()
    }

    /// Waits until [`has_synced`](Self::has_synced).
    ///
    /// # Errors
    /// When the handler is removed or its informer stopped before.
    pub async fn synced(&self) -> Result<(), Error> {
        let mut synced = self.0.synced.subscribe();
        let mut ended = self.0.ended.subscribe();
        let end = tokio::select! {
            biased;
            end = synced.wait_for(|synced| *synced) => end.is_ok(),
            _ = ended.wait_for(|ended| *ended) => false,
        };
        if end {
            Ok(())
        } else {
            Err(Error::stopped(format!("wait for handler {} to sync", self.0.name)))
        }
    }

    /// How the handler is doing.
    pub fn status(&self) -> HandlerStatus {
        self.0.status()
    }

    /// Removes the handler and waits until its last call has returned and its code was dropped. It gets no
    /// event that had not begun when the future was first polled, even if the future is dropped then.
    ///
    /// Not for blocking on inside the handler itself: it would wait for its own end.
    pub async fn remove(self) {
        self.0.remove();
        let mut ended = self.0.ended.subscribe();
        // The sender is in the state that is held here.
        let _ = ended.wait_for(|ended| *ended).await;
    }
}

impl<K> fmt::Debug for HandlerRegistration<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HandlerRegistration").field(&self.status()).finish()
    }
}
