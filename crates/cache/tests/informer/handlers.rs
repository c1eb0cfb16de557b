//! Handlers: what they are told, and what they cannot do to others.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_cache::{Event, SharedInformerFactory};
use tokio::sync::{mpsc, watch};

use crate::Bench;
use crate::script::{Server, object};

#[tokio::test(start_paused = true)]
async fn a_late_handler_first_gets_what_is_there() {
    let mut bench = Bench::start();
    let stream = bench.server.listed("10", &[object("a", "5")]).await;
    bench.factory.wait_for_sync().await.unwrap();
    let mut events = bench.events();
    stream.event("MODIFIED", &object("a", "11"));
    assert_eq!(events.next().await, "Added(n/a@5, initial)");
    assert_eq!(events.next().await, "Updated(n/a@5->11)");
    events.registration.synced().await.unwrap();
    let mut later = bench.events();
    assert!(!later.registration.has_synced());
    assert_eq!(later.next().await, "Added(n/a@11, initial)");
    later.registration.synced().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_panics_goes_on_with_the_next_event() {
    let mut bench = Bench::start();
    let (sender, mut told) = mpsc::unbounded_channel();
    let handler = bench.informer.handler().name("fragile");
    let registration = handler
        .add(move |event: Event<ConfigMap>| {
            assert_ne!(event.key().name(), "a", "this one is too much");
            sender.send(event.key().to_string()).unwrap();
        })
        .unwrap();
    let mut others = bench.events();
    let _stream = bench.server.listed("10", &[object("a", "5"), object("b", "7")]).await;
    assert_eq!(told.recv().await.unwrap(), "n/b");
    registration.synced().await.unwrap();
    let status = registration.status();
    assert_eq!((status.name.as_str(), status.panics, status.handled), ("fragile", 1, 2));
    assert_eq!(others.next().await, "Added(n/a@5, initial)");
}

#[tokio::test(start_paused = true)]
async fn a_removed_handler_is_told_nothing_more_and_its_code_is_dropped() {
    let mut bench = Bench::start();
    let held = Arc::new(());
    let (sender, mut told) = mpsc::unbounded_channel();
    let inside = held.clone();
    let handler = move |event: Event<ConfigMap>| {
        let _ = &inside;
        sender.send(event.key().to_string()).unwrap();
    };
    let registration = bench.informer.add_handler(handler).unwrap();
    let mut others = bench.events();
    let stream = bench.server.listed("10", &[object("a", "5")]).await;
    assert_eq!(told.recv().await.unwrap(), "n/a");
    registration.remove().await;
    assert_eq!(Arc::strong_count(&held), 1);
    assert_eq!(bench.informer.status().handlers.len(), 1, "forgotten at once");
    stream.event("ADDED", &object("b", "11"));
    others.next().await;
    assert_eq!(others.next().await, "Added(n/b@11)");
    assert_eq!(told.recv().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_handler_can_be_removed_before_the_start() {
    let (_server, client) = Server::new();
    let factory = SharedInformerFactory::new(&client);
    let informer = factory.informer::<ConfigMap>();
    let registration = informer.add_handler(|_| {}).unwrap();
    registration.remove().await;
}

/// What a handler holds may panic when it is dropped; whoever waits for its end is told of it all the same.
#[tokio::test(start_paused = true)]
async fn a_handler_that_panics_at_its_end_has_ended() {
    struct Fragile;
    impl Drop for Fragile {
        fn drop(&mut self) {
            panic!("this one is too much");
        }
    }
    let bench = Bench::start();
    let fragile = Fragile;
    let handler = move |_: Event<ConfigMap>| {
        let _ = &fragile;
    };
    let registration = bench.informer.add_handler(handler).unwrap();
    tokio::task::yield_now().await;
    registration.remove().await;
    assert!(bench.informer.status().handlers.is_empty());
}

#[test]
fn handlers_have_ended_when_their_runtime_is_gone() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap()
    };
    let first = runtime();
    let registration = first.block_on(async {
        let bench = Bench::start();
        let registration = bench.informer.add_handler(|_| {}).unwrap();
        tokio::task::yield_now().await;
        registration
    });
    drop(first);
    runtime().block_on(async {
        assert!(registration.synced().await.unwrap_err().is_stopped());
        registration.remove().await;
    });
}

#[tokio::test(start_paused = true)]
async fn handlers_without_a_name_get_one_each() {
    let bench = Bench::start();
    let add = || bench.informer.add_handler(|_| {}).unwrap();
    let (first, second) = (add(), add());
    first.remove().await;
    assert_ne!(add().name(), second.name());
}

/// A handler may use its informer: nothing is locked while it runs.
#[tokio::test(start_paused = true)]
async fn a_handler_may_add_another_and_read_the_store() {
    let mut bench = Bench::start();
    let (sender, mut told) = mpsc::unbounded_channel();
    let informer = bench.informer.clone();
    let handler = move |event: Event<ConfigMap>| {
        assert!(informer.lister().get(event.key()).is_some());
        let sender = sender.clone();
        let inner = move |event: Event<ConfigMap>| sender.send(format!("{event:?}")).unwrap();
        informer.add_handler(inner).unwrap();
    };
    let _registration = bench.informer.add_handler(handler).unwrap();
    let _stream = bench.server.listed("10", &[object("a", "5")]).await;
    assert_eq!(told.recv().await.unwrap(), "Added(n/a@5, initial)");
    assert_eq!(bench.informer.status().handlers.len(), 2);
    bench.factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn no_period_is_too_long() {
    let bench = Bench::start();
    let handler = bench.informer.handler().resync_every(Duration::MAX);
    let registration = handler.add(|_| {}).unwrap();
    tokio::task::yield_now().await;
    registration.remove().await;
}

#[tokio::test(start_paused = true)]
async fn a_resync_repeats_what_is_known_for_the_handler_that_asked() {
    let mut bench = Bench::start();
    let (sender, mut told) = mpsc::unbounded_channel();
    let handler = bench.informer.handler().resync_every(Duration::from_secs(30));
    let _registration = handler
        .add(move |event: Event<ConfigMap>| sender.send(event.is_resync()).unwrap())
        .unwrap();
    let mut others = bench.events();
    let _stream = bench.server.listed("10", &[object("a", "5")]).await;
    assert_eq!(told.recv().await, Some(false));
    let before = tokio::time::Instant::now();
    assert_eq!(told.recv().await, Some(true));
    assert_eq!(told.recv().await, Some(true));
    assert_eq!(before.elapsed().as_secs(), 60);
    assert_eq!(others.next().await, "Added(n/a@5, initial)");
    assert!(others.none());
}

/// On real threads: the slow handler blocks one of them until the others have seen everything.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_slow_handler_slows_down_nobody_and_costs_one_event_an_object() {
    const CHANGES: u32 = 5000;
    let mut bench = Bench::start();
    let (open, gate) = std::sync::mpsc::channel::<()>();
    let (sender, mut slowly) = mpsc::unbounded_channel();
    let handler = bench.informer.handler().name("slow").buffer(10);
    let slow = handler
        .add(move |event: Event<ConfigMap>| {
            gate.recv().ok();
            sender.send(format!("{event:?}")).unwrap();
        })
        .unwrap();
    let (seen, mut newest) = watch::channel(0);
    let fast = bench
        .informer
        .add_handler(move |event: Event<ConfigMap>| {
            // Where this one falls behind too, the newest event need not come last.
            let version: u32 = event.object().resource_version().parse().unwrap();
            seen.send_modify(|newest| *newest = version.max(*newest));
        })
        .unwrap();
    let stream = bench.server.listed("10", &[object("a", "1"), object("b", "2")]).await;
    for version in 11..11 + CHANGES {
        stream.event(
            "MODIFIED",
            &object(if version % 2 == 0 { "a" } else { "b" }, &version.to_string()),
        );
    }
    let last = 10 + CHANGES;
    newest.wait_for(|version| *version == last).await.unwrap();
    assert_eq!(bench.stored(), [format!("a@{last}"), format!("b@{}", 9 + CHANGES)]);
    let status = slow.status();
    assert!(status.pending <= 12 && status.merged > u64::from(CHANGES) - 20, "{status:?}");
    drop(open);
    let mut told = Vec::new();
    while told.last().is_none_or(|event: &String| !event.ends_with(&format!("->{last})"))) {
        told.push(slowly.recv().await.unwrap());
    }
    assert_eq!(told[..2], ["Added(n/a@1, initial)", "Added(n/b@2, initial)"]);
    assert!(slow.has_synced() && fast.has_synced());
}
