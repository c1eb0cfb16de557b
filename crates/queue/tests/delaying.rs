//! Delays and rate limits, to the millisecond, on tokio's paused clock.

use std::sync::Arc;
use std::time::Duration;

use kubewright_queue::{DelayingQueue, ExponentialLimiter, RateLimitingQueue, WorkQueue};
use tokio::time::{Instant, advance, timeout};

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn s(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// Takes and finishes keys for a while; says when each came.
async fn runs<T>(queue: &WorkQueue<T>, during: Duration) -> Vec<(Duration, T)>
where
    T: Clone + Eq + std::hash::Hash + Send + 'static,
{
    let start = Instant::now();
    let mut runs = Vec::new();
    let _ = timeout(during, async {
        while let Some(key) = queue.get().await {
            queue.done(&key);
            runs.push((start.elapsed(), key));
        }
    })
    .await;
    runs
}

#[tokio::test(start_paused = true)]
async fn a_key_comes_when_its_time_has_come() {
    let queue = DelayingQueue::new();
    queue.add_after("a", ms(50));
    assert_eq!(queue.len(), 0);
    advance(ms(49)).await;
    assert_eq!(queue.len(), 0);
    advance(ms(1)).await;
    assert_eq!(queue.len(), 1);
    assert_eq!(runs(&queue, s(60)).await, [(ms(0), "a")]);
}

#[tokio::test(start_paused = true)]
async fn no_delay_adds_at_once() {
    let queue = DelayingQueue::new();
    queue.add_after("a", Duration::ZERO);
    assert_eq!(queue.get().await, Some("a"));
}

#[tokio::test(start_paused = true)]
async fn the_earliest_of_several_times_wins() {
    let queue = DelayingQueue::new();
    queue.add_after("k", s(5));
    queue.add_after("k", s(2));
    queue.add_after("k", s(9));
    assert_eq!(runs(&queue, s(60)).await, [(s(2), "k")]);
    // The wait is over: a new one counts for itself.
    queue.add_after("k", s(9));
    assert_eq!(runs(&queue, s(60)).await, [(s(9), "k")]);
}

#[tokio::test(start_paused = true)]
async fn many_come_in_the_order_of_their_times() {
    let queue = DelayingQueue::new();
    for (key, delay) in [("c", 300), ("a", 100), ("b", 200), ("c2", 300), ("a2", 100)] {
        queue.add_after(key, ms(delay));
    }
    let expected = [(100, "a"), (100, "a2"), (200, "b"), (300, "c"), (300, "c2")];
    assert_eq!(runs(&queue, s(1)).await, expected.map(|(at, key)| (ms(at), key)));
}

#[tokio::test(start_paused = true)]
async fn a_key_both_ready_and_waiting_runs_twice_but_never_at_once() {
    let queue = DelayingQueue::new();
    queue.add_after("k", s(10));
    queue.add("k");
    assert_eq!(queue.len(), 1);
    assert_eq!(runs(&queue, s(60)).await, [(s(0), "k"), (s(10), "k")]);
    assert_eq!(queue.len(), 0);

    queue.add_after("k", s(10));
    queue.add("k");
    assert_eq!(queue.get().await, Some("k"));
    advance(s(10)).await;
    assert_eq!(queue.len(), 0, "the first run is not over");
    queue.add("k");
    queue.done(&"k");
    assert_eq!(queue.len(), 1, "the wait and the add during processing make one more run");
    assert_eq!(runs(&queue, s(60)).await, [(s(0), "k")]);
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_ends_unseen_during_processing_is_not_lost() {
    let queue = DelayingQueue::new();
    queue.add("k");
    assert_eq!(queue.get().await, Some("k"));
    queue.add_after("k", s(1));
    advance(s(5)).await;
    queue.done(&"k");
    assert_eq!(runs(&queue, s(60)).await, [(s(0), "k")]);
}

#[tokio::test(start_paused = true)]
async fn shut_down_drains_ready_keys_without_starting_waiting_ones() {
    let queue = DelayingQueue::new();
    queue.add("ready");
    queue.add_after("due", s(1));
    let late = Arc::new(());
    queue.add_after("waiting", s(2));
    queue.add("both");
    queue.add_after("both", s(2));
    advance(s(1)).await;
    queue.shut_down();
    queue.add_after("too late", s(1));
    queue.add_after("too late", s(0));
    assert_eq!(queue.len(), 3);
    let expected = ["ready", "both", "due"].map(|key| (s(0), key));
    assert_eq!(runs(&queue, s(60)).await, expected);
    assert_eq!(queue.get().await, None);

    let queue = DelayingQueue::new();
    queue.add_after(Arc::clone(&late), s(2));
    queue.shut_down();
    assert_eq!(Arc::strong_count(&late), 1, "what will not be started is not kept");
}

#[tokio::test(start_paused = true)]
async fn drain_does_not_wait_for_waiting_keys() {
    let queue = DelayingQueue::new();
    queue.add_after("a", s(3600));
    let start = Instant::now();
    queue.shut_down_with_drain().await;
    assert_eq!(queue.get().await, None);
    assert_eq!(start.elapsed(), s(0));
}

#[tokio::test(start_paused = true)]
async fn shut_down_ends_workers_that_wait_for_a_time() {
    let queue = DelayingQueue::new();
    queue.add_after("a", s(3600));
    let start = Instant::now();
    let workers: Vec<_> = (0..3)
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
    assert_eq!(start.elapsed(), s(0));
}

#[tokio::test(start_paused = true)]
async fn a_sleeping_worker_hears_of_an_earlier_time() {
    let queue = DelayingQueue::new();
    queue.add_after("late", s(100));
    let start = Instant::now();
    let worker = tokio::spawn({
        let queue = queue.clone();
        async move { queue.get().await }
    });
    advance(s(1)).await;
    queue.add_after("early", s(1));
    assert_eq!(worker.await.unwrap(), Some("early"));
    assert_eq!(start.elapsed(), s(2));
}

#[tokio::test(start_paused = true)]
async fn several_workers_share_what_comes_due_together() {
    let queue = DelayingQueue::new();
    (0..5).for_each(|key| queue.add_after(key, s(1)));
    let start = Instant::now();
    let workers: Vec<_> = (0..5)
        .map(|_| {
            tokio::spawn({
                let queue = queue.clone();
                async move { queue.get().await }
            })
        })
        .collect();
    let mut keys = Vec::new();
    for worker in workers {
        keys.extend(worker.await.unwrap());
    }
    keys.sort_unstable();
    assert_eq!(keys, [0, 1, 2, 3, 4]);
    assert_eq!(start.elapsed(), s(1), "nobody waited for another's done");
}

#[tokio::test(start_paused = true)]
async fn the_time_is_kept_when_its_keeper_goes_away() {
    let queue = DelayingQueue::new();
    queue.add_after("a", s(10));
    let get = || {
        tokio::spawn({
            let queue = queue.clone();
            async move { queue.get().await }
        })
    };
    let (keeper, other) = (get(), get());
    advance(s(1)).await;
    keeper.abort();
    assert!(keeper.await.unwrap_err().is_cancelled());
    let start = Instant::now();
    assert_eq!(other.await.unwrap(), Some("a"));
    assert_eq!(start.elapsed(), s(9));

    // Also when it goes away with a key.
    queue.add_after("b", s(10));
    let (keeper, other) = (get(), get());
    advance(s(1)).await;
    queue.add("c");
    queue.add("d");
    assert!(keeper.await.unwrap().is_some());
    assert!(other.await.unwrap().is_some());
    let last = get();
    assert_eq!(last.await.unwrap(), Some("b"));
}

#[tokio::test(start_paused = true)]
async fn get_in_a_select_loop_loses_nothing() {
    let queue = DelayingQueue::new();
    (0..20).for_each(|key| queue.add_after(key, ms(key * 7 + 1)));
    let mut keys = Vec::new();
    let mut ticks = tokio::time::interval(ms(2));
    while keys.len() < 20 {
        tokio::select! {
            biased;
            _ = ticks.tick() => {}
            key = queue.get() => {
                let key = key.unwrap();
                queue.done(&key);
                keys.push(key);
            }
        }
    }
    assert_eq!(keys, (0..20).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn a_delay_beyond_all_time_is_accepted() {
    let queue = DelayingQueue::new();
    queue.add_after("never", Duration::MAX);
    queue.add_after("soon", s(1));
    assert_eq!(runs(&queue, s(3600)).await, [(s(1), "soon")]);
}

#[tokio::test(start_paused = true)]
async fn each_rate_limited_key_waits_for_its_own_failures() {
    let queue = RateLimitingQueue::new(ExponentialLimiter::new(ms(5), s(1000)));
    for failure in 0..5 {
        queue.add_rate_limited("bad");
        assert_eq!(runs(&queue, s(1)).await, [(ms(5 << failure), "bad")]);
    }
    assert_eq!(queue.num_requeues(&"bad"), 5);

    queue.add_all_rate_limited(["bad", "good"]);
    assert_eq!(runs(&queue, s(1)).await, [(ms(5), "good"), (ms(160), "bad")]);

    queue.forget(&"bad");
    assert_eq!(queue.num_requeues(&"bad"), 0);
    queue.add_rate_limited("bad");
    assert_eq!(runs(&queue, s(1)).await, [(ms(5), "bad")]);

    for _ in 0..100 {
        queue.add_rate_limited("worse");
        assert_eq!(runs(&queue, s(1000)).await.len(), 1);
    }
    queue.add_rate_limited("worse");
    assert_eq!(runs(&queue, s(2000)).await, [(s(1000), "worse")]);
}

#[tokio::test(start_paused = true)]
async fn a_repeated_rate_limited_add_counts_but_keeps_the_earlier_time() {
    let queue = RateLimitingQueue::new(ExponentialLimiter::new(ms(5), s(1000)));
    queue.add_rate_limited("a");
    queue.add_rate_limited("a");
    queue.add_rate_limited("a");
    assert_eq!(queue.num_requeues(&"a"), 3);
    queue.forget(&"a");
    assert_eq!(runs(&queue, s(1)).await, [(ms(5), "a")], "forget does not cancel the retry");

    queue.shut_down();
    queue.add_rate_limited("a");
    assert_eq!(queue.num_requeues(&"a"), 0, "the limiter is not asked any more");
}
