//! A ReplicaSet of many pods on the server in the process: how long, how many calls, how many decodes.
//!
//! `cargo run --release -p kubewright-bench --bin thousand_pods [PODS]`

use std::error::Error;
use std::time::Instant;

use k8s_openapi::api::apps::v1::ReplicaSet;
use kubewright::client::Verb;
use kubewright::client::WatchEvent;
use kubewright::meta::{CreateOptions, Kind, ListOptions, Object, WatchOptions};
use kubewright::testing::DevServer;
use kubewright_examples::{Controllers, Settings};
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let pods: i32 = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => 1_000,
    };
    let client = DevServer::start().await?.client();
    let controllers = Controllers::start(&client, Settings::default());
    let replicaset = controllers.replicaset_client().clone();
    let sets = client.in_namespace::<ReplicaSet>("default");
    let started = Instant::now();
    let set: ReplicaSet = serde_json::from_value(json!({
        "metadata": {"name": "web"},
        "spec": {
            "replicas": pods,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "registry.example/web:1"}]},
            },
        },
    }))?;
    let created = sets.create(&set, &CreateOptions::default()).await?;
    let mut watch = sets.watch(&WatchOptions::from_version(created.resource_version())).await?;
    let mut statuses = 0;
    while let Some(event) = watch.next().await {
        let WatchEvent::Modified(set) = event? else {
            continue;
        };
        statuses += 1;
        if set.status.and_then(|status| status.ready_replicas) == Some(pods) {
            break;
        }
    }
    let took = started.elapsed();
    let calls = replicaset.calls();
    let decodes: u64 = controllers.factory().status().iter().map(|status| status.decodes).sum();
    println!("{pods} pods ready after {:.2} s", took.as_secs_f64());
    println!(
        "calls of the ReplicaSet controller: {calls}; {:.3} a pod",
        calls.total() as f64 / f64::from(pods)
    );
    println!(
        "of them status updates: {} ({statuses} versions of the set)",
        calls.of(Verb::Replace)
    );
    let reconciles = controllers.replicaset_stats().reconciles();
    println!(
        "reconciles of the ReplicaSet controller: {reconciles}; objects decoded by all controllers: {decodes}, \
         {:.2} a pod, {:.1} a reconcile",
        decodes as f64 / f64::from(pods),
        decodes as f64 / reconciles as f64
    );
    let listed = client
        .api(Kind::<k8s_openapi::api::core::v1::Pod>::of())
        .list(&ListOptions::default())
        .await?;
    println!("pods on the server: {}", listed.items.len());
    controllers.shutdown().await
}
