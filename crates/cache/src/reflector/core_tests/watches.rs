//! Which watches a reflector asks for, and what it makes of them.

use super::*;

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
        assert_eq!(bench.watch().resource_version.as_deref(), Some(list), "after an idle watch");
        bench.event(RawWatchEvent::Added(raw("a", old)));
        bench.closed(MINUTE);
        assert_eq!(bench.watch().resource_version.as_deref(), Some(list), "sent again");
        bench.event(RawWatchEvent::Modified(raw("a", "zz10")));
        bench.closed(MINUTE);
        assert_eq!(bench.watch().resource_version.as_deref(), Some("zz10"), "the last event");
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
    assert!(bench.core.status().last_error.unwrap().contains("without news"));
}

#[test]
fn refused_or_asked_to_slow_down_it_watches_again_from_the_same_version() {
    for cause in [Cause::Connection, Cause::TooManyRequests] {
        let mut bench = Bench::new();
        bench.listed("10");
        let mut last = Duration::ZERO;
        for _ in 0..3 {
            let (request, waited) = bench.request();
            let Action::Watch(_, watch) = request else { panic!("{request:?}") };
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
    let Action::Watch(_, watch) = request else { panic!() };
    assert_eq!((watch.resource_version.as_deref(), waited), (Some("11"), Duration::ZERO));
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
    bench.core.watch_ended(abandoned, bench.now, Some(failure()));
    assert_eq!(bench.core.status(), before);
    assert!(matches!(bench.event(ghost()), Step::Push(_)), "this one goes on");
    bench.watch_fails(Cause::Other);
    let step = bench.event(ghost());
    assert!(matches!(step, Step::Stop), "behind the end: {step:?}");
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
