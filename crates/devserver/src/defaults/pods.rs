//! Pods and pod templates, with what the admission plugins of a plain cluster add to pods.

use kubewright_meta::Unstructured;
use serde_json::{Value, json};

use super::{drop_zero, fill, is_zero, items, qos};

/// How long a pod stays on a node that is not ready or not reachable, as `DefaultTolerationSeconds` has it.
const STAYS_SECONDS: i64 = 300;
const FILE_MODE: i64 = 0o644;
const CONTAINERS: [&str; 2] = ["containers", "initContainers"];

pub(crate) fn pod(pod: &mut Unstructured) {
    if let Some(spec) = pod.fields.get_mut("spec") {
        pod_spec(spec);
        fill(spec, json!({"enableServiceLinks": true}));
        for list in CONTAINERS {
            items(spec, list).for_each(limits_are_requested);
        }
        priority(spec);
        tolerations(spec);
    }
    let class = qos::class(pod.fields.get("spec").unwrap_or(&Value::Null));
    if let Some(status) = pod.fields.get_mut("status") {
        fill(status, json!({"qosClass": class}));
    }
}

pub(crate) fn new_pod(pod: &mut Unstructured) {
    let class = qos::class(pod.fields.get("spec").unwrap_or(&Value::Null));
    pod.fields.insert("status".into(), json!({"phase": "Pending", "qosClass": class}));
}

/// What pods and templates have in common.
pub(super) fn pod_spec(spec: &mut Value) {
    fill(
        spec,
        json!({
            "restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
            "securityContext": {}, "schedulerName": "default-scheduler",
        }),
    );
    drop_zero(spec, &["hostNetwork", "hostPID", "hostIPC", "nodeName", "nodeSelector", "volumes"]);
    // The old name of the same.
    if let Some(account) = spec.get("serviceAccountName").cloned() {
        fill(spec, json!({"serviceAccount": account}));
    }
    let host_network = spec.get("hostNetwork").and_then(Value::as_bool) == Some(true);
    for list in CONTAINERS {
        for item in items(spec, list) {
            container(item, host_network);
        }
    }
    items(spec, "volumes").for_each(volume);
}

fn container(container: &mut Value, host_network: bool) {
    fill(
        container,
        json!({
            "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
            "imagePullPolicy": pull_policy(container), "resources": {},
        }),
    );
    for port in items(container, "ports") {
        fill(port, json!({"protocol": "TCP"}));
        if host_network && let Some(number) = port.get("containerPort").cloned() {
            fill(port, json!({"hostPort": number}));
        }
    }
    for variable in items(container, "env") {
        if let Some(field) = variable.pointer_mut("/valueFrom/fieldRef") {
            fill(field, json!({"apiVersion": "v1"}));
        }
    }
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(probe) = container.get_mut(name) {
            fill(
                probe,
                json!({"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}),
            );
            handler(probe);
        }
    }
    for hook in ["/lifecycle/postStart", "/lifecycle/preStop"] {
        if let Some(hook) = container.pointer_mut(hook) {
            handler(hook);
        }
    }
}

/// An image that may change under its name is pulled each time.
fn pull_policy(container: &Value) -> &'static str {
    let image = container.get("image").and_then(Value::as_str);
    let image = image.unwrap_or_default();
    let name = image.rsplit('/').next().unwrap_or_default();
    let floating =
        !image.contains('@') && name.rsplit_once(':').is_none_or(|(_, tag)| tag == "latest");
    if floating { "Always" } else { "IfNotPresent" }
}

fn handler(handler: &mut Value) {
    if let Some(get) = handler.get_mut("httpGet") {
        fill(get, json!({"path": "/", "scheme": "HTTP"}));
    }
    if let Some(grpc) = handler.get_mut("grpc") {
        fill(grpc, json!({"service": ""}));
    }
}

fn volume(volume: &mut Value) {
    let has_source =
        volume.as_object().is_none_or(|fields| fields.keys().any(|name| name != "name"));
    if !has_source {
        fill(volume, json!({"emptyDir": {}}));
    }
    for source in ["secret", "configMap", "downwardAPI", "projected"] {
        if let Some(source) = volume.get_mut(source) {
            fill(source, json!({"defaultMode": FILE_MODE}));
        }
    }
    if let Some(path) = volume.get_mut("hostPath") {
        fill(path, json!({"type": ""}));
    }
    if let Some(api) = volume.get_mut("downwardAPI") {
        field_items(api);
    }
    if let Some(projected) = volume.get_mut("projected") {
        for source in items(projected, "sources") {
            if let Some(token) = source.get_mut("serviceAccountToken") {
                fill(token, json!({"expirationSeconds": 3600}));
            }
            if let Some(api) = source.get_mut("downwardAPI") {
                field_items(api);
            }
        }
    }
}

fn field_items(source: &mut Value) {
    for item in items(source, "items") {
        if let Some(field) = item.get_mut("fieldRef") {
            fill(field, json!({"apiVersion": "v1"}));
        }
    }
}

/// Who limits a resource without requesting it requests as much.
fn limits_are_requested(container: &mut Value) {
    let limits = container.pointer("/resources/limits").cloned();
    let Some(limits) = limits.filter(|limits| !is_zero(limits)) else {
        return;
    };
    if let Some(resources) = container.get_mut("resources") {
        fill(resources, json!({"requests": {}}));
        if let Some(requests) = resources.get_mut("requests") {
            fill(requests, limits);
        }
    }
}

/// Without PriorityClasses only those that every cluster has are known; others get no number.
fn priority(spec: &mut Value) {
    let class = spec.get("priorityClassName").and_then(Value::as_str);
    let value = match class.unwrap_or_default() {
        "" => 0,
        "system-cluster-critical" => 2_000_000_000,
        "system-node-critical" => 2_000_001_000,
        _ => return,
    };
    fill(spec, json!({"priority": value, "preemptionPolicy": "PreemptLowerPriority"}));
}

fn tolerations(spec: &mut Value) {
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let tolerates = |toleration: &mut Value| {
            let text =
                |name: &str| toleration.get(name).and_then(Value::as_str).unwrap_or_default();
            ["", key].contains(&text("key")) && ["", "NoExecute"].contains(&text("effect"))
        };
        if items(spec, "tolerations").any(tolerates) {
            continue;
        }
        fill(spec, json!({"tolerations": []}));
        if let Some(list) = spec.get_mut("tolerations").and_then(Value::as_array_mut) {
            list.push(json!({
                "key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": STAYS_SECONDS,
            }));
        }
    }
}
