//! What a user relies on in the plain queue.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use kubewright_queue::{DelayingQueue, RateLimitingQueue, WorkQueue};

/// A waker that counts, for futures polled by hand.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Woken {
    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

#[tokio::test]
async fn keys_come_in_order_and_once() {
    let queue = WorkQueue::new();
    for key in ["a", "b", "a", "c", "b"] {
        queue.add(key);
    }
    assert_eq!(queue.len(), 3);
    for expected in ["a", "b", "c"] {
        assert_eq!(queue.get().await, Some(expected));
        queue.done(&expected);
    }
    assert!(queue.is_empty());
}

#[tokio::test]
async fn a_key_added_while_processed_runs_once_more_after_done() {
    let queue = WorkQueue::new();
    queue.add("a");
    assert_eq!(queue.get().await, Some("a"));
    queue.add("a");
    queue.add("a");
    queue.add("b");
    assert_eq!(queue.len(), 1, "a must not be handed to a second worker");
    assert_eq!(queue.get().await, Some("b"));
    assert_eq!(queue.len(), 0);
    queue.done(&"a");
    assert_eq!(queue.get().await, Some("a"));
    queue.done(&"a");
    queue.done(&"b");
    assert_eq!(queue.len(), 0);

    queue.add("a");
    assert_eq!(queue.get().await, Some("a"), "and can be added again");
}

#[tokio::test]
async fn a_key_added_again_goes_to_the_end_of_the_line() {
    let queue = WorkQueue::new();
    queue.add("a");
    queue.add("b");
    assert_eq!(queue.get().await, Some("a"));
    queue.add("a");
    queue.add("c");
    queue.done(&"a");
    for expected in ["b", "c", "a"] {
        assert_eq!(queue.get().await, Some(expected));
    }
}

#[tokio::test]
async fn done_of_what_is_not_processed_is_harmless() {
    let queue = WorkQueue::new();
    queue.done(&"unknown");
    queue.add("a");
    queue.done(&"a");
    assert_eq!(queue.len(), 1);
    assert_eq!(queue.get().await, Some("a"));
    queue.done(&"a");
    queue.done(&"a");
    queue.shut_down_with_drain().await;
    assert_eq!(queue.get().await, None);
}

#[tokio::test]
async fn shut_down_delivers_what_is_ready_and_refuses_the_rest() {
    let queue = WorkQueue::new();
    queue.add("a");
    queue.add("b");
    assert_eq!(queue.get().await, Some("a"));
    queue.add("a");
    queue.shut_down();
    queue.shut_down();
    assert!(queue.is_shutting_down());
    queue.add("c");
    queue.add("a");
    assert_eq!(queue.get().await, Some("b"));
    assert_eq!(queue.get().await, None);
    queue.done(&"a");
    assert_eq!(queue.get().await, Some("a"), "it was added before");
    assert_eq!(queue.get().await, None);
}

#[tokio::test]
async fn shut_down_ends_every_waiting_worker() {
    let queue = WorkQueue::<u32>::new();
    let workers: Vec<_> = (0..8)
        .map(|_| {
            tokio::spawn({
                let queue = queue.clone();
                async move { queue.get().await }
            })
        })
        .collect();
    tokio::task::yield_now().await;
    queue.shut_down();
    for worker in workers {
        assert_eq!(worker.await.unwrap(), None);
    }
}

#[tokio::test]
async fn drain_waits_for_ready_and_processed_keys() {
    let queue = WorkQueue::new();
    queue.add("a");
    queue.add("b");
    assert_eq!(queue.get().await, Some("a"));

    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut cx = Context::from_waker(&waker);
    let mut drain = pin!(queue.shut_down_with_drain());
    assert!(!queue.is_shutting_down(), "nothing happens before the first poll");
    assert!(drain.as_mut().poll(&mut cx).is_pending());
    assert!(queue.is_shutting_down());

    queue.add("c");
    queue.done(&"a");
    assert!(drain.as_mut().poll(&mut cx).is_pending(), "b is still ready");
    assert_eq!(queue.get().await, Some("b"));
    assert!(drain.as_mut().poll(&mut cx).is_pending(), "b is processed");
    let before = woken.count();
    queue.done(&"b");
    assert_eq!(woken.count(), before + 1);
    assert!(drain.as_mut().poll(&mut cx).is_ready());
    assert_eq!(queue.get().await, None, "c came too late");
}

#[tokio::test]
async fn drain_waits_for_a_key_added_again_before_it() {
    let queue = WorkQueue::new();
    queue.add("a");
    assert_eq!(queue.get().await, Some("a"));
    queue.add("a");
    let drain = tokio::spawn({
        let queue = queue.clone();
        async move { queue.shut_down_with_drain().await }
    });
    tokio::task::yield_now().await;
    queue.done(&"a");
    tokio::task::yield_now().await;
    assert!(!drain.is_finished());
    assert_eq!(queue.get().await, Some("a"));
    queue.done(&"a");
    drain.await.unwrap();
}

#[tokio::test]
async fn drain_is_aborted_by_a_later_shut_down() {
    let queue = WorkQueue::new();
    queue.add("a");
    assert_eq!(queue.get().await, Some("a"));
    queue.shut_down();
    let drains: Vec<_> = (0..2)
        .map(|_| {
            tokio::spawn({
                let queue = queue.clone();
                async move { queue.shut_down_with_drain().await }
            })
        })
        .collect();
    tokio::task::yield_now().await;
    assert!(drains.iter().all(|drain| !drain.is_finished()), "an earlier one does not abort it");
    queue.shut_down();
    for drain in drains {
        drain.await.unwrap();
    }
    queue.done(&"a");
    queue.shut_down_with_drain().await;
}

#[tokio::test]
async fn drain_of_an_idle_queue_returns_at_once() {
    let queue = WorkQueue::<u32>::new();
    queue.shut_down_with_drain().await;
    assert_eq!(queue.get().await, None);
}

#[tokio::test]
async fn a_guard_calls_done_even_when_the_worker_panics_or_is_aborted() {
    let queue = WorkQueue::new();
    queue.add("a");
    queue.add("b");
    let panics = tokio::spawn({
        let queue = queue.clone();
        async move {
            let key = queue.get().await.unwrap();
            let key = queue.done_on_drop(key);
            queue.add("a");
            assert_eq!(*key, "b", "this is the panic");
        }
    });
    assert!(panics.await.unwrap_err().is_panic());
    let hangs = tokio::spawn({
        let queue = queue.clone();
        async move {
            let _key = queue.done_on_drop(queue.get().await.unwrap());
            std::future::pending::<()>().await;
        }
    });
    tokio::task::yield_now().await;
    hangs.abort();
    assert!(hangs.await.unwrap_err().is_cancelled());

    assert_eq!(queue.get().await, Some("a"));
    queue.done(&"a");
    queue.shut_down_with_drain().await;
}

#[test]
fn each_add_wakes_one_worker_the_longest_waiting_first() {
    let queue = WorkQueue::new();
    let woken: [Arc<Woken>; 3] = Default::default();
    let mut gets: Vec<_> = (0..3).map(|_| Box::pin(queue.get())).collect();
    for (get, woken) in gets.iter_mut().zip(&woken) {
        let waker = Waker::from(Arc::clone(woken));
        assert!(get.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    let counts = || woken.each_ref().map(|woken| woken.count());
    queue.add(1);
    assert_eq!(counts(), [1, 0, 0]);
    queue.add(1);
    assert_eq!(counts(), [1, 0, 0]);
    queue.add(2);
    assert_eq!(counts(), [1, 1, 0]);
    queue.shut_down();
    assert_eq!(
        counts(),
        [1, 1, 0],
        "the third has to wait for nothing only when the others took theirs"
    );
    let mut cx = Context::from_waker(Waker::noop());
    assert_eq!(gets[1].as_mut().poll(&mut cx), Poll::Ready(Some(1)));
    assert_eq!(gets[0].as_mut().poll(&mut cx), Poll::Ready(Some(2)));
    assert_eq!(counts(), [1, 1, 1]);
    assert_eq!(gets[2].as_mut().poll(&mut cx), Poll::Ready(None));
}

#[test]
fn a_dropped_get_passes_its_wake_up_on() {
    let queue = WorkQueue::new();
    let woken: [Arc<Woken>; 2] = Default::default();
    let mut gets: Vec<_> = (0..2).map(|_| Box::pin(queue.get())).collect();
    for (get, woken) in gets.iter_mut().zip(&woken) {
        let waker = Waker::from(Arc::clone(woken));
        assert!(get.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    queue.add("a");
    assert_eq!((woken[0].count(), woken[1].count()), (1, 0));
    drop(gets.remove(0));
    assert_eq!(woken[1].count(), 1);
    let mut cx = Context::from_waker(Waker::noop());
    assert_eq!(gets[0].as_mut().poll(&mut cx), Poll::Ready(Some("a")));
}

/// A key whose first clone panics.
#[derive(Debug, PartialEq, Eq, Hash)]
struct BreaksOnce(u8);

static BROKEN: AtomicUsize = AtomicUsize::new(0);

impl Clone for BreaksOnce {
    fn clone(&self) -> Self {
        assert!(BROKEN.fetch_add(1, Ordering::SeqCst) > 0, "this is the panic");
        Self(self.0)
    }
}

#[tokio::test]
async fn a_key_that_panics_when_cloned_is_lost_to_one_worker_only() {
    let queue = WorkQueue::new();
    let worker = || {
        tokio::spawn({
            let queue = queue.clone();
            async move { queue.get().await }
        })
    };
    let (breaks, other) = (worker(), worker());
    tokio::task::yield_now().await;
    queue.add(BreaksOnce(1));
    assert!(breaks.await.unwrap_err().is_panic());
    assert_eq!(other.await.unwrap(), Some(BreaksOnce(1)));
    // Wake-ups are still counted right.
    let (one, two) = (worker(), worker());
    tokio::task::yield_now().await;
    queue.add(BreaksOnce(2));
    queue.add(BreaksOnce(3));
    assert_eq!(one.await.unwrap(), Some(BreaksOnce(2)));
    assert_eq!(two.await.unwrap(), Some(BreaksOnce(3)));
}

#[test]
fn a_get_moved_to_another_task_wakes_that_one() {
    let queue = WorkQueue::new();
    let (first, second) = (Arc::new(Woken::default()), Arc::new(Woken::default()));
    let mut get = pin!(queue.get());
    for woken in [&first, &second] {
        let waker = Waker::from(Arc::clone(woken));
        assert!(get.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    queue.add("a");
    assert_eq!((first.count(), second.count()), (0, 1));
}

#[tokio::test]
async fn a_busy_worker_lets_other_tasks_run() {
    let queue = WorkQueue::new();
    queue.add(0u64);
    let other = tokio::spawn(async {});
    // The key comes back for ever, so `get` never has to wait.
    while !other.is_finished() {
        let key = queue.get().await.unwrap();
        queue.add(key);
        queue.done(&key);
    }
}

#[tokio::test]
async fn keys_are_released_when_done_and_with_the_queue() {
    let key = Arc::new(1);
    let queue = WorkQueue::new();
    queue.add(Arc::clone(&key));
    queue.add(Arc::clone(&key));
    assert_eq!(Arc::strong_count(&key), 2, "one copy in the queue");
    drop(queue.get().await);
    queue.done(&key);
    assert_eq!(Arc::strong_count(&key), 1);

    queue.add(Arc::clone(&key));
    queue.shut_down();
    drop(queue);
    assert_eq!(Arc::strong_count(&key), 1);
}

#[tokio::test]
async fn a_burst_larger_than_the_kept_memory_leaves_a_working_queue() {
    let queue = WorkQueue::new();
    for round in 0..3 {
        (0..5000).for_each(|key| queue.add(key));
        for key in 0..5000 {
            assert_eq!(queue.get().await, Some(key), "round {round}");
            queue.done(&key);
        }
        assert!(queue.is_empty());
    }
}

#[tokio::test]
async fn handles_share_one_queue_and_larger_ones_serve_as_smaller() {
    fn fill(queue: &WorkQueue<&'static str>) {
        queue.add("a");
    }
    let delaying = DelayingQueue::new();
    fill(&delaying);
    assert_eq!(delaying.clone().len(), 1);
    let limiting = RateLimitingQueue::default();
    fill(&limiting);
    let plain: WorkQueue<&str> = WorkQueue::clone(&limiting);
    assert_eq!(plain.get().await, Some("a"));
    assert_eq!(
        format!("{limiting:?}"),
        "RateLimitingQueue(WorkQueue { len: 0, shutting_down: false, .. })"
    );
}
