//! The kinds that make pods.

use kubewright_meta::Unstructured;
use serde_json::{Value, json};

use super::pods::pod_spec;
use super::{drop_zero, fill};

pub(crate) fn replica_set(set: &mut Unstructured) {
    pod_owner(set, json!({"replicas": 1}));
}

pub(crate) fn new_replica_set(set: &mut Unstructured) {
    set.fields.insert("status".into(), json!({"replicas": 0}));
}

pub(crate) fn deployment(deployment: &mut Unstructured) {
    pod_owner(
        deployment,
        json!({"replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600, "strategy": {}}),
    );
    let spec = deployment.fields.get_mut("spec");
    if let Some(strategy) = spec.and_then(|spec| spec.get_mut("strategy")) {
        fill(strategy, json!({"type": "RollingUpdate"}));
        if strategy.get("type").and_then(Value::as_str) == Some("RollingUpdate") {
            fill(strategy, json!({"rollingUpdate": {}}));
            if let Some(rolling) = strategy.get_mut("rollingUpdate") {
                fill(rolling, json!({"maxSurge": "25%", "maxUnavailable": "25%"}));
            }
        }
    }
}

pub(crate) fn new_deployment(deployment: &mut Unstructured) {
    deployment.fields.insert("status".into(), json!({}));
}

fn pod_owner(owner: &mut Unstructured, defaults: Value) {
    if let Some(spec) = owner.fields.get_mut("spec") {
        fill(spec, defaults);
        drop_zero(spec, &["minReadySeconds", "paused"]);
        if let Some(template) = spec.pointer_mut("/template/spec") {
            pod_spec(template);
        }
    }
}
