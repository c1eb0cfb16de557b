//! Real threads, real wakers: many producers and workers, cancelled gets, panicking workers.
//! A lost wake-up would hang these tests, so each runs under a time limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use kubewright_queue::DelayingQueue;
use tokio::task::{JoinSet, yield_now};
use tokio::time::timeout;

const KEYS: usize = 50;
const LIMIT: Duration = Duration::from_secs(60);

/// For each key: is it being processed, what was last asked for it, what did its last run see.
#[derive(Default)]
struct Book {
    busy: AtomicBool,
    asked: AtomicU32,
    seen: AtomicU32,
}

async fn process(book: &Book) {
    assert!(!book.busy.swap(true, SeqCst), "two workers hold one key");
    let asked = book.asked.load(SeqCst);
    yield_now().await;
    book.seen.store(asked, SeqCst);
    assert!(book.busy.swap(false, SeqCst));
}

fn book() -> Arc<Vec<Book>> {
    Arc::new((0..KEYS).map(|_| Book::default()).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_producers_and_workers_miss_nothing() {
    let (queue, book) = (DelayingQueue::new(), book());
    let processed = Arc::new(AtomicUsize::new(0));
    let mut workers = JoinSet::new();
    for worker in 0..8 {
        let (queue, book, processed) = (queue.clone(), Arc::clone(&book), Arc::clone(&processed));
        workers.spawn(async move {
            loop {
                // Half of the workers cancel a get now and then, at no point in particular.
                let key = if worker % 2 == 0 {
                    queue.get().await
                } else {
                    tokio::select! {
                        biased;
                        key = queue.get() => key,
                        () = yield_now() => continue,
                    }
                };
                let Some(key) = key else { return };
                let key = queue.done_on_drop(key);
                process(&book[*key]).await;
                processed.fetch_add(1, SeqCst);
            }
        });
    }
    let mut producers = JoinSet::new();
    for seed in 0..8 {
        let (queue, book) = (queue.clone(), Arc::clone(&book));
        producers.spawn(async move {
            let mut random = fastrand::Rng::with_seed(seed);
            for _ in 0..2000 {
                let key = random.usize(..KEYS);
                book[key].asked.fetch_add(1, SeqCst);
                match random.u8(..10) {
                    0 => queue.add_after(key, Duration::from_micros(random.u64(..2000))),
                    _ => queue.add(key),
                }
                if random.u8(..20) == 0 {
                    yield_now().await;
                }
            }
        });
    }
    timeout(LIMIT, async {
        while let Some(producer) = producers.join_next().await {
            producer.unwrap();
        }
        // Every request must be seen by a run that started after it, delayed ones included.
        while book.iter().any(|book| book.seen.load(SeqCst) != book.asked.load(SeqCst)) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        queue.shut_down_with_drain().await;
        while let Some(worker) = workers.join_next().await {
            worker.unwrap();
        }
    })
    .await
    .expect("no wake-up may be lost");
    assert!(processed.load(SeqCst) >= KEYS);
}

/// One key at a time among sleeping workers of which some go away just when they are woken.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cancelled_get_never_keeps_the_only_wake_up() {
    let queue = DelayingQueue::new();
    let steady = tokio::spawn({
        let queue = queue.clone();
        async move {
            let mut taken = 0usize;
            while let Some(key) = queue.get().await {
                queue.done(&key);
                taken += 1;
            }
            taken
        }
    });
    let mut taken = 0;
    timeout(LIMIT, async {
        for round in 0..3000u32 {
            let fickle = tokio::spawn({
                let queue = queue.clone();
                async move {
                    let key = queue.get().await;
                    key.inspect(|key| queue.done(key)).is_some()
                }
            });
            if round % 3 == 0 {
                yield_now().await;
            }
            if round % 2 == 0 {
                queue.add(round);
            } else {
                queue.add_after(round, Duration::from_nanos(1));
            }
            fickle.abort();
            taken += usize::from(fickle.await.unwrap_or(false));
            while !queue.is_empty() {
                yield_now().await;
            }
        }
        queue.shut_down_with_drain().await;
        taken += steady.await.unwrap();
    })
    .await
    .expect("no wake-up may be lost");
    assert_eq!(taken, 3000);
}
