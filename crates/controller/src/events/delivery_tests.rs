use std::collections::VecDeque;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::*;

/// Answers from a script, then always `Done`.
#[derive(Default)]
pub(in crate::events) struct Scripted {
    answers: Mutex<VecDeque<Outcome>>,
    pub(in crate::events) calls: Mutex<Vec<(&'static str, Event)>>,
}

impl Scripted {
    pub(in crate::events) fn new(answers: impl IntoIterator<Item = Outcome>) -> Self {
        Self { answers: Mutex::new(answers.into_iter().collect()), calls: Mutex::default() }
    }

    fn answer(&self, call: &'static str, event: &Event) -> Outcome {
        self.calls.lock().push((call, event.clone()));
        self.answers.lock().pop_front().unwrap_or(Outcome::Done)
    }

    pub(in crate::events) fn verbs(&self) -> Vec<&'static str> {
        self.calls.lock().iter().map(|(verb, _)| *verb).collect()
    }
}

impl EventSink for Scripted {
    fn create<'a>(&'a self, event: &'a Event) -> BoxFuture<'a, Outcome> {
        Box::pin(async move { self.answer("create", event) })
    }

    fn patch<'a>(&'a self, event: &'a Event) -> BoxFuture<'a, Outcome> {
        Box::pin(async move { self.answer("patch", event) })
    }
}

fn create() -> Request {
    Request::Create(Box::default())
}

fn update() -> Request {
    Request::Update(Box::default())
}

fn unreachable() -> Outcome {
    Outcome::Unreachable("connection refused".into())
}

async fn delivered(sink: &Scripted, request: &Request) -> Delivered {
    deliver(sink, request, &CancellationToken::new()).await
}

#[tokio::test(start_paused = true)]
async fn an_unreachable_server_is_tried_twelve_times() {
    let started = Instant::now();
    let sink = Scripted::new(vec![unreachable(); 100]);
    assert_eq!(delivered(&sink, &create()).await, Delivered::Failed);
    assert_eq!(sink.verbs().len(), 12);
    let took = started.elapsed();
    assert!(
        took >= PAUSE * 11 && took <= PAUSE.mul_f64(1.25) * 11 + Duration::from_secs(1),
        "{took:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn it_arrives_when_the_server_is_back() {
    let sink = Scripted::new(vec![unreachable(); 3]);
    assert_eq!(delivered(&sink, &create()).await, Delivered::Sent);
    assert_eq!(sink.verbs().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn answers_of_the_server_are_final() {
    for (answer, end) in [
        (Outcome::Refused("forbidden".into()), Delivered::Failed),
        (Outcome::NotFound, Delivered::Unserved),
        (Outcome::NamespaceGone, Delivered::Dropped),
        (Outcome::AlreadyExists, Delivered::Dropped),
        (Outcome::NamespaceTerminating, Delivered::Dropped),
    ] {
        let sink = Scripted::new([answer.clone()]);
        assert_eq!(delivered(&sink, &create()).await, end, "{answer:?}");
        assert_eq!(sink.verbs(), ["create"], "{answer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_that_has_expired_is_stored_anew() {
    let sink = Scripted::new([Outcome::NotFound]);
    assert_eq!(delivered(&sink, &update()).await, Delivered::Sent);
    assert_eq!(sink.verbs(), ["patch", "create"]);
}

#[tokio::test(start_paused = true)]
async fn one_that_came_up_between_patch_and_create_is_patched_next_time() {
    let sink = Scripted::new([Outcome::NotFound, Outcome::AlreadyExists]);
    assert_eq!(delivered(&sink, &update()).await, Delivered::Sent);
    assert_eq!(sink.verbs(), ["patch", "create", "patch"]);
}

#[tokio::test(start_paused = true)]
async fn in_a_hurry_there_is_one_more_try() {
    let started = Instant::now();
    let sink = Scripted::new(vec![unreachable(); 100]);
    let hurry = CancellationToken::new();
    let request = create();
    let (end, ()) = tokio::join!(deliver(&sink, &request, &hurry), async { hurry.cancel() });
    assert_eq!(end, Delivered::Failed);
    assert_eq!(sink.verbs().len(), 2);
    assert!(started.elapsed() < Duration::from_secs(1));
}
