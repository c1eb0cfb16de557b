//! The handle that controllers record events with.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use kubewright_client::Client;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::delivery::{ApiSink, EventSink};
use super::hostname::hostname;
use super::occurrence::Reporter;
use super::task::{Command, Task};
use super::{CollectedEvents, EventType, Occurrence};

/// How many recorded events may wait for delivery.
const QUEUE: usize = 1000;
/// How long a shutdown may take.
const SHUTDOWN: Duration = Duration::from_secs(10);

/// Records events about objects (client-go's `EventRecorder` and `EventBroadcaster`, for `events.k8s.io/v1`).
///
/// Cheap to clone. Recording never blocks and never fails; one task delivers, in order.
///
/// - The same thing again within 6 minutes is not another event but a series: sent at the second occurrence, then every
///   30 minutes while it goes on, and at its end. The same are type, reason, action, object, related object and
///   note, so that nothing said is lost: `Created pod: web-1` and `Created pod: web-2` are two events. (client-go's
///   `tools/record` tells events apart by the message too; its `tools/events` does not, and keeps the first note alone.)
///   Leave numbers and times that always differ out of notes, or nothing becomes a series.
/// - About one object and type 25 different events pass at once, then one every 5 minutes; the others are lost, as with
///   client-go's spam filter. So a thousand pods of one set are 25 events.
/// - An API server that cannot be reached is tried 12 times, 10 to 12.5 s apart. What it refuses is not tried again.
/// - 1000 recorded events may wait; further ones are dropped. 4096 series and objects are kept in mind.
///
/// What is lost shows in [`stats`](Self::stats) and in the log.
///
/// When the last clone is dropped the task delivers what is left and ends; use [`shutdown`](Self::shutdown) to wait
/// for it.
#[derive(Clone)]
pub struct EventRecorder(Arc<Inner>);

struct Inner {
    counters: Arc<Counters>,
    destination: Destination,
}

enum Destination {
    Task(Delivery),
    Collected(CollectedEvents),
}

struct Delivery {
    reporter: Reporter,
    commands: mpsc::Sender<Command>,
    /// The last time that became part of a name.
    last_nanos: AtomicU64,
    stop: CancellationToken,
    ended: CancellationToken,
    task: AbortHandle,
}

impl EventRecorder {
    /// A recorder for a controller, by whose name (`reportingController`) people know who has reported. The reporting
    /// instance is that name and the machine's: in a pod, the pod's.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn new(client: &Client, controller: &str) -> Self {
        Self::with_sink(Box::new(ApiSink::new(client)), controller, &hostname())
    }

    /// A recorder that keeps events for a test to look at instead of sending them.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::ObjectReference;
    /// use kubewright_controller::EventRecorder;
    ///
    /// let (recorder, events) = EventRecorder::collecting();
    /// recorder.normal(&ObjectReference::default(), "Scaled", "Scaling", "to 3");
    /// assert_eq!(events.take()[0].reason, "Scaled");
    /// ```
    pub fn collecting() -> (Self, CollectedEvents) {
        let events = CollectedEvents::default();
        let destination = Destination::Collected(events.clone());
        (Self(Arc::new(Inner { counters: Arc::default(), destination })), events)
    }

    pub(super) fn with_sink(sink: Box<dyn EventSink>, controller: &str, hostname: &str) -> Self {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let (stop, ended) = (CancellationToken::new(), CancellationToken::new());
        let counters = Arc::<Counters>::default();
        let task = Task {
            sink,
            commands: receiver,
            counters: counters.clone(),
            stop: stop.clone(),
            unserved_said: AtomicBool::new(false),
        };
        let end = ended.clone().drop_guard();
        let task = tokio::spawn(async move {
            let _end = end;
            task.run().await;
        });
        let destination = Destination::Task(Delivery {
            reporter: Reporter::new(controller, hostname),
            commands: sender,
            last_nanos: AtomicU64::new(0),
            stop,
            ended,
            task: task.abort_handle(),
        });
        Self(Arc::new(Inner { counters, destination }))
    }

    /// Records that something of interest happened. `reason` and `action` are for programs, one word in CamelCase
    /// each: why, and what the controller did. `note` is for people.
    pub fn normal(
        &self,
        regarding: &ObjectReference,
        reason: &str,
        action: &str,
        note: impl Into<String>,
    ) {
        self.record(occurrence(EventType::Normal, regarding, reason, action, note.into()));
    }

    /// Records that something went wrong; see [`normal`](Self::normal).
    pub fn warning(
        &self,
        regarding: &ObjectReference,
        reason: &str,
        action: &str,
        note: impl Into<String>,
    ) {
        self.record(occurrence(EventType::Warning, regarding, reason, action, note.into()));
    }

    /// Records what happened, with a related object if there is one.
    pub fn record(&self, occurrence: Occurrence) {
        let taken = match &self.0.destination {
            Destination::Collected(events) => events.push(occurrence),
            Destination::Task(delivery) => delivery.take(occurrence),
        };
        if taken {
            return;
        }
        // A flood of events must not become a flood of logs.
        let dropped = self.0.counters.count_dropped();
        if dropped.is_power_of_two() {
            tracing::warn!(
                dropped,
                "event dropped: too many are waiting, or the recorder was shut down"
            );
        }
    }

    /// Waits until everything recorded before was delivered or given up. While the API server cannot be reached that
    /// takes minutes an event.
    pub async fn flush(&self) {
        let Destination::Task(delivery) = &self.0.destination else {
            return;
        };
        let (sender, receiver) = oneshot::channel();
        if delivery.commands.send(Command::Flush(sender)).await.is_ok() {
            // An error means that the task has ended: nothing is left to wait for.
            receiver.await.ok();
        }
    }

    /// Stops recording for all clones, and waits until what is queued was tried once more, the ends of
    /// series included; 10 s at most.
    pub async fn shutdown(&self) {
        let Destination::Task(delivery) = &self.0.destination else {
            return;
        };
        delivery.stop.cancel();
        if tokio::time::timeout(SHUTDOWN, delivery.ended.cancelled()).await.is_err() {
            tracing::warn!("the API server takes too long; the last events are lost");
            delivery.task.abort();
            delivery.ended.cancelled().await;
        }
    }

    /// What has become of the events so far.
    pub fn stats(&self) -> RecorderStats {
        self.0.counters.read()
    }
}

fn occurrence(
    event_type: EventType,
    regarding: &ObjectReference,
    reason: &str,
    action: &str,
    note: String,
) -> Occurrence {
    Occurrence {
        event_type,
        regarding: regarding.clone(),
        related: None,
        reason: reason.to_owned(),
        action: action.to_owned(),
        note,
    }
}

impl Delivery {
    fn take(&self, occurrence: Occurrence) -> bool {
        if self.stop.is_cancelled() {
            return false;
        }
        // Room first: in a flood, events that are dropped should cost nothing.
        let Ok(room) = self.commands.try_reserve() else {
            return false;
        };
        let time = Timestamp::now();
        let event = Box::new(self.reporter.event(occurrence, time, self.unique_nanos(time)));
        room.send(Command::Record { event, at: Instant::now(), time });
        true
    }

    /// The time in nanoseconds, moved on where it was used already.
    fn unique_nanos(&self, time: Timestamp) -> u64 {
        let nanos = u64::try_from(time.as_nanosecond()).unwrap_or(0);
        let after = |last: u64| nanos.max(last.saturating_add(1));
        let last = self
            .last_nanos
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(after(last)));
        after(last.unwrap_or_else(|last| last))
    }
}

/// What has become of a recorder's events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecorderStats {
    /// Requests that the API server has accepted: new events and series.
    pub sent: u64,
    /// Events dropped: the queue was full, the recorder shut down, the namespace on its way out or gone.
    pub dropped: u64,
    /// Events lost because there were too many about one object.
    pub suppressed: u64,
    /// Requests that the API server has refused, or that it could not be reached for.
    pub failed: u64,
}

#[derive(Default)]
pub(super) struct Counters {
    sent: AtomicU64,
    dropped: AtomicU64,
    suppressed: AtomicU64,
    failed: AtomicU64,
}

impl Counters {
    pub(super) fn count_sent(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns how many there are now.
    pub(super) fn count_dropped(&self) -> u64 {
        self.dropped.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(super) fn count_suppressed(&self) {
        self.suppressed.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_failed(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    fn read(&self) -> RecorderStats {
        RecorderStats {
            sent: self.sent.load(Ordering::Relaxed),
            dropped: self.dropped.load(Ordering::Relaxed),
            suppressed: self.suppressed.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
        }
    }
}

impl fmt::Debug for EventRecorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let controller = match &self.0.destination {
            Destination::Task(delivery) => delivery.reporter.controller.as_str(),
            Destination::Collected(_) => "(collecting)",
        };
        f.debug_struct("EventRecorder")
            .field("controller", &controller)
            .field("stats", &self.stats())
            .finish()
    }
}
