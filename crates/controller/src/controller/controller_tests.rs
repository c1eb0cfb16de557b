use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use super::testing::{HandFed, Log, Running, key, settle};
use crate::Action;

#[tokio::test(start_paused = true)]
async fn events_become_reconciles() {
    let (fed, log) = (HandFed::new("replicasets"), Log::new());
    let controller = fed.controller();
    let stats = controller.stats();
    let enqueuer = controller.enqueuer();
    enqueuer.enqueue(key("early"));
    let noted = log.clone();
    let running = Running::start(controller, move |key| {
        noted.note(&key);
        async { Ok(Action::done()) }
    })
    .await;
    settle().await;
    fed.event(&key("a"));
    enqueuer.enqueue_after(key("later"), Duration::from_secs(5));
    settle().await;
    assert_eq!(log.names(), ["early", "a", "later"]);
    assert_eq!((stats.reconciles(), stats.errors(), stats.active()), (3, 0, 0));
    running.end().await.unwrap();
    assert!(fed.is_removed());
    enqueuer.enqueue(key("late"));
    assert_eq!(stats.queue_len(), 0, "after the end nothing is taken");
}

#[tokio::test(start_paused = true)]
async fn a_key_is_never_with_two_workers() {
    let fed = HandFed::new("replicasets");
    let (holding, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let controller = fed.controller().workers(8);
    let stats = controller.stats();
    let (held, peak) = (holding.clone(), most.clone());
    let running = Running::start(controller, move |_| {
        let (held, peak) = (held.clone(), peak.clone());
        async move {
            peak.fetch_max(held.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            sleep(Duration::from_millis(10)).await;
            held.fetch_sub(1, Ordering::SeqCst);
            Ok(Action::done())
        }
    })
    .await;
    for _ in 0..50 {
        fed.event(&key("a"));
        sleep(Duration::from_millis(3)).await;
    }
    settle().await;
    assert_eq!(most.load(Ordering::SeqCst), 1);
    assert!(stats.reconciles() >= 15, "{stats:?}");
    for other in 0..20 {
        fed.event(&key(&other.to_string()));
    }
    settle().await;
    assert_eq!(most.load(Ordering::SeqCst), 8, "different keys do run side by side");
    running.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_burst_of_owned_events_is_one_reconcile() {
    let (fed, pods, log) = (HandFed::new("replicasets"), HandFed::new("pods"), Log::new());
    let mut controller = fed.controller().batch(Duration::from_secs(1));
    controller.sources.push(pods.source(true));
    let noted = log.clone();
    let running = Running::start(controller, move |key| {
        noted.note(&key);
        async { Ok(Action::done()) }
    })
    .await;
    settle().await;
    for _ in 0..100 {
        pods.event(&key("web"));
        sleep(Duration::from_millis(5)).await;
    }
    settle().await;
    assert_eq!(log.names(), ["web"]);
    fed.event(&key("web"));
    tokio::task::yield_now().await;
    sleep(Duration::from_millis(1)).await;
    assert_eq!(log.names(), ["web", "web"], "events of the kind itself do not wait");
    running.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_mapping_that_panics_loses_its_event_only() {
    let (fed, log) = (HandFed::new("replicasets"), Log::new());
    let controller = fed.controller();
    let stats = controller.stats();
    let noted = log.clone();
    let running = Running::start(controller, move |key| {
        noted.note(&key);
        async { Ok(Action::done()) }
    })
    .await;
    fed.map(&key("a"), || panic!("in the mapping"));
    fed.event(&key("b"));
    settle().await;
    assert_eq!((log.names(), stats.mapping_panics()), (vec!["b".to_owned()], 1));
    running.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_waits_for_what_runs_and_takes_nothing_more() {
    let (fed, log) = (HandFed::new("replicasets"), Log::new());
    let finish = Arc::new(Notify::new());
    let controller = fed.controller();
    let stats = controller.stats();
    let (noted, wait) = (log.clone(), finish.clone());
    let mut running = Running::start(controller, move |key| {
        noted.note(&key);
        let wait = wait.clone();
        async move {
            wait.notified().await;
            Err("ends with an error, which is not retried".into())
        }
    })
    .await;
    fed.event(&key("a"));
    fed.event(&key("b"));
    settle().await;
    assert_eq!((stats.active(), stats.queue_len()), (1, 1));
    assert_eq!(stats.longest_running(), Duration::from_secs(3600));
    running.shut_down();
    settle().await;
    assert!(!running.task.is_finished());
    assert!(fed.is_removed());
    finish.notify_one();
    running.end().await.unwrap();
    assert_eq!(log.names(), ["a"]);
    assert_eq!((stats.active(), stats.reconciles()), (0, 1));
    assert_eq!(stats.longest(), Duration::from_secs(7200));
}

#[tokio::test(start_paused = true)]
async fn a_grace_period_cuts_off_what_runs_too_long() {
    let fed = HandFed::new("replicasets");
    let controller = fed.controller().workers(2).grace_period(Duration::from_secs(30));
    let stats = controller.stats();
    let mut running = Running::start(controller, |_| pending()).await;
    fed.event(&key("b"));
    fed.event(&key("a"));
    settle().await;
    let started = Instant::now();
    running.shut_down();
    let error = running.end().await.unwrap_err();
    assert!(error.is_grace_exceeded());
    assert!(error.to_string().ends_with("after 30s what still ran: shop/a shop/b"), "{error}");
    let took = started.elapsed();
    assert!(took >= Duration::from_secs(30) && took < Duration::from_secs(31), "{took:?}");
    assert_eq!(stats.active(), 0);
}

#[tokio::test(start_paused = true)]
async fn work_begins_when_every_informer_has_synced() {
    let (fed, pods, log) = (HandFed::new("replicasets"), HandFed::unsynced("pods"), Log::new());
    let mut controller = fed.controller();
    controller.sources.push(pods.source(true));
    let noted = log.clone();
    let running = Running::start(controller, move |key| {
        noted.note(&key);
        async { Ok(Action::done()) }
    })
    .await;
    fed.event(&key("a"));
    settle().await;
    assert!(log.names().is_empty());
    pods.set_synced(true);
    settle().await;
    assert_eq!(log.names(), ["a"]);
    running.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_before_the_sync_says_who_was_missing() {
    let (fed, pods) = (HandFed::new("replicasets"), HandFed::unsynced("pods"));
    let mut controller = fed.controller();
    controller.sources.push(pods.source(true));
    let running = Running::start(controller, |_| async { Ok(Action::done()) }).await;
    settle().await;
    let error = running.end().await.unwrap_err();
    assert!(error.is_not_synced());
    assert!(error.to_string().ends_with("still waiting for pods (listing)"), "{error}");
    assert!(fed.is_removed() && pods.is_removed());
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_dropped_leaves_nothing_behind() {
    let fed = HandFed::new("replicasets");
    let controller = fed.controller();
    let stats = controller.stats();
    let running = Running::start(controller, |_| pending()).await;
    fed.event(&key("a"));
    settle().await;
    assert_eq!(stats.active(), 1);
    running.task.abort();
    settle().await;
    assert_eq!(stats.active(), 0);
    assert!(fed.is_removed());
}

#[tokio::test(start_paused = true)]
async fn a_run_dropped_while_a_handler_is_at_work_stops_the_others() {
    let (fed, pods) = (HandFed::stuck("replicasets"), HandFed::new("pods"));
    let mut controller = fed.controller();
    controller.sources.push(pods.source(true));
    let mut running = Running::start(controller, |_| async { Ok(Action::done()) }).await;
    running.shut_down();
    settle().await;
    assert!(!running.task.is_finished());
    running.task.abort();
    settle().await;
    assert!(fed.is_removed() && pods.is_removed());
}
