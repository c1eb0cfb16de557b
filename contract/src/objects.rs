//! The smallest objects that a real server accepts.

use serde_json::{Value, json};

/// A ConfigMap with one entry.
pub(crate) fn config_map(name: &str) -> Value {
    json!({"metadata": {"name": name}, "data": {"k": "v"}})
}

/// A ConfigMap with labels.
pub(crate) fn labelled(name: &str, labels: Value) -> Value {
    json!({"metadata": {"name": name, "labels": labels}})
}

/// A ConfigMap that a finalizer holds.
pub(crate) fn held(name: &str) -> Value {
    json!({"metadata": {"name": name, "finalizers": [FINALIZER]}})
}

/// The finalizer of [`held`].
pub(crate) const FINALIZER: &str = "lab.test/x";

/// A Pod that no node has.
pub(crate) fn pod(name: &str) -> Value {
    json!({"metadata": {"name": name, "labels": {"app": "web"}}, "spec": pod_spec()})
}

/// A Pod that a node has, so that its deletion takes its grace period.
pub(crate) fn pod_on(name: &str, node: &str) -> Value {
    let mut pod = pod(name);
    pod["spec"]["nodeName"] = json!(node);
    pod
}

/// A ReplicaSet of one replica.
pub(crate) fn replica_set(name: &str) -> Value {
    let mut workload = workload(name);
    workload["kind"] = json!("ReplicaSet");
    workload
}

/// A Deployment of one replica.
pub(crate) fn deployment(name: &str) -> Value {
    let mut workload = workload(name);
    workload["kind"] = json!("Deployment");
    workload
}

fn workload(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "metadata": {"name": name},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": pod_spec()},
        },
    })
}

fn pod_spec() -> Value {
    json!({"containers": [{"name": "main", "image": "example.test/web:1"}]})
}

/// A Lease that somebody holds.
pub(crate) fn lease(name: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {"holderIdentity": "a", "leaseDurationSeconds": 15}})
}

/// A core Event about a pod in the same namespace.
pub(crate) fn event(name: &str, namespace: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": namespace, "name": "web"},
        "reason": "Tested", "message": "m", "type": "Normal", "source": {"component": "lab"},
    })
}

/// The same of the newer group.
pub(crate) fn new_event(name: &str, namespace: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "eventTime": "2026-01-02T03:04:05.000006Z",
        "reportingController": "lab.test/lab", "reportingInstance": "lab-1",
        "action": "Testing", "reason": "Tested", "type": "Normal", "note": "m",
        "regarding": {"apiVersion": "v1", "kind": "Pod", "namespace": namespace, "name": "web"},
    })
}
