use super::*;

const MINUTE: Duration = Duration::from_secs(60);

fn event(object: &str, reason: &str, note: &str) -> Event {
    Event {
        type_: Some("Warning".into()),
        reason: Some(reason.into()),
        action: Some("Creating".into()),
        note: Some(note.into()),
        regarding: Some(ObjectReference {
            name: Some(object.into()),
            ..ObjectReference::default()
        }),
        ..Event::default()
    }
}

struct Clock {
    start: Instant,
    now: Instant,
}

impl Clock {
    fn new() -> Self {
        let start = Instant::now();
        Self { start, now: start }
    }

    fn time(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH + (self.now - self.start)
    }

    fn observe(&self, book: &mut SeriesBook, event: Event) -> Vec<Request> {
        match book.observe(event, self.now, self.time()) {
            Observed::Send(requests) => requests,
            Observed::Counted => Vec::new(),
            Observed::Suppressed => panic!("suppressed"),
        }
    }
}

fn count(requests: &[Request]) -> Option<i32> {
    match requests {
        [Request::Update(event)] => event.series.as_ref().map(|series| series.count),
        _ => None,
    }
}

#[test]
fn the_second_is_sent_the_third_is_counted() {
    let (mut book, mut clock) = (SeriesBook::new(), Clock::new());
    let sent = clock.observe(&mut book, event("web", "Failed", "no room"));
    assert!(matches!(&sent[..], [Request::Create(event)] if event.series.is_none()));

    clock.now += MINUTE;
    let mut again = event("web", "Failed", "no room");
    again.regarding.as_mut().unwrap().resource_version = Some("8".into());
    let sent = clock.observe(&mut book, again);
    let [Request::Update(updated)] = &sent[..] else { panic!("{sent:?}") };
    let series = updated.series.as_ref().unwrap();
    assert_eq!((series.count, &series.last_observed_time.0), (2, &clock.time()));
    assert_eq!(
        updated.regarding.as_ref().unwrap().resource_version,
        None,
        "it stays the first event"
    );

    clock.now += MINUTE;
    assert!(clock.observe(&mut book, event("web", "Failed", "no room")).is_empty());
    assert!(book.due(clock.now).is_empty());
}

#[test]
fn other_things_are_other_events() {
    let (mut book, clock) = (SeriesBook::new(), Clock::new());
    let mut related = event("web", "Failed", "");
    related.related =
        Some(ObjectReference { name: Some("web-1".into()), ..ObjectReference::default() });
    for other in [
        event("web", "Failed", ""),
        event("web", "Failed", "no room"),
        related,
        event("db", "Failed", ""),
        event("web", "Other", ""),
    ] {
        let sent = clock.observe(&mut book, other);
        assert!(matches!(&sent[..], [Request::Create(_)]), "{sent:?}");
    }
}

#[test]
fn a_series_is_refreshed_while_it_goes_on_and_finished_when_it_is_quiet() {
    let (mut book, mut clock) = (SeriesBook::new(), Clock::new());
    let mut told = Vec::new();
    for _ in 0..35 {
        clock.now += MINUTE;
        told.extend(count(&clock.observe(&mut book, event("web", "Failed", ""))));
        told.extend(count(&book.due(clock.now)));
    }
    // Sent at the second, then half an hour after that.
    assert_eq!(told, [2, 32]);
    clock.now += FINISH - Duration::from_secs(1);
    assert!(book.due(clock.now).is_empty());
    clock.now += Duration::from_secs(1);
    assert_eq!(count(&book.due(clock.now)), Some(35));
    assert!(book.entries.is_empty());
    let sent = clock.observe(&mut book, event("web", "Failed", ""));
    assert!(matches!(&sent[..], [Request::Create(_)]), "after the end it is a new event");
}

#[test]
fn an_event_alone_is_forgotten_without_a_word() {
    let (mut book, mut clock) = (SeriesBook::new(), Clock::new());
    clock.observe(&mut book, event("web", "Failed", ""));
    clock.now += FINISH;
    assert!(book.due(clock.now).is_empty());
    assert!(book.entries.is_empty());
}

#[test]
fn late_upkeep_does_not_prolong_a_series() {
    let (mut book, mut clock) = (SeriesBook::new(), Clock::new());
    for _ in 0..3 {
        clock.observe(&mut book, event("web", "Failed", ""));
    }
    clock.now += FINISH * 2;
    let sent = clock.observe(&mut book, event("web", "Failed", ""));
    assert!(
        matches!(&sent[..], [Request::Update(old), Request::Create(_)]
            if old.series.as_ref().unwrap().count == 3),
        "{sent:?}"
    );
}

#[test]
fn finishing_sends_what_was_only_counted() {
    let (mut book, clock) = (SeriesBook::new(), Clock::new());
    clock.observe(&mut book, event("alone", "Failed", ""));
    for _ in 0..5 {
        clock.observe(&mut book, event("web", "Failed", ""));
    }
    assert_eq!(count(&book.finish(clock.now)), Some(5));
    assert!(book.entries.is_empty());
}

#[test]
fn too_much_about_one_object_is_suppressed() {
    let (mut book, clock) = (SeriesBook::new(), Clock::new());
    for reason in 0..25 {
        clock.observe(&mut book, event("web", &format!("Reason{reason}"), ""));
    }
    let more = book.observe(event("web", "OneMore", ""), clock.now, clock.time());
    assert!(matches!(more, Observed::Suppressed));
    // A known thing goes on being counted, to be told later.
    assert!(clock.observe(&mut book, event("web", "Reason0", "")).is_empty());
    assert_eq!(count(&book.finish(clock.now)), Some(2));
}

#[test]
fn memory_is_bounded() {
    let (mut book, mut clock) = (SeriesBook::new(), Clock::new());
    for _ in 0..3 {
        clock.observe(&mut book, event("first", "Failed", ""));
    }
    for object in 0..MAX_TRACKED {
        clock.now += Duration::from_millis(1);
        let sent = clock.observe(&mut book, event(&object.to_string(), "Failed", ""));
        if object == MAX_TRACKED - 1 {
            assert_eq!(count(&sent[..1]), Some(3), "the one that had to go is ended properly");
        }
    }
    assert_eq!(book.entries.len(), MAX_TRACKED);
}
