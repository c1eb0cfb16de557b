//! The values a server fills in, as far as workloads and their controllers need them.

use base64::Engine;
use kubewright_meta::{Object, Unstructured};
use serde_json::{Map, Value, json};

pub(crate) fn pod(pod: &mut Unstructured) {
    if let Some(spec) = pod.fields.get_mut("spec") {
        pod_spec(spec);
        fill(spec, json!({"enableServiceLinks": true}));
    }
}

pub(crate) fn new_pod(pod: &mut Unstructured) {
    pod.fields
        .insert("status".into(), json!({"phase": "Pending"}));
}

pub(crate) fn replica_set(set: &mut Unstructured) {
    pod_owner(set, json!({"replicas": 1}));
}

pub(crate) fn new_replica_set(set: &mut Unstructured) {
    set.fields.insert("status".into(), json!({"replicas": 0}));
}

pub(crate) fn deployment(deployment: &mut Unstructured) {
    pod_owner(
        deployment,
        json!({"replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600, "strategy": {"type": "RollingUpdate"}}),
    );
    if let Some(strategy) = deployment
        .fields
        .get_mut("spec")
        .and_then(|spec| spec.get_mut("strategy"))
        && strategy.get("type").and_then(Value::as_str) == Some("RollingUpdate")
    {
        fill(strategy, json!({"rollingUpdate": {}}));
        if let Some(rolling) = strategy.get_mut("rollingUpdate") {
            fill(rolling, json!({"maxSurge": "25%", "maxUnavailable": "25%"}));
        }
    }
}

pub(crate) fn new_deployment(deployment: &mut Unstructured) {
    deployment.fields.insert("status".into(), json!({}));
}

/// Every namespace carries its name as a label.
pub(crate) fn namespace(namespace: &mut Unstructured) {
    let name = namespace.name().to_owned();
    let labels = namespace.metadata.labels.get_or_insert_default();
    labels.insert("kubernetes.io/metadata.name".into(), name);
}

pub(crate) fn new_namespace(namespace: &mut Unstructured) {
    namespace.set_field(&["spec", "finalizers"], json!(["kubernetes"]));
    namespace
        .fields
        .insert("status".into(), json!({"phase": "Active"}));
}

/// `stringData` is only a way to write `data`.
pub(crate) fn secret(secret: &mut Unstructured) {
    secret
        .fields
        .entry("type")
        .or_insert_with(|| "Opaque".into());
    let Some(Value::Object(texts)) = secret.fields.remove("stringData") else {
        return;
    };
    let data = secret
        .fields
        .entry("data")
        .or_insert_with(|| Value::Object(Map::new()));
    if let Some(data) = data.as_object_mut() {
        for (name, text) in texts {
            let encoded =
                base64::prelude::BASE64_STANDARD.encode(text.as_str().unwrap_or_default());
            data.insert(name, encoded.into());
        }
    }
}

pub(crate) fn service(service: &mut Unstructured) {
    let Some(spec) = service.fields.get_mut("spec") else {
        return;
    };
    fill(
        spec,
        json!({"type": "ClusterIP", "sessionAffinity": "None"}),
    );
    for port in items(spec, "ports") {
        let target = port.get("port").cloned().unwrap_or(Value::Null);
        fill(port, json!({"protocol": "TCP", "targetPort": target}));
    }
}

fn pod_owner(owner: &mut Unstructured, defaults: Value) {
    if let Some(spec) = owner.fields.get_mut("spec") {
        fill(spec, defaults);
        if let Some(template) = spec.pointer_mut("/template/spec") {
            pod_spec(template);
        }
    }
}

fn pod_spec(spec: &mut Value) {
    fill(
        spec,
        json!({
            "restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
            "securityContext": {}, "schedulerName": "default-scheduler",
        }),
    );
    for list in ["containers", "initContainers"] {
        for container in items(spec, list) {
            let image = container
                .get("image")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let name = image.rsplit('/').next().unwrap_or_default();
            let floating = !image.contains('@')
                && name.rsplit_once(':').is_none_or(|(_, tag)| tag == "latest");
            let policy = if floating { "Always" } else { "IfNotPresent" };
            fill(
                container,
                json!({
                    "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
                    "imagePullPolicy": policy, "resources": {},
                }),
            );
            items(container, "ports").for_each(|port| fill(port, json!({"protocol": "TCP"})));
        }
    }
}

fn items<'a>(value: &'a mut Value, list: &str) -> impl Iterator<Item = &'a mut Value> {
    value
        .get_mut(list)
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
}

/// Adds those members that are not there.
fn fill(value: &mut Value, defaults: Value) {
    if let (Value::Object(fields), Value::Object(defaults)) = (value, defaults) {
        for (name, default) in defaults {
            fields.entry(name).or_insert(default);
        }
    }
}
