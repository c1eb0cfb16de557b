use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use super::delivery::tests::Scripted;
use super::delivery::{EventSink, Outcome};
use super::*;

fn about(name: &str) -> ObjectReference {
    ObjectReference {
        namespace: Some("shop".into()),
        name: Some(name.into()),
        ..ObjectReference::default()
    }
}

struct Shared(Arc<Scripted>);

impl EventSink for Shared {
    fn create<'a>(&'a self, event: &'a Event) -> BoxFuture<'a, Outcome> {
        self.0.create(event)
    }

    fn patch<'a>(&'a self, event: &'a Event) -> BoxFuture<'a, Outcome> {
        self.0.patch(event)
    }
}

fn recorder(answers: impl IntoIterator<Item = Outcome>) -> (EventRecorder, Arc<Scripted>) {
    let sink = Arc::new(Scripted::new(answers));
    let recorder = EventRecorder::with_sink(Box::new(Shared(sink.clone())), "tester", "host-1");
    (recorder, sink)
}

fn unreachable() -> Outcome {
    Outcome::Unreachable("connection refused".into())
}

#[tokio::test(start_paused = true)]
async fn events_are_sent_in_order_and_series_are_counted() {
    let (recorder, sink) = recorder([]);
    recorder.normal(&about("web"), "Scaled", "Scaling", "to 3");
    recorder.warning(&about("web"), "Failed", "Scaling", "no room");
    for _ in 0..4 {
        recorder.normal(&about("web"), "Scaled", "Scaling", "to 3");
    }
    recorder.flush().await;
    assert_eq!(sink.verbs(), ["create", "create", "patch"]);
    sleep(Duration::from_secs(8 * 60)).await;
    assert_eq!(sink.verbs(), ["create", "create", "patch", "patch"]);
    let calls = sink.calls.lock();
    let counts: Vec<_> =
        calls.iter().map(|(_, event)| event.series.as_ref().map(|series| series.count)).collect();
    assert_eq!(counts, [None, None, Some(2), Some(5)]);
    assert_eq!(calls[1].1.type_.as_deref(), Some("Warning"));
    assert_eq!(calls[0].1.reporting_instance.as_deref(), Some("tester-host-1"));
    assert_eq!(recorder.stats().sent, 4);
}

#[tokio::test(start_paused = true)]
async fn names_differ_even_within_a_nanosecond() {
    let (recorder, sink) = recorder([]);
    for reason in 0..20 {
        recorder.normal(&about("web"), &format!("Reason{reason}"), "Scaling", "");
    }
    recorder.flush().await;
    let calls = sink.calls.lock();
    let mut names: Vec<_> = calls.iter().map(|(_, event)| event.metadata.name.clone()).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 20);
}

#[tokio::test(start_paused = true)]
async fn a_flood_is_dropped_and_never_blocks() {
    let (recorder, sink) = recorder([]);
    // The task has no turn before the first await.
    for object in 0..1500 {
        recorder.normal(&about(&object.to_string()), "Scaled", "Scaling", "");
    }
    assert_eq!(recorder.stats().dropped, 500);
    recorder.flush().await;
    assert_eq!(sink.verbs().len(), 1000);
    recorder.normal(&about("after"), "Scaled", "Scaling", "");
    recorder.flush().await;
    assert_eq!(recorder.stats().sent, 1001);
}

#[tokio::test(start_paused = true)]
async fn one_object_cannot_flood() {
    let (recorder, sink) = recorder([]);
    for pod in 0..40 {
        let note = format!("Created pod: web-{pod}");
        recorder.normal(&about("web"), "SuccessfulCreate", "Create", note);
    }
    recorder.flush().await;
    assert_eq!(sink.verbs(), ["create"; 25]);
    assert_eq!(recorder.stats().suppressed, 15);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_tries_once_more_and_ends_series() {
    let (recorder, sink) = recorder([unreachable()]);
    let started = Instant::now();
    for _ in 0..3 {
        recorder.normal(&about("web"), "Scaled", "Scaling", "");
    }
    sleep(Duration::from_secs(1)).await;
    recorder.shutdown().await;
    assert!(started.elapsed() < Duration::from_secs(2));
    assert_eq!(sink.verbs(), ["create", "create", "patch", "patch"]);
    // Afterwards nothing is taken, and nothing waits for ever.
    recorder.normal(&about("web"), "Scaled", "Scaling", "");
    assert_eq!(recorder.stats().dropped, 1);
    recorder.flush().await;
    recorder.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn when_the_last_recorder_is_gone_the_rest_is_delivered() {
    let (recorder, sink) = recorder([]);
    let other = recorder.clone();
    for _ in 0..3 {
        other.normal(&about("web"), "Scaled", "Scaling", "");
    }
    drop(recorder);
    drop(other);
    sleep(Duration::from_millis(1)).await;
    assert_eq!(sink.verbs(), ["create", "patch", "patch"]);
}

/// Never answers.
struct Stuck(Arc<Notify>);

impl EventSink for Stuck {
    fn create<'a>(&'a self, _: &'a Event) -> BoxFuture<'a, Outcome> {
        Box::pin(async {
            self.0.notify_one();
            std::future::pending().await
        })
    }

    fn patch<'a>(&'a self, event: &'a Event) -> BoxFuture<'a, Outcome> {
        self.create(event)
    }
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_does_not_wait_for_a_server_that_hangs() {
    let called = Arc::new(Notify::new());
    let recorder = EventRecorder::with_sink(Box::new(Stuck(called.clone())), "tester", "host-1");
    recorder.normal(&about("web"), "Scaled", "Scaling", "");
    called.notified().await;
    let started = Instant::now();
    recorder.shutdown().await;
    assert_eq!(started.elapsed().as_secs(), 10);
}

#[test]
fn collected_events_are_there_at_once() {
    let (recorder, events) = EventRecorder::collecting();
    recorder.warning(&about("web"), "Failed", "Scaling", "no room");
    let taken = events.take();
    assert_eq!(
        taken,
        [Occurrence {
            event_type: EventType::Warning,
            regarding: about("web"),
            related: None,
            reason: "Failed".into(),
            action: "Scaling".into(),
            note: "no room".into(),
        }]
    );
    assert!(events.take().is_empty());
    for _ in 0..1001 {
        recorder.normal(&about("web"), "Scaled", "Scaling", "");
    }
    assert_eq!((events.take().len(), recorder.stats().dropped), (1000, 1));
}
