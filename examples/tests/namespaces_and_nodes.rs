//! Namespaces go once they are empty; simulated nodes do what scheduler and kubelets would.

mod support;

use std::time::{Duration, SystemTime};

use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Node, Pod};
use kubewright::client::Client;
use kubewright::meta::{CreateOptions, DeleteOptions, Object};
use kubewright::testing::{DevServer, Fault};
use kubewright_examples::nodes::Nodes;
use kubewright_examples::replicaset::pod::{is_ready, phase};
use kubewright_examples::{Controllers, Settings};
use serde_json::json;
use support::{create, pod, until};
use tokio::time::Instant;

async fn start(nodes: Nodes) -> (Client, Controllers) {
    let client = DevServer::start().await.unwrap().client();
    let controllers = Controllers::start(&client, Settings { nodes, ..Settings::default() });
    (client, controllers)
}

#[tokio::test(start_paused = true)]
async fn a_namespace_goes_with_all_that_is_in_it() {
    let (client, controllers) = start(Nodes::default()).await;
    let namespaces = client.cluster::<Namespace>();
    let lab: Namespace = serde_json::from_value(json!({"metadata": {"name": "lab"}})).unwrap();
    create(&namespaces, &lab).await;
    let maps = client.in_namespace::<ConfigMap>("lab");
    let mut held: ConfigMap =
        serde_json::from_value(json!({"metadata": {"name": "held"}})).unwrap();
    held.metadata.finalizers = Some(vec!["lab.test/hold".into()]);
    create(&maps, &held).await;
    let pods = client.in_namespace::<Pod>("lab");
    create(&pods, &pod("web", json!({}))).await;
    until(&pods, |pods| pods.iter().any(is_ready)).await;

    namespaces.delete("lab", &DeleteOptions::default()).await.unwrap();
    until(&pods, |pods| pods.is_empty()).await;
    // What is held holds the namespace, in which nothing new can be made.
    let more: ConfigMap = serde_json::from_value(json!({"metadata": {"name": "more"}})).unwrap();
    let refused = maps.create(&more, &CreateOptions::default()).await.unwrap_err();
    assert!(refused.is_namespace_terminating(), "{refused}");
    tokio::time::sleep(Duration::from_secs(10)).await;
    support::merge(&maps, "held", json!({"metadata": {"finalizers": null}})).await;
    until(&namespaces, |all| all.iter().all(|namespace| namespace.name() != "lab")).await;
    controllers.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn pods_get_a_node_and_become_ready_after_the_delay() {
    let nodes = Nodes { ready_after: Duration::from_secs(7), ..Nodes::default() };
    let (client, controllers) = start(nodes).await;
    let pods = client.in_namespace::<Pod>("default");
    let started = Instant::now();
    create(&pods, &pod("web", json!({}))).await;
    let ready = until(&pods, |pods| is_ready(&pods[0])).await.remove(0);
    assert!(started.elapsed() >= Duration::from_secs(7), "{:?}", started.elapsed());
    assert_eq!(phase(&ready), "Running");
    let node = ready.spec.as_ref().and_then(|spec| spec.node_name.clone()).unwrap();
    let nodes = until(&client.cluster::<Node>(), |nodes| nodes.len() == 3).await;
    assert!(nodes.iter().any(|known| known.name() == node), "{node}");
    controllers.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_pod_stops_in_its_own_time_but_within_its_grace_period() {
    let nodes = Nodes { stops_after: Duration::from_secs(20), ..Nodes::default() };
    let (client, controllers) = start(nodes).await;
    let pods = client.in_namespace::<Pod>("default");
    for (name, grace, least, most) in [("slow", 60, 20, 22), ("cut", 5, 5, 7)] {
        create(&pods, &pod(name, json!({"spec": {"terminationGracePeriodSeconds": grace}}))).await;
        until(&pods, |pods| pods.iter().any(is_ready)).await;
        let asked = Instant::now();
        pods.delete(name, &DeleteOptions::default()).await.unwrap();
        until(&pods, |pods| pods.is_empty()).await;
        let took = asked.elapsed();
        let bounds = Duration::from_secs(least)..Duration::from_secs(most);
        assert!(bounds.contains(&took), "{name} took {took:?}");
    }
    controllers.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_answer_does_not_hold_the_shutdown_up() {
    let server = DevServer::start().await.unwrap();
    let never = Duration::from_secs(365 * 24 * 3_600);
    let fault = Fault::on("create", "nodes").times(u32::MAX).delay(never);
    let fault = server.faults().inject(fault).unwrap();
    let controllers = Controllers::start(&server.client(), Settings::default());
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(fault.hits(), 1);
    let asked = Instant::now();
    controllers.shutdown().await.unwrap();
    assert!(asked.elapsed() < Duration::from_secs(60), "{:?}", asked.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_namespace_that_is_held_for_long_is_looked_at_seldom() {
    // An hour ago by the machine's clock, which the controller goes by.
    let an_hour = Duration::from_secs(3_600);
    let builder = DevServer::builder().wall_clock(SystemTime::now() - an_hour);
    let server = builder.start().await.unwrap();
    let client = server.client();
    let controllers = Controllers::start(&client, Settings::default());
    let namespaces = client.cluster::<Namespace>();
    let lab: Namespace = serde_json::from_value(json!({"metadata": {"name": "lab"}})).unwrap();
    create(&namespaces, &lab).await;
    let held = json!({"metadata": {"name": "held", "finalizers": ["lab.test/hold"]}});
    let held: ConfigMap = serde_json::from_value(held).unwrap();
    create(&client.in_namespace("lab"), &held).await;
    namespaces.delete("lab", &DeleteOptions::default()).await.unwrap();
    tokio::time::sleep(Duration::from_secs(150)).await;
    let asked: u64 = server
        .request_counts()
        .iter()
        .filter(|count| count.verb == "deletecollection" && count.resource == "configmaps")
        .map(|count| count.count)
        .sum();
    assert!((10..15).contains(&asked), "{asked}");
    controllers.shutdown().await.unwrap();
}
