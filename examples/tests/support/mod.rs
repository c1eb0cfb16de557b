//! What the tests of the controllers share: a server, objects, and waiting for what should happen.
//!
//! All run on tokio's paused clock: server, client and controllers live on one current-thread runtime, so delays
//! pass as soon as nobody has anything else to do.

#![allow(dead_code, reason = "each test file uses a part")]

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::apps::v1::ReplicaSet;
use k8s_openapi::api::core::v1::Pod;
use kubewright::client::{Api, Client, WatchEvent};
use kubewright::meta::{
    CreateOptions, GetOptions, ListOptions, Object, Patch, PatchOptions, WatchOptions,
};
use kubewright_examples::replicaset::pod::is_active;
use serde_json::{Value, json};

/// Longer than anything takes; on the paused clock it costs nothing.
const PATIENCE: Duration = Duration::from_secs(3_600);

/// Waits until the objects of `api` are such that `what` holds, and returns them.
pub(crate) async fn until<K: Object>(api: &Api<K>, what: impl Fn(&[K]) -> bool) -> Vec<K> {
    let wait = async {
        loop {
            let list = api.list(&ListOptions::default()).await.unwrap();
            let version = list.resource_version().to_owned();
            let mut objects: BTreeMap<_, _> =
                list.items.into_iter().map(|object| (object.key(), object)).collect();
            let mut watch = api.watch(&WatchOptions::from_version(version)).await.unwrap();
            loop {
                let now: Vec<K> = objects.values().cloned().collect();
                if what(&now) {
                    return now;
                }
                match watch.next().await {
                    Some(Ok(WatchEvent::Added(object) | WatchEvent::Modified(object))) => {
                        objects.insert(object.key(), object);
                    }
                    Some(Ok(WatchEvent::Deleted(object))) => {
                        objects.remove(&object.key());
                    }
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => break,
                }
            }
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("it never happened")
}

/// Waits until there are exactly `count` pods, none ended or going, and all ready.
pub(crate) async fn until_ready(pods: &Api<Pod>, count: usize) -> Vec<Pod> {
    use kubewright_examples::replicaset::pod::is_ready;
    until(pods, |pods| pods.len() == count && pods.iter().all(|p| is_active(p) && is_ready(p)))
        .await
}

/// A set of pods labelled `app=web`.
pub(crate) fn replica_set(name: &str, replicas: i32, changes: Value) -> ReplicaSet {
    let mut set = json!({
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "registry.example/web:1"}]},
            },
        },
    });
    json_patch::merge(&mut set, &changes);
    serde_json::from_value(set).unwrap()
}

/// A pod labelled `app=web`.
pub(crate) fn pod(name: &str, changes: Value) -> Pod {
    let mut pod = json!({
        "metadata": {"name": name, "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "web", "image": "registry.example/web:1"}]},
    });
    json_patch::merge(&mut pod, &changes);
    serde_json::from_value(pod).unwrap()
}

/// Creates it.
pub(crate) async fn create<K: Object>(api: &Api<K>, object: &K) -> K {
    api.create(object, &CreateOptions::default()).await.unwrap()
}

/// Changes it by merge patch.
pub(crate) async fn merge<K: Object>(api: &Api<K>, name: &str, change: Value) -> K {
    api.patch(name, &Patch::merge(change).unwrap(), &PatchOptions::default()).await.unwrap()
}

/// Reads it.
pub(crate) async fn get<K: Object>(api: &Api<K>, name: &str) -> K {
    api.get(name, &GetOptions::default()).await.unwrap()
}

/// The names, sorted.
pub(crate) fn names<K: Object>(objects: &[K]) -> Vec<String> {
    let mut names: Vec<_> = objects.iter().map(|object| object.name().to_owned()).collect();
    names.sort();
    names
}

/// Pods and sets of the namespace `default`.
pub(crate) fn apis(client: &Client) -> (Api<ReplicaSet>, Api<Pod>) {
    (client.in_namespace("default"), client.in_namespace("default"))
}
