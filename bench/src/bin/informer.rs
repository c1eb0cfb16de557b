//! One informer on all pods of the cluster: first synchronisation, memory, and the cost of later updates.
//!
//! `cargo run --release -p kubewright-bench --bin informer [UPDATES]`, with KUBECONFIG. Fill the cluster and make
//! updates with `bench/peers/client-go/load`; the peers are `bench/peers/client-go/informer` and `bench/peers/kube`.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use k8s_openapi::api::core::v1::Pod;
use kubewright::prelude::*;
use kubewright_bench::{cpu_seconds, resident_mb};
use tokio::sync::Notify;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let wanted: usize = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => 0,
    };
    let client = Client::new(Config::infer()?)?;
    let factory = SharedInformerFactory::new(&client);
    let pods = factory.informer::<Pod>();
    let updates = Arc::new(AtomicUsize::new(0));
    let enough = Arc::new(Notify::new());
    let handler = pods.add_handler({
        let (updates, enough) = (updates.clone(), enough.clone());
        move |event: Event<Pod>| {
            if matches!(event, Event::Updated { .. })
                && updates.fetch_add(1, Ordering::Relaxed) + 1 == wanted
            {
                enough.notify_one();
            }
        }
    })?;
    let started = Instant::now();
    factory.start();
    handler.synced().await?;
    let (resident, peak) = resident_mb();
    println!(
        "synced {} pods in {:.2} s, CPU {:.2} s, resident {resident:.0} MB, peak {peak:.0} MB",
        pods.lister().len(),
        started.elapsed().as_secs_f64(),
        cpu_seconds()
    );
    if wanted > 0 {
        let before = cpu_seconds();
        enough.notified().await;
        let used = cpu_seconds() - before;
        println!("{wanted} updates: CPU {:.0} µs each", used * 1e6 / wanted as f64);
    }
    factory.shutdown().await;
    Ok(())
}
