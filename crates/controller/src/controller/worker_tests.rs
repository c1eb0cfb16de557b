use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kubewright_queue::{BucketLimiter, ExponentialLimiter};
use parking_lot::Mutex;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber};

use crate::Action;
use crate::controller::testing::{HandFed, Log, Running, key, settle};

#[tokio::test(start_paused = true)]
async fn failures_back_off_and_a_success_forgets() {
    let (fed, log) = (HandFed::new("replicasets"), Log::new());
    let noted = log.clone();
    let running = Running::start(fed.controller(), move |key| {
        let nth = noted.note(&key);
        async move { if nth == 5 || nth > 7 { Ok(Action::done()) } else { Err("not yet".into()) } }
    })
    .await;
    fed.event(&key("a"));
    settle().await;
    assert_eq!(log.pauses(), [5, 10, 20, 40]);
    fed.event(&key("a"));
    settle().await;
    assert_eq!(log.pauses()[5..], [5, 10], "it starts anew");
    running.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_requeue_comes_when_it_was_asked_for() {
    let (fed, log) = (HandFed::new("replicasets"), Log::new());
    let noted = log.clone();
    let running = Running::start(fed.controller(), move |key| {
        let nth = noted.note(&key);
        async move {
            Ok(match nth {
                1 => Action::requeue_after(Duration::from_secs(7)),
                2 | 3 => Action::requeue(),
                _ => Action::done(),
            })
        }
    })
    .await;
    fed.event(&key("a"));
    settle().await;
    assert_eq!(log.pauses(), [7000, 5, 10]);
    running.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_a_failure_of_its_key_alone() {
    let (fed, log) = (HandFed::new("replicasets"), Log::new());
    let controller = fed.controller();
    let stats = controller.stats();
    let noted = log.clone();
    let running = Running::start(controller, move |key| {
        let nth = noted.note(&key);
        // Once before there is a future, once inside it.
        assert!(nth != 1, "first");
        async move {
            assert!(nth != 2, "second");
            Ok(Action::done())
        }
    })
    .await;
    fed.event(&key("a"));
    settle().await;
    fed.event(&key("b"));
    settle().await;
    assert_eq!(log.names(), ["a", "a", "a", "b"]);
    assert_eq!(log.pauses()[..2], [5, 10]);
    assert_eq!((stats.panics(), stats.errors(), stats.reconciles()), (2, 2, 4));
    running.end().await.unwrap();
}

/// An error that panics when the worker lets go of it, outside of the reconcile.
#[derive(Debug)]
struct BreaksWhenDropped;

impl fmt::Display for BreaksWhenDropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("breaks when dropped")
    }
}

impl std::error::Error for BreaksWhenDropped {}

impl Drop for BreaksWhenDropped {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_breaks_is_replaced() {
    let (fed, log) = (HandFed::new("replicasets"), Log::new());
    let controller = fed.controller();
    let stats = controller.stats();
    let noted = log.clone();
    let running = Running::start(controller, move |key| {
        let nth = noted.note(&key);
        async move { if nth == 1 { Err(BreaksWhenDropped.into()) } else { Ok(Action::done()) } }
    })
    .await;
    fed.event(&key("a"));
    settle().await;
    fed.event(&key("b"));
    settle().await;
    assert_eq!(log.names(), ["a", "a", "b"]);
    assert_eq!((stats.panics(), stats.active()), (1, 0));
    running.end().await.unwrap();
}

/// An error that panics when it is printed.
#[derive(Debug)]
struct BreaksWhenPrinted;

impl fmt::Display for BreaksWhenPrinted {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("printed");
    }
}

impl std::error::Error for BreaksWhenPrinted {}

/// Prints every field of what is logged, as a real subscriber does.
struct Prints;

impl Visit for Prints {
    fn record_debug(&mut self, _: &Field, value: &dyn fmt::Debug) {
        let _ = format!("{value:?}");
    }
}

impl Subscriber for Prints {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        event.record(&mut Prints);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[tokio::test(start_paused = true)]
async fn an_error_that_breaks_the_log_is_retried() {
    // For all threads: what one thread alone subscribes to, the first use on another may switch off. It does no harm
    // to the other tests.
    tracing::subscriber::set_global_default(Prints).unwrap();
    let (fed, log) = (HandFed::new("replicasets"), Log::new());
    let controller = fed.controller();
    let stats = controller.stats();
    let noted = log.clone();
    let running = Running::start(controller, move |key| {
        let nth = noted.note(&key);
        async move { if nth == 1 { Err(BreaksWhenPrinted.into()) } else { Ok(Action::done()) } }
    })
    .await;
    fed.event(&key("a"));
    settle().await;
    assert_eq!(log.names(), ["a", "a"]);
    assert_eq!((stats.panics(), stats.active()), (1, 0));
    running.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn retries_end_where_they_should() {
    let (fed, log) = (HandFed::new("replicasets"), Log::new());
    let given_up = Arc::new(Mutex::new(Vec::new()));
    let hooked = given_up.clone();
    let controller = fed
        .controller()
        .max_retries(2)
        // A limiter that does not count must not mean retries without end.
        .rate_limiter(BucketLimiter::new(1000.0, 100))
        .on_give_up(move |key, error| {
            hooked.lock().push(format!("{key}: {error}"));
            panic!("in the hook");
        });
    let stats = controller.stats();
    let noted = log.clone();
    let running = Running::start(controller, move |key| {
        let nth = noted.note(&key);
        async move { Err(format!("failure {nth}").into()) }
    })
    .await;
    fed.event(&key("a"));
    settle().await;
    assert_eq!(*given_up.lock(), ["shop/a: failure 3"]);
    assert_eq!((stats.given_up(), stats.errors(), stats.retries()), (1, 3, 2));
    fed.event(&key("a"));
    settle().await;
    assert_eq!(given_up.lock().len(), 2, "the next event starts anew");
    assert_eq!(log.names().len(), 6);
    running.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn only_failures_in_a_row_count() {
    let (fed, log) = (HandFed::new("replicasets"), Log::new());
    let controller = fed.controller().max_retries(1);
    let stats = controller.stats();
    let noted = log.clone();
    let running = Running::start(controller, move |key| {
        let nth = noted.note(&key);
        async move {
            match nth {
                _ if nth > 8 => Ok(Action::done()),
                _ if nth % 2 == 0 => Ok(Action::requeue()),
                _ => Err("odd".into()),
            }
        }
    })
    .await;
    fed.event(&key("a"));
    settle().await;
    assert_eq!((stats.given_up(), stats.errors(), log.names().len()), (0, 4, 9));
    running.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_limiter_can_be_chosen() {
    let (fed, log) = (HandFed::new("replicasets"), Log::new());
    let limiter = ExponentialLimiter::new(Duration::from_secs(1), Duration::from_secs(3));
    let noted = log.clone();
    let running = Running::start(fed.controller().rate_limiter(limiter), move |key| {
        let nth = noted.note(&key);
        async move { if nth > 3 { Ok(Action::done()) } else { Err("no".into()) } }
    })
    .await;
    fed.event(&key("a"));
    settle().await;
    assert_eq!(log.pauses(), [1000, 2000, 3000]);
    running.end().await.unwrap();
}
