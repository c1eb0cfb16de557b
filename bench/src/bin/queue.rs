//! The rate-limited queue: a million different keys put in and taken out, then a churn of repeated keys.
//!
//! `cargo run --release -p kubewright-bench --bin queue [WORKERS]`; the peer is `bench/peers/client-go/queue`.

use std::time::Instant;

use kubewright::meta::ObjectKey;
use kubewright::queue::RateLimitingQueue;
use tokio::task::JoinHandle;

const KEYS: usize = 1_000_000;
const CHURNED: usize = 100_000;

#[tokio::main]
async fn main() {
    let workers = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(2);
    let keys: Vec<ObjectKey> = (0..KEYS)
        .map(|n| ObjectKey::namespaced(&format!("namespace-{}", n % 50), &format!("name-{n}")))
        .collect();

    let queue = RateLimitingQueue::default();
    let started = Instant::now();
    for key in &keys {
        queue.add(key.clone());
    }
    report("adds of different keys", KEYS, started);
    let started = Instant::now();
    let processed = drain(&queue, workers).await;
    report(&format!("drained by {workers} workers"), processed, started);

    let queue = RateLimitingQueue::default();
    let started = Instant::now();
    let running = spawn(&queue, workers);
    for n in 0..KEYS {
        queue.add(keys[n % CHURNED].clone());
    }
    report("adds of repeated keys meanwhile", KEYS, started);
    queue.shut_down_with_drain().await;
    report("processed of them", sum(running).await, started);
}

async fn drain(queue: &RateLimitingQueue<ObjectKey>, workers: usize) -> usize {
    let running = spawn(queue, workers);
    queue.shut_down_with_drain().await;
    sum(running).await
}

fn spawn(queue: &RateLimitingQueue<ObjectKey>, workers: usize) -> Vec<JoinHandle<usize>> {
    (0..workers)
        .map(|_| {
            let queue = queue.clone();
            tokio::spawn(async move {
                let mut processed = 0;
                while let Some(key) = queue.get().await {
                    queue.forget(&key);
                    queue.done(&key);
                    processed += 1;
                }
                processed
            })
        })
        .collect()
}

async fn sum(running: Vec<JoinHandle<usize>>) -> usize {
    let mut processed = 0;
    for worker in running {
        processed += worker.await.unwrap_or(0);
    }
    processed
}

fn report(what: &str, count: usize, started: Instant) {
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{what}: {count} in {seconds:.2} s, {:.2} million a second",
        count as f64 / seconds / 1e6
    );
}
