//! A rate-limited work queue without Kubernetes: three workers, one key that fails twice.
//!
//! `cargo run -p kubewright-queue --example queue`

use kubewright_queue::RateLimitingQueue;
use tokio::time::Instant;

#[tokio::main]
async fn main() {
    let queue = RateLimitingQueue::default();
    for key in ["shop/web", "shop/db", "shop/web", "shop/cache"] {
        queue.add(key); // "shop/web" is queued once
    }

    let start = Instant::now();
    let workers: Vec<_> = (1..=3)
        .map(|worker| {
            let queue = queue.clone();
            tokio::spawn(async move {
                while let Some(key) = queue.get().await {
                    let key = queue.done_on_drop(key);
                    let tries = queue.num_requeues(&key);
                    if *key == "shop/db" && tries < 2 {
                        println!("{:?} worker {worker}: {} failed", start.elapsed(), *key);
                        queue.add_rate_limited(*key); // after 5 ms, then 10 ms
                    } else {
                        println!("{:?} worker {worker}: {} done", start.elapsed(), *key);
                        queue.forget(&key);
                    }
                }
            })
        })
        .collect();

    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    queue.shut_down_with_drain().await;
    for worker in workers {
        worker.await.expect("a worker does not panic");
    }
}
