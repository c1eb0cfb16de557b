use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_meta::{Kind, ListOptions, Reason, StatusError};
use kubewright_wire::{ListEnd, RawObject};

use super::*;
use crate::Fifo;

struct Bench {
    core: ReflectorCore<ConfigMap>,
    store: Indexer<ConfigMap>,
    now: Instant,
    /// The request under way.
    call: Call,
}

impl Bench {
    fn new() -> Self {
        Self::with(ReflectorOptions::default())
    }

    fn with(options: ReflectorOptions) -> Self {
        let store = Indexer::new("configmaps/v1");
        let decoder = Decoder::new(&Kind::of(), 0);
        let options = ReflectorOptions {
            seed: Some(7),
            ..options
        };
        let core = ReflectorCore::new("ConfigMap", options, decoder, store.clone());
        Self {
            core,
            store,
            now: Instant::now(),
            call: Call(0),
        }
    }

    /// The next request, and how long it was waited for.
    fn request(&mut self) -> (Action, Duration) {
        let begin = self.now;
        loop {
            match self.core.next_action(self.now) {
                Action::Sleep(wait) => self.now += wait,
                request => {
                    if let Action::List(call, _) | Action::Watch(call, _) = request {
                        self.call = call;
                    }
                    return (request, self.now - begin);
                }
            }
        }
    }

    fn list(&mut self) -> ListOptions {
        match self.request().0 {
            Action::List(_, request) => request,
            other => panic!("{other:?}"),
        }
    }

    fn watch(&mut self) -> WatchOptions {
        match self.request().0 {
            Action::Watch(_, request) => request,
            other => panic!("{other:?}"),
        }
    }

    fn end(&mut self, version: &str, next: Option<&str>) -> Option<Delta<ConfigMap>> {
        self.core.list_end(
            self.call,
            ListEnd {
                resource_version: version.into(),
                continue_token: next.map(str::to_owned),
                ..ListEnd::default()
            },
        )
    }

    fn item(&mut self, raw: RawObject) {
        self.core.list_item(self.call, raw);
    }

    /// The queue and the store take over what a list gave.
    fn apply(&self, delta: Option<Delta<ConfigMap>>) {
        let mut fifo = Fifo::new();
        delta.into_iter().for_each(|delta| fifo.push(delta));
        while let Some(batch) = fifo.pop() {
            self.store.apply(batch).unwrap();
            fifo.done();
        }
    }

    fn stored(&self) -> Vec<String> {
        let objects = self.store.list();
        let mut stored: Vec<_> = objects
            .iter()
            .map(|object| format!("{}@{}", object.name(), object.resource_version()))
            .collect();
        stored.sort_unstable();
        stored
    }

    /// A first list that ends at `version`.
    fn listed(&mut self, version: &str) {
        self.list();
        self.end(version, None).unwrap();
    }

    fn closed(&mut self, after: Duration) {
        self.now += after;
        self.core.watch_ended(self.call, self.now, None);
    }

    fn list_fails(&mut self, cause: Cause) {
        self.core
            .list_failed(self.call, self.now, Failure::new(cause, "for a test"));
    }

    fn watch_fails(&mut self, cause: Cause) {
        self.core
            .watch_ended(self.call, self.now, Some(Failure::new(cause, "for a test")));
    }

    fn event(&mut self, event: RawWatchEvent) -> Step<ConfigMap> {
        self.core.watch_event(self.call, self.now, event)
    }
}

fn raw(name: &str, version: &str) -> RawObject {
    let json =
        format!(r#"{{"metadata":{{"name":"{name}","uid":"u","resourceVersion":"{version}"}}}}"#);
    RawObject::from_json(json).unwrap()
}

fn bookmark(version: &str) -> RawWatchEvent {
    RawWatchEvent::Bookmark {
        resource_version: version.into(),
        initial_events_end: false,
    }
}

const MINUTE: Duration = Duration::from_secs(60);

fn version(request: &ListOptions) -> Option<&str> {
    request.resource_version.as_deref()
}

#[test]
fn the_first_list_takes_what_the_server_has_and_the_watch_goes_on_from_it() {
    let mut bench = Bench::new();
    let list = bench.list();
    assert_eq!((version(&list), list.limit), (Some("0"), Some(500)));
    bench.item(raw("a", "5"));
    let delta = bench.end("900", None).unwrap();
    let Delta::ReplacedAll {
        resource_version,
        objects,
        ..
    } = delta
    else {
        panic!("{delta:?}")
    };
    assert_eq!((resource_version.as_str(), objects.len()), ("900", 1));
    let watch = bench.watch();
    assert_eq!(watch.resource_version.as_deref(), Some("900"));
    assert!(watch.bookmarks);
    let timeout = watch.timeout.unwrap();
    assert!(timeout >= MIN_WATCH_TIMEOUT && timeout < 2 * MIN_WATCH_TIMEOUT);
}

#[test]
fn nothing_of_a_list_counts_before_its_end() {
    let mut bench = Bench::new();
    bench.list();
    bench.item(raw("a", "5"));
    bench.list_fails(Cause::Connection);
    bench.list();
    bench.item(raw("b", "6"));
    let Some(Delta::ReplacedAll { objects, .. }) = bench.end("9", None) else {
        panic!()
    };
    assert_eq!(
        objects.iter().map(CachedObject::name).collect::<Vec<_>>(),
        ["b"]
    );
}

#[test]
fn b42_the_resume_point_is_the_lists_or_the_last_events_and_never_goes_back() {
    for (list, old) in [("900", "5"), ("zz9", "zz9"), ("0009", "0009")] {
        let mut bench = Bench::new();
        bench.list();
        bench.item(raw("a", "5"));
        bench.item(raw("b", "7"));
        bench.end(list, None);
        bench.watch();
        bench.closed(MINUTE);
        assert_eq!(
            bench.watch().resource_version.as_deref(),
            Some(list),
            "after an idle watch"
        );
        bench.event(RawWatchEvent::Added(raw("a", old)));
        bench.closed(MINUTE);
        assert_eq!(
            bench.watch().resource_version.as_deref(),
            Some(list),
            "sent again"
        );
        bench.event(RawWatchEvent::Modified(raw("a", "zz10")));
        bench.closed(MINUTE);
        assert_eq!(
            bench.watch().resource_version.as_deref(),
            Some("zz10"),
            "the last event"
        );
    }
}

#[test]
fn b41_a_bookmark_moves_the_resume_point() {
    let mut bench = Bench::new();
    bench.listed("10");
    bench.watch();
    assert!(matches!(
        bench.event(RawWatchEvent::Added(raw("a", "11"))),
        Step::Push(Delta::Added(_))
    ));
    let step = bench.event(bookmark("500"));
    assert!(
        matches!(step, Step::Push(Delta::Bookmark { resource_version }) if resource_version == "500")
    );
    bench.closed(MINUTE);
    assert_eq!(bench.watch().resource_version.as_deref(), Some("500"));
}

#[test]
fn b45_very_short_watches_back_off_and_lead_to_one_new_list() {
    let mut bench = Bench::new();
    let begin = bench.now;
    let (mut lists, mut watches) = (0, 0);
    loop {
        let (request, _) = bench.request();
        if bench.now - begin > MINUTE {
            break;
        }
        match request {
            Action::List(..) => {
                lists += 1;
                bench.end("10", None);
            }
            _ => {
                watches += 1;
                bench.core.watch_opened(bench.call);
                bench.closed(Duration::ZERO);
            }
        }
    }
    assert_eq!(lists, 2, "the first and one more");
    assert!(lists + watches <= 10, "{watches} watches");
    assert!(
        bench
            .core
            .status()
            .last_error
            .unwrap()
            .contains("without news")
    );
}

#[test]
fn b53_a_list_after_the_first_asks_for_at_least_what_was_seen() {
    let mut bench = Bench::new();
    bench.listed("200");
    bench.watch();
    bench.watch_fails(Cause::Other);
    let list = bench.list();
    assert_eq!((version(&list), list.limit), (Some("200"), None));
    // This server lags behind: the newest state, not anything the server has at hand.
    bench.list_fails(Cause::VersionTooLarge);
    let (list, waited) = bench.request();
    let Action::List(_, list) = list else {
        panic!()
    };
    assert_eq!(
        (version(&list), list.limit, waited),
        (None, Some(500), Duration::ZERO)
    );
    bench.end("210", None);
    bench.watch();
    bench.watch_fails(Cause::Other);
    assert_eq!(version(&bench.list()), Some("210"));
}

#[test]
fn an_expired_version_leads_to_a_list_from_it_and_only_then_to_the_newest_state() {
    let mut bench = Bench::new();
    bench.listed("10");
    bench.watch();
    let gone = StatusError::of(Reason::Expired, "too old resource version");
    assert!(matches!(
        bench.event(RawWatchEvent::Error(gone)),
        Step::Stop
    ));
    let (list, waited) = bench.request();
    let Action::List(_, list) = list else {
        panic!("{list:?}")
    };
    assert_eq!(version(&list), Some("10"));
    assert!(waited >= Duration::from_millis(800));
    bench.list_fails(Cause::Expired);
    assert_eq!(version(&bench.list()), None);
    bench.list_fails(Cause::Expired);
    assert!(
        bench.request().1 > Duration::ZERO,
        "no version to give up is left"
    );
    assert_eq!(bench.end("30", None).map(|_| ()), Some(()));
    assert_eq!(bench.watch().resource_version.as_deref(), Some("30"));
}

#[test]
fn refused_or_asked_to_slow_down_it_watches_again_from_the_same_version() {
    for cause in [Cause::Connection, Cause::TooManyRequests] {
        let mut bench = Bench::new();
        bench.listed("10");
        let mut last = Duration::ZERO;
        for _ in 0..3 {
            let (request, waited) = bench.request();
            let Action::Watch(_, watch) = request else {
                panic!("{request:?}")
            };
            assert_eq!(watch.resource_version.as_deref(), Some("10"));
            assert!(waited >= last, "{waited:?} after {last:?}");
            last = Duration::from_millis(800);
            bench.watch_fails(cause);
        }
    }
}

#[test]
fn it_waits_as_long_as_the_server_asks() {
    let mut bench = Bench::new();
    bench.listed("10");
    bench.watch();
    let failure = Failure {
        retry_after: Some(Duration::from_secs(42)),
        ..Failure::new(Cause::TooManyRequests, "slow down")
    };
    bench.core.watch_ended(bench.call, bench.now, Some(failure));
    assert_eq!(bench.request().1, Duration::from_secs(42));
}

#[test]
fn a_stream_that_breaks_goes_on_from_its_last_event() {
    let mut bench = Bench::new();
    bench.listed("10");
    bench.watch();
    bench.core.watch_opened(bench.call);
    bench.event(RawWatchEvent::Added(raw("a", "11")));
    bench.watch_fails(Cause::Connection);
    let (request, waited) = bench.request();
    let Action::Watch(_, watch) = request else {
        panic!()
    };
    assert_eq!(
        (watch.resource_version.as_deref(), waited),
        (Some("11"), Duration::ZERO)
    );
}

#[test]
fn additions_of_a_watch_from_nowhere_do_not_move_the_version() {
    let mut bench = Bench::new();
    bench.listed("");
    assert_eq!(bench.watch().resource_version, None);
    bench.event(RawWatchEvent::Added(raw("b", "7")));
    bench.event(RawWatchEvent::Added(raw("a", "5")));
    bench.closed(MINUTE);
    assert_eq!(bench.watch().resource_version, None);
    bench.event(RawWatchEvent::Modified(raw("a", "8")));
    bench.event(RawWatchEvent::Added(raw("c", "9")));
    bench.closed(MINUTE);
    assert_eq!(bench.watch().resource_version.as_deref(), Some("9"));
}

#[test]
fn pages_go_on_with_the_token_and_end_with_the_version_of_the_first() {
    let mut bench = Bench::new();
    bench.list();
    bench.item(raw("a", "1"));
    assert!(bench.end("10", Some("t1")).is_none());
    let page = bench.list();
    assert_eq!(
        (page.continue_token.as_deref(), version(&page)),
        (Some("t1"), None)
    );
    assert_eq!(page.limit, Some(500));
    bench.item(raw("b", "2"));
    let delta = bench.end("12", None);
    let Some(Delta::ReplacedAll {
        resource_version,
        objects,
        ..
    }) = delta
    else {
        panic!()
    };
    assert_eq!((resource_version.as_str(), objects.len()), ("10", 2));
    // The server cuts lists at version 0 into pages: it has no watch cache, so later lists are paged too.
    bench.watch();
    bench.watch_fails(Cause::Other);
    assert_eq!(bench.list().limit, Some(500));
}

#[test]
fn an_expired_page_leads_to_the_list_in_one_piece() {
    let mut bench = Bench::new();
    bench.list();
    bench.item(raw("a", "1"));
    bench.end("10", Some("t1"));
    bench.list();
    bench.list_fails(Cause::Expired);
    let (list, waited) = bench.request();
    let Action::List(_, list) = list else {
        panic!()
    };
    assert_eq!(
        (version(&list), list.limit, &list.continue_token),
        (Some("0"), None, &None)
    );
    assert_eq!(waited, Duration::ZERO);
    let Some(Delta::ReplacedAll { objects, .. }) = bench.end("11", None) else {
        panic!()
    };
    assert!(objects.is_empty(), "the pages before do not count");
}

#[test]
fn a_page_size_that_was_asked_for_is_always_used() {
    let mut bench = Bench::with(ReflectorOptions {
        page_size: Some(50),
        ..Default::default()
    });
    assert_eq!(bench.list().limit, Some(50));
    bench.end("10", None);
    bench.watch();
    bench.watch_fails(Cause::Other);
    assert_eq!(bench.list().limit, Some(50));
}

#[test]
fn what_a_list_repeats_is_not_held_twice() {
    let mut bench = Bench::new();
    bench.list();
    bench.item(raw("a", "1"));
    let first = bench.end("10", None);
    bench.apply(first);
    let held = bench.store.list().remove(0);
    bench.watch();
    bench.watch_fails(Cause::Other);
    bench.list();
    bench.item(raw("a", "1"));
    bench.item(raw("b", "2"));
    let Some(Delta::ReplacedAll { objects, .. }) = bench.end("11", None) else {
        panic!()
    };
    assert!(objects[0].ptr_eq(&held));
}

#[test]
fn what_cannot_be_read_is_left_out_and_the_store_keeps_what_it_has_of_it() {
    let mut bench = Bench::new();
    bench.list();
    bench.item(raw("a", "1"));
    bench.item(raw("gone", "2"));
    let first = bench.end("10", None);
    bench.apply(first);
    bench.watch();
    let other = r#"{"kind":"Secret","metadata":{"name":"a","resourceVersion":"11"}}"#;
    let step = bench.event(RawWatchEvent::Modified(
        RawObject::from_json(other).unwrap(),
    ));
    assert!(matches!(step, Step::Continue));
    // Read, and not applied before the list is.
    let Step::Push(late) = bench.event(RawWatchEvent::Added(raw("late", "12"))) else {
        panic!()
    };
    bench.watch_fails(Cause::Other);
    bench.list();
    for (key, message) in [
        (Some("a"), "its labels are a number"),
        (Some("late"), "its labels are a number"),
        (Some("never-seen"), "its labels are a number"),
        (None, "not even a name"),
    ] {
        let key = key.map(|key| key.parse().unwrap());
        bench.core.bad_object(bench.call, key.as_ref(), message);
    }
    bench.item(raw("b", "13"));
    let list = bench.end("13", None);
    bench.apply(Some(late));
    bench.apply(list);
    assert_eq!(
        bench.stored(),
        ["a@1", "b@13", "late@12"],
        "only one is gone"
    );
    let status = bench.core.status();
    assert_eq!(
        (status.bad_objects, status.last_error.as_deref()),
        (5, Some("not even a name"))
    );
    // A list without it, and without a word of it, says that it is gone.
    bench.watch();
    bench.watch_fails(Cause::Other);
    bench.list();
    bench.item(raw("a", "14"));
    let list = bench.end("14", None);
    bench.apply(list);
    assert_eq!(bench.stored(), ["a@14"]);
}

#[test]
fn what_comes_late_for_an_earlier_request_changes_nothing() {
    let mut bench = Bench::new();
    bench.list();
    let abandoned = bench.call;
    bench.item(raw("half", "1"));
    // Asked for anew, with the first answer still on its way.
    bench.list();
    bench.core.list_item(abandoned, raw("ghost", "2"));
    bench.core.bad_object(abandoned, None, "a ghost");
    let failure = || Failure::new(Cause::Expired, "a ghost");
    bench.core.list_failed(abandoned, bench.now, failure());
    assert!(bench.core.list_end(abandoned, ListEnd::default()).is_none());
    bench.item(raw("a", "5"));
    let list = bench.end("10", None);
    bench.apply(list);
    assert_eq!(bench.stored(), ["a@5"]);
    assert!(bench.end("11", None).is_none(), "its end came before");
    bench.watch();
    let abandoned = bench.call;
    bench.watch();
    let before = bench.core.status();
    let ghost = || RawWatchEvent::Added(raw("ghost", "12"));
    for event in [ghost(), bookmark("900")] {
        let step = bench.core.watch_event(abandoned, bench.now, event);
        assert!(matches!(step, Step::Stop), "{step:?}");
    }
    bench
        .core
        .watch_ended(abandoned, bench.now, Some(failure()));
    assert_eq!(bench.core.status(), before);
    assert!(
        matches!(bench.event(ghost()), Step::Push(_)),
        "this one goes on"
    );
    bench.watch_fails(Cause::Other);
    let step = bench.event(ghost());
    assert!(matches!(step, Step::Stop), "behind the end: {step:?}");
}

#[test]
fn half_a_page_does_not_count() {
    let mut bench = Bench::new();
    bench.list();
    bench.item(raw("a", "1"));
    bench.end("10", Some("t1"));
    bench.list();
    bench.item(raw("b", "2"));
    // The page is asked for again.
    assert_eq!(bench.list().continue_token.as_deref(), Some("t1"));
    bench.item(raw("b", "2"));
    let list = bench.end("10", None);
    let Some(Delta::ReplacedAll { objects, .. }) = &list else {
        panic!()
    };
    assert_eq!(objects.len(), 2);
}

#[test]
fn a_list_older_than_asked_for_is_not_believed() {
    let mut bench = Bench::new();
    bench.listed("200");
    bench.watch();
    bench.watch_fails(Cause::Other);
    bench.list();
    assert!(bench.end("150", None).is_none());
    assert_eq!(version(&bench.list()), None, "the newest state");
    // That is what the server has, even where it was set back.
    assert!(bench.end("50", None).is_some());
    assert_eq!(bench.watch().resource_version.as_deref(), Some("50"));
}

#[test]
fn an_old_bookmark_moves_nothing_back() {
    let mut bench = Bench::new();
    bench.listed("200");
    bench.watch();
    assert!(matches!(bench.event(bookmark("150")), Step::Continue));
    assert!(matches!(bench.event(bookmark("")), Step::Continue));
    assert!(matches!(bench.event(bookmark("200")), Step::Push(_)));
    bench.closed(MINUTE);
    assert_eq!(bench.watch().resource_version.as_deref(), Some("200"));
}

#[test]
fn long_watches_without_any_news_lead_to_a_list_now_and_then() {
    let mut bench = Bench::new();
    bench.listed("200");
    let mut watches = Vec::new();
    for _ in 0..4 {
        let mut count = 0;
        while let Action::Watch(..) = bench.request().0 {
            bench.core.watch_opened(bench.call);
            bench.closed(5 * MINUTE);
            count += 1;
        }
        watches.push(count);
        assert!(bench.end("200", None).is_some());
    }
    assert_eq!(watches, [3, 12, 48, 48]);
    assert_eq!(bench.core.status().failures, 0);
    // A bookmark is news, also of the same version.
    for _ in 0..100 {
        bench.watch();
        bench.event(bookmark("200"));
        bench.closed(5 * MINUTE);
    }
}

#[test]
fn no_duration_is_too_long() {
    let mut bench = Bench::with(ReflectorOptions {
        min_watch_timeout: Some(Duration::MAX),
        ..Default::default()
    });
    bench.listed("10");
    assert!(bench.watch().timeout.unwrap() <= Duration::from_secs(2 * 86_400));
    let failure = Failure {
        retry_after: Some(Duration::MAX),
        ..Failure::new(Cause::TooManyRequests, "slow down")
    };
    bench.core.watch_ended(bench.call, bench.now, Some(failure));
    assert_eq!(bench.request().1, MOST_WAIT);
}
