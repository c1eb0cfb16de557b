//! What is asked of the server, when, and what becomes of the answers.

use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_cache::{Decoder, Fifo, Indexer, Phase, Reflector};
use kubewright_meta::Kind;
use tokio::time::Instant;

use crate::Bench;
use crate::script::{Server, list, object};

#[tokio::test(start_paused = true)]
async fn it_lists_once_and_follows_from_there() {
    let mut bench = Bench::start();
    let mut events = bench.events();
    let first = bench.server.list().await;
    assert_eq!(first.path, "/api/v1/configmaps");
    assert_eq!(
        (first.version().as_deref(), first.param("limit").as_deref()),
        (Some("0"), Some("500"))
    );
    assert!(!bench.informer.has_synced());
    first.items("10", &[object("a", "5"), object("b", "7")]);
    let watch = bench.server.watch().await;
    assert_eq!(watch.version().as_deref(), Some("10"));
    assert_eq!(watch.param("allowWatchBookmarks").as_deref(), Some("true"));
    let seconds: u64 = watch.param("timeoutSeconds").unwrap().parse().unwrap();
    assert!((300..=600).contains(&seconds), "{seconds}");
    let stream = watch.stream();
    assert_eq!(events.next().await, "Added(n/a@5, initial)");
    assert_eq!(events.next().await, "Added(n/b@7, initial)");
    events.registration.synced().await.unwrap();
    bench.factory.wait_for_sync().await.unwrap();
    stream.event("MODIFIED", &object("a", "11"));
    stream.event("DELETED", &object("b", "12"));
    stream.event("ADDED", &object("c", "13"));
    assert_eq!(events.next().await, "Updated(n/a@5->11)");
    assert_eq!(events.next().await, "Deleted(n/b@12)");
    assert_eq!(events.next().await, "Added(n/c@13)");
    assert_eq!(bench.stored(), ["a@11", "c@13"]);
    let status = bench.informer.status();
    assert_eq!((status.objects, status.resource_version.as_str(), status.decodes), (2, "13", 0));
    assert_eq!(
        (status.reflector.lists, status.reflector.watches, status.reflector.events),
        (1, 1, 3)
    );
}

#[tokio::test(start_paused = true)]
async fn b39_text_of_several_bytes_may_be_cut_anywhere() {
    let first = r#"{"type":"ADDED","object":{"metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"11"},"data":{"名":"é🦀"}}}"#;
    let second = r#"{"type":"MODIFIED","object":{"metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"12"},"data":{"名":"é🦀é"}}}"#;
    let cut_off = r#"{"type":"MODIFIED","object":{"metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"13"},"data":{"名":"#;
    let text = format!("{first}\r\n\n{second}\n{cut_off}");
    for cut in 0..text.len() {
        let mut bench = Bench::start();
        let mut events = bench.events();
        let stream = bench.server.listed("10", &[]).await;
        stream.send(&text.as_bytes()[..cut]);
        // Two chunks, read one after the other.
        tokio::task::yield_now().await;
        stream.send(&text.as_bytes()[cut..]);
        assert_eq!(events.next().await, "Added(n/a@11)", "cut at {cut}");
        assert_eq!(events.next().await, "Updated(n/a@11->12)", "cut at {cut}");
        drop(stream);
        assert_eq!(bench.server.watch().await.version().as_deref(), Some("12"), "cut at {cut}");
        let stored = bench.informer.lister().list(&Default::default());
        assert_eq!(stored[0].get().unwrap().data.as_ref().unwrap()["名"], "é🦀é");
        assert_eq!(bench.informer.status().reflector.bad_objects, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn b41_a_bookmark_moves_the_resume_point_and_nothing_else() {
    let mut bench = Bench::start();
    let mut events = bench.events();
    let stream = bench.server.listed("10", &[]).await;
    stream.event("ADDED", &object("a", "11"));
    stream.bookmark("500");
    drop(stream);
    assert_eq!(bench.server.watch().await.version().as_deref(), Some("500"));
    assert_eq!(events.next().await, "Added(n/a@11)");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(events.none());
    assert_eq!(bench.stored(), ["a@11"]);
    assert_eq!(bench.informer.status().resource_version, "500");
}

#[tokio::test(start_paused = true)]
async fn b42_an_idle_watch_goes_on_from_the_lists_version() {
    for version in ["900", "0009", "zz9"] {
        let mut bench = Bench::start();
        let stream = bench.server.listed(version, &[object("a", "5"), object("b", "7")]).await;
        tokio::time::sleep(Duration::from_secs(300)).await;
        drop(stream);
        assert_eq!(bench.server.watch().await.version().as_deref(), Some(version));
    }
}

#[tokio::test(start_paused = true)]
async fn b45_watches_that_end_at_once_are_not_repeated_without_end() {
    let mut bench = Bench::start();
    bench.server.list().await.items("10", &[]);
    let begin = Instant::now();
    let (mut lists, mut watches) = (0, 0);
    while let Ok(call) =
        tokio::time::timeout_at(begin + Duration::from_secs(60), bench.server.call()).await
    {
        if call.param("watch").is_some() {
            watches += 1;
            drop(call.stream());
        } else {
            lists += 1;
            call.items("10", &[]);
        }
    }
    assert_eq!(lists, 1);
    assert!(watches + lists <= 9, "{watches} watches");
    let error = bench.informer.status().reflector.last_error.unwrap();
    assert!(error.contains("watch from 10 ended after"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn b51_a_deletion_seen_by_a_list_leaves_the_store_before_the_handler_hears_of_it() {
    let mut bench = Bench::start();
    let lister = bench.informer.lister();
    bench.informer.add_index("app", |o| o.label("app").map(String::from)).unwrap();
    let (sender, mut deletions) = tokio::sync::mpsc::unbounded_channel();
    let handler = bench.informer.handler().resync_every(Duration::from_secs(10));
    handler
        .add(move |event| {
            if let kubewright_cache::Event::Deleted { object, final_state_unknown } = event {
                let gone = lister.get(object.key()).is_none()
                    && lister.by_index("app", "b").unwrap().is_empty();
                let last = object.get().unwrap().data.as_ref().unwrap()["version"].clone();
                sender.send((object.name().to_owned(), final_state_unknown, gone, last)).unwrap();
            }
        })
        .unwrap();
    let stream = bench.server.listed("10", &[object("a", "5"), object("b", "7")]).await;
    drop(stream);
    bench.server.watch().await.status(410, "Expired");
    bench.server.list().await.items("20", &[object("a", "5")]);
    let _stream = bench.server.watch().await.stream();
    assert_eq!(deletions.recv().await.unwrap(), ("b".into(), true, true, "7".into()));
    // Resyncs repeat what is there, and the deletion never again.
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(deletions.try_recv().is_err());
    assert_eq!(bench.stored(), ["a@5"]);
}

#[tokio::test(start_paused = true)]
async fn b53_a_list_after_the_first_never_asks_for_less_than_was_seen() {
    let mut bench = Bench::start();
    let mut events = bench.events();
    let stream = bench.server.listed("150", &[object("a", "5")]).await;
    stream.event("DELETED", &object("a", "200"));
    assert_eq!(events.next().await, "Added(n/a@5, initial)");
    assert_eq!(events.next().await, "Deleted(n/a@200)");
    drop(stream);
    bench.server.watch().await.status(500, "InternalError");
    // The other server has only come to 150.
    let list = bench.server.list().await;
    assert_eq!(list.version().as_deref(), Some("200"));
    let too_large = r#"{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Timeout","code":504,
        "message":"Too large resource version: 200, current: 150",
        "details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}]}}"#;
    list.body(504, too_large.into());
    let list = bench.server.list().await;
    assert_eq!(list.version(), None, "the newest state, not anything at hand");
    list.items("210", &[]);
    assert_eq!(bench.server.watch().await.version().as_deref(), Some("210"));
    assert!(events.none() && bench.stored().is_empty());
}

#[tokio::test(start_paused = true)]
async fn refused_connections_and_429_lead_to_later_watches_from_the_same_version() {
    let mut bench = Bench::start();
    drop(bench.server.listed("10", &[object("a", "5")]).await);
    let mut last = Instant::now();
    for (step, try_number) in [0.8, 1.6, 3.2, 6.4].into_iter().zip(0..) {
        let watch = bench.server.watch().await;
        let waited = watch.at - last;
        assert_eq!(watch.version().as_deref(), Some("10"));
        let step = Duration::from_secs_f64(step);
        assert!(waited >= step && waited < 2 * step + Duration::from_millis(2), "{waited:?}");
        last = watch.at;
        match try_number % 2 {
            0 => watch.refuse(),
            _ => watch.status(429, "TooManyRequests"),
        }
    }
    bench.server.watch().await.stream();
    assert_eq!(bench.informer.status().reflector.lists, 1);
}

#[tokio::test(start_paused = true)]
async fn an_error_event_of_an_expired_version_leads_to_a_list_from_it() {
    let mut bench = Bench::start();
    let stream = bench.server.listed("10", &[]).await;
    stream.event(
        "ERROR",
        r#"{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}"#,
    );
    let list = bench.server.list().await;
    assert_eq!((list.version().as_deref(), list.param("limit")), (Some("10"), None));
    list.status(410, "Expired");
    let list = bench.server.list().await;
    assert_eq!(list.version(), None);
    list.items("30", &[object("a", "25")]);
    assert_eq!(bench.server.watch().await.version().as_deref(), Some("30"));
}

#[tokio::test(start_paused = true)]
async fn a_broken_stream_goes_on_at_once_from_its_last_event() {
    let mut bench = Bench::start();
    let mut events = bench.events();
    let stream = bench.server.listed("10", &[]).await;
    stream.event("ADDED", &object("a", "11"));
    assert_eq!(events.next().await, "Added(n/a@11)");
    let before = Instant::now();
    stream.reset();
    let watch = bench.server.watch().await;
    assert_eq!((watch.version().as_deref(), watch.at - before), (Some("11"), Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn a_list_that_is_cut_changes_nothing() {
    let mut bench = Bench::start();
    let mut events = bench.events();
    drop(bench.server.listed("10", &[object("a", "5")]).await);
    bench.server.watch().await.status(410, "Expired");
    let whole = list("20", &[object("b", "15"), object("c", "16")]);
    let stream = bench.server.list().await.stream();
    stream.send(&whole[..whole.len() - 1]);
    drop(stream);
    let again = bench.server.list().await;
    assert_eq!(bench.stored(), ["a@5"]);
    assert_eq!(events.next().await, "Added(n/a@5, initial)");
    assert!(events.none());
    again.body(200, whole);
    assert_eq!(events.next().await, "Deleted(n/a@5, final state unknown)");
    assert_eq!(events.next().await, "Added(n/b@15)");
    assert_eq!(events.next().await, "Added(n/c@16)");
}

#[tokio::test(start_paused = true)]
async fn an_event_that_cannot_be_read_is_left_out_and_counted() {
    let mut bench = Bench::start();
    let mut events = bench.events();
    let stream = bench.server.listed("10", &[object("a", "5")]).await;
    assert_eq!(events.next().await, "Added(n/a@5, initial)");
    stream.event("MODIFIED", r#"{"metadata":{"name":"a","namespace":"n","labels":7}}"#);
    stream.event(
        "ADDED",
        r#"{"metadata":{"name":"odd","namespace":"n","uid":"u","resourceVersion":"11"},"data":7}"#,
    );
    stream.event("ADDED", &object("b", "12"));
    // One whose spec does not fit its type is stored: whoever decodes it gets the error.
    assert_eq!(events.next().await, "Added(n/odd@11)");
    assert_eq!(events.next().await, "Added(n/b@12)");
    assert_eq!(bench.stored(), ["a@5", "b@12", "odd@11"]);
    let odd = bench.informer.lister().in_namespace("n").get("odd").unwrap();
    let error = odd.get().unwrap_err().to_string();
    assert!(error.contains("configmaps/v1 n/odd") && error.contains("data"), "{error}");
    let status = bench.informer.status().reflector;
    assert_eq!(status.bad_objects, 1);
    assert!(status.last_error.unwrap().contains("n/a"));
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_never_ends_is_given_up_after_its_time() {
    let mut bench = Bench::start();
    let begin = Instant::now();
    let _dead = bench.server.listed("10", &[]).await;
    let watch = bench.server.watch().await;
    let lasted = watch.at - begin;
    assert!(lasted >= Duration::from_secs(330) && lasted <= Duration::from_secs(632), "{lasted:?}");
    assert_eq!(watch.version().as_deref(), Some("10"));
}

#[tokio::test(start_paused = true)]
async fn what_a_list_has_and_nobody_can_read_stays_as_it_was() {
    let mut bench = Bench::start();
    let mut events = bench.events();
    let bad = |name| format!(r#"{{"metadata":{{"name":"{name}","namespace":"n","labels":7}}}}"#);
    let items = [bad("bad"), object("a", "5"), object("b", "6"), bad("bad")];
    drop(bench.server.listed("10", &items).await);
    assert_eq!(events.next().await, "Added(n/a@5, initial)");
    assert_eq!(events.next().await, "Added(n/b@6, initial)");
    events.registration.synced().await.unwrap();
    let status = bench.informer.status().reflector;
    assert_eq!((status.bad_objects, status.lists), (2, 1));
    assert!(status.last_error.unwrap().contains("n/bad"));
    bench.server.watch().await.status(410, "Expired");
    let list = bench.server.list().await;
    list.items("20", &[bad("a"), object("c", "15")]);
    bench.server.watch().await.status(410, "Expired");
    assert_eq!(events.next().await, "Deleted(n/b@6, final state unknown)");
    assert_eq!(events.next().await, "Added(n/c@15)");
    assert_eq!(bench.stored(), ["a@5", "c@15"]);
    bench.server.list().await.items("30", &[object("c", "15")]);
    let _stream = bench.server.watch().await.stream();
    assert_eq!(events.next().await, "Deleted(n/a@5, final state unknown)");
}

/// The pieces without an informer.
#[tokio::test(start_paused = true)]
async fn a_reflector_works_alone() {
    let (mut server, client) = Server::new();
    let kind = Kind::<ConfigMap>::of();
    let store = Indexer::new(kind.to_string());
    let decoder = Decoder::new(&kind, 0);
    let reflector = Reflector::new(client.api(kind), Default::default(), decoder, store.clone());
    let monitor = reflector.monitor();
    let (sender, mut deltas) = tokio::sync::mpsc::channel(1);
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let push = move |delta| {
        let sender = sender.clone();
        async move { sender.send(delta).await.unwrap() }
    };
    let running = tokio::spawn(reflector.run(push, async { drop(stopped.await) }));
    let stream = server.listed("10", &[object("a", "5")]).await;
    stream.event("DELETED", &object("a", "11"));
    let mut fifo = Fifo::new();
    for _ in 0..2 {
        fifo.push(deltas.recv().await.unwrap());
    }
    assert_eq!(store.apply(fifo.pop().unwrap()).unwrap().len(), 1);
    assert!(fifo.done());
    let events = store.apply(fifo.pop().unwrap()).unwrap();
    assert_eq!(format!("{events:?}"), "[Deleted(n/a@11)]");
    drop(stop);
    running.await.unwrap();
    assert_eq!(monitor.status().phase, Phase::Stopped);
}
