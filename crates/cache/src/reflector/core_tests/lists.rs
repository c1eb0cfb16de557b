//! Which lists a reflector asks for, and what it makes of them.

use super::*;

#[test]
fn the_first_list_takes_what_the_server_has_and_the_watch_goes_on_from_it() {
    let mut bench = Bench::new();
    let list = bench.list();
    assert_eq!((version(&list), list.limit), (Some("0"), Some(500)));
    bench.item(raw("a", "5"));
    let delta = bench.end("900", None).unwrap();
    let Delta::ReplacedAll { resource_version, objects, .. } = delta else { panic!("{delta:?}") };
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
    let Some(Delta::ReplacedAll { objects, .. }) = bench.end("9", None) else { panic!() };
    assert_eq!(objects.iter().map(CachedObject::name).collect::<Vec<_>>(), ["b"]);
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
    let Action::List(_, list) = list else { panic!() };
    assert_eq!((version(&list), list.limit, waited), (None, Some(500), Duration::ZERO));
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
    assert!(matches!(bench.event(RawWatchEvent::Error(gone)), Step::Stop));
    let (list, waited) = bench.request();
    let Action::List(_, list) = list else { panic!("{list:?}") };
    assert_eq!(version(&list), Some("10"));
    assert!(waited >= Duration::from_millis(800));
    bench.list_fails(Cause::Expired);
    assert_eq!(version(&bench.list()), None);
    bench.list_fails(Cause::Expired);
    assert!(bench.request().1 > Duration::ZERO, "no version to give up is left");
    assert_eq!(bench.end("30", None).map(|_| ()), Some(()));
    assert_eq!(bench.watch().resource_version.as_deref(), Some("30"));
}

#[test]
fn pages_go_on_with_the_token_and_end_with_the_version_of_the_first() {
    let mut bench = Bench::new();
    bench.list();
    bench.item(raw("a", "1"));
    assert!(bench.end("10", Some("t1")).is_none());
    let page = bench.list();
    assert_eq!((page.continue_token.as_deref(), version(&page)), (Some("t1"), None));
    assert_eq!(page.limit, Some(500));
    bench.item(raw("b", "2"));
    let delta = bench.end("12", None);
    let Some(Delta::ReplacedAll { resource_version, objects, .. }) = delta else { panic!() };
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
    let Action::List(_, list) = list else { panic!() };
    assert_eq!((version(&list), list.limit, &list.continue_token), (Some("0"), None, &None));
    assert_eq!(waited, Duration::ZERO);
    let Some(Delta::ReplacedAll { objects, .. }) = bench.end("11", None) else { panic!() };
    assert!(objects.is_empty(), "the pages before do not count");
}

#[test]
fn a_page_size_that_was_asked_for_is_always_used() {
    let mut bench = Bench::with(ReflectorOptions { page_size: Some(50), ..Default::default() });
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
    let Some(Delta::ReplacedAll { objects, .. }) = bench.end("11", None) else { panic!() };
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
    let step = bench.event(RawWatchEvent::Modified(RawObject::from_json(other).unwrap()));
    assert!(matches!(step, Step::Continue));
    // Read, and not applied before the list is.
    let Step::Push(late) = bench.event(RawWatchEvent::Added(raw("late", "12"))) else { panic!() };
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
    assert_eq!(bench.stored(), ["a@1", "b@13", "late@12"], "only one is gone");
    let status = bench.core.status();
    assert_eq!((status.bad_objects, status.last_error.as_deref()), (5, Some("not even a name")));
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
    let Some(Delta::ReplacedAll { objects, .. }) = &list else { panic!() };
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
