//! How fast lists of pods are cut, checked and stripped.
//!
//! Prints the speed of each step over a list of ordinary pods in chunks as an HTTP/2 connection delivers them:
//! `cargo run --release -p kubewright-wire --example scan_speed -- [PODS] [CHUNK_BYTES]`.

use std::hint::black_box;
use std::time::Instant;

use bytes::Bytes;
use k8s_openapi::api::core::v1::Pod;
use kubewright_wire::{FrameSplitter, ListSplitter, RawObject, RawWatchEvent};
use serde_json::{Value, json};

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let count: usize = arguments.next().unwrap_or(20_000);
    let chunk: usize = arguments.next().unwrap_or(16 * 1024);

    let pods: Vec<String> = (0..count).map(|i| pod(i).to_string()).collect();
    let list = Bytes::from(format!(
        r#"{{"kind":"PodList","apiVersion":"v1","metadata":{{"resourceVersion":"1"}},"items":[{}]}}"#,
        pods.join(",")
    ));
    let frames: Bytes = pods
        .iter()
        .map(|pod| format!("{{\"type\":\"MODIFIED\",\"object\":{pod}}}\n"))
        .collect::<String>()
        .into();
    drop(pods);
    println!("{count} pods, {} MB, chunks of {chunk} bytes", list.len() / 1_000_000);

    measure("cut into items", list.len(), || cut_list(&list, chunk, drop));
    let stripped = measure("cut, check, strip, copy, keep", list.len(), || {
        let mut stripped = Vec::with_capacity(count);
        cut_list(&list, chunk, |item| {
            stripped.push(RawObject::from_json_without_managed_fields(item).expect("a pod"));
        });
        stripped
    });
    let kept: usize = stripped.iter().map(|pod| pod.bytes().len()).sum();
    println!("    {} MB stay, {} bytes a pod", kept / 1_000_000, kept / count);
    let mut items = Vec::with_capacity(count);
    cut_list(&list, list.len(), |item| items.push(item));
    measure("check, strip, copy", list.len(), || {
        for item in &items {
            black_box(RawObject::from_json_without_managed_fields(item).expect("a pod"));
        }
    });
    measure("check, copy", list.len(), || {
        for item in &items {
            black_box(RawObject::from_json(item).expect("a pod"));
        }
    });
    measure("watch events: cut, check, strip, copy", frames.len(), || {
        let mut splitter = FrameSplitter::new();
        for start in (0..frames.len()).step_by(chunk) {
            splitter.feed(frames.slice(start..frames.len().min(start + chunk)));
            while let Some(frame) = splitter.next_frame() {
                black_box(RawWatchEvent::parse(frame.expect("a frame"), true).expect("an event"));
            }
        }
    });
    measure("one label of each", kept, || {
        stripped.iter().filter(|pod| pod.label("tier").as_deref() == Some("backend")).count()
    });
    measure("one field of each", kept, || {
        stripped
            .iter()
            .filter(|pod| pod.field("spec.nodeName").is_ok_and(|node| node.is_some()))
            .count()
    });
    println!("for comparison:");
    measure("serde_json: check", list.len(), || {
        serde_json::from_slice::<serde::de::IgnoredAny>(&list).expect("a list")
    });
    measure("decode the stripped", kept, || {
        for pod in &stripped {
            black_box(pod.decode::<Pod>().expect("a pod"));
        }
    });
}

/// The fastest of three runs.
fn measure<T>(what: &str, bytes: usize, mut run: impl FnMut() -> T) -> T {
    let mut best = f64::INFINITY;
    let mut result = None;
    for _ in 0..3 {
        let start = Instant::now();
        let last = black_box(run());
        best = best.min(start.elapsed().as_secs_f64());
        result = Some(last);
    }
    println!("{what:40} {:7.1} ms  {:6.0} MB/s", best * 1e3, bytes as f64 / best / 1e6);
    result.expect("three runs")
}

fn cut_list(list: &Bytes, chunk: usize, mut take: impl FnMut(Bytes)) {
    let mut splitter = ListSplitter::new();
    for start in (0..list.len()).step_by(chunk) {
        splitter.feed(list.slice(start..list.len().min(start + chunk)));
        while let Some(item) = splitter.next_item() {
            take(item.expect("an item"));
        }
    }
    splitter.finish().expect("a whole list");
}

/// An ordinary pod: two containers with probes, an owner, a status, and two managers' field records.
fn pod(i: usize) -> Value {
    let app = format!("app-{:03}", i % 200);
    let time = "2026-11-30T08:15:00Z";
    let container = |name: &str| {
        let mut env: Vec<Value> = (0..8)
            .map(|e| json!({"name": format!("SETTING_{e}"), "value": format!("value-of-setting-{e}-for-{}", i % 500)}))
            .collect();
        env.push(json!({"name": "NODE", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}}}));
        let probe = json!({"httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"}, "timeoutSeconds": 1,
            "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3});
        json!({"name": name, "image": format!("registry.example.com/team/{name}:v1.2.3"),
            "args": ["--config=/etc/config/app.yaml", "--verbosity=2"], "env": env,
            "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}, {"name": "metrics", "containerPort": 9090, "protocol": "TCP"}],
            "resources": {"limits": {"cpu": "500m", "memory": "512Mi"}, "requests": {"cpu": "100m", "memory": "128Mi"}},
            "volumeMounts": [{"name": "config", "mountPath": "/etc/config"}, {"name": "data", "mountPath": "/var/lib/data"}],
            "livenessProbe": probe, "readinessProbe": probe, "terminationMessagePath": "/dev/termination-log",
            "terminationMessagePolicy": "File", "imagePullPolicy": "IfNotPresent"})
    };
    let fields = |name: &str| {
        let mut env: Value = (0..8)
            .map(|e| {
                (
                    format!("k:{{\"name\":\"SETTING_{e}\"}}"),
                    json!({".": {}, "f:name": {}, "f:value": {}}),
                )
            })
            .collect::<serde_json::Map<_, _>>()
            .into();
        env["k:{\"name\":\"NODE\"}"] =
            json!({".": {}, "f:name": {}, "f:valueFrom": {".": {}, "f:fieldRef": {}}});
        let probe = json!({".": {}, "f:failureThreshold": {}, "f:httpGet": {".": {}, "f:path": {}, "f:port": {}, "f:scheme": {}},
            "f:periodSeconds": {}, "f:successThreshold": {}, "f:timeoutSeconds": {}});
        (
            format!("k:{{\"name\":\"{name}\"}}"),
            json!({".": {}, "f:args": {}, "f:env": env, "f:image": {}, "f:imagePullPolicy": {}, "f:livenessProbe": probe, "f:name": {},
            "f:ports": {".": {}, "k:{\"containerPort\":8080,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}, "f:name": {}, "f:protocol": {}},
                "k:{\"containerPort\":9090,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}, "f:name": {}, "f:protocol": {}}},
            "f:readinessProbe": probe, "f:resources": {".": {}, "f:limits": {".": {}, "f:cpu": {}, "f:memory": {}}, "f:requests": {".": {}, "f:cpu": {}, "f:memory": {}}},
            "f:terminationMessagePath": {}, "f:terminationMessagePolicy": {},
            "f:volumeMounts": {".": {}, "k:{\"mountPath\":\"/etc/config\"}": {".": {}, "f:mountPath": {}, "f:name": {}}, "k:{\"mountPath\":\"/var/lib/data\"}": {".": {}, "f:mountPath": {}, "f:name": {}}}}),
        )
    };
    let conditions =
        ["PodScheduled", "Initialized", "ContainersReady", "Ready", "PodReadyToStartContainers"];
    let container_status = |name: &str| {
        json!({"name": name, "state": {"running": {"startedAt": time}}, "lastState": {}, "ready": true,
        "restartCount": 0, "image": format!("registry.example.com/team/{name}:v1.2.3"), "imageID": format!("registry.example.com/team/{name}@sha256:{:064x}", 12345),
        "containerID": format!("containerd://{i:064x}"), "started": true})
    };
    json!({
        "metadata": {
            "name": format!("{app}-7d9c5b{:04x}-{i:05}", i % 200), "namespace": format!("ns-{:02}", i % 50),
            "uid": format!("7a5e8c1d-9b1e-4c55-8f5e-{i:012}"), "resourceVersion": format!("{}", 1_000_000 + i), "generation": 1,
            "creationTimestamp": time,
            "labels": {"app": app, "app.kubernetes.io/instance": app, "app.kubernetes.io/managed-by": "bench", "app.kubernetes.io/name": "app", "pod-template-hash": format!("7d9c5b{:04x}", i % 200), "tier": "backend"},
            "annotations": {"checksum/config": format!("{i:064x}"), "example.com/last-restarted": time, "prometheus.io/port": "9090", "prometheus.io/scrape": "true"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": format!("{app}-7d9c5b{:04x}", i % 200), "uid": format!("11111111-2222-3333-4444-{:012}", i % 200), "controller": true, "blockOwnerDeletion": true}],
            "managedFields": [
                {"manager": "load", "operation": "Update", "apiVersion": "v1", "time": time, "fieldsType": "FieldsV1", "fieldsV1": {
                    "f:metadata": {"f:annotations": {".": {}, "f:checksum/config": {}, "f:example.com/last-restarted": {}, "f:prometheus.io/port": {}, "f:prometheus.io/scrape": {}},
                        "f:labels": {".": {}, "f:app": {}, "f:app.kubernetes.io/instance": {}, "f:app.kubernetes.io/managed-by": {}, "f:app.kubernetes.io/name": {}, "f:pod-template-hash": {}, "f:tier": {}},
                        "f:ownerReferences": {".": {}, "k:{\"uid\":\"11111111-2222-3333-4444-000000000000\"}": {}}},
                    "f:spec": {"f:containers": Value::from_iter([fields("web"), fields("sidecar")]),
                        "f:dnsPolicy": {}, "f:enableServiceLinks": {}, "f:nodeName": {}, "f:restartPolicy": {}, "f:schedulerName": {}, "f:securityContext": {}, "f:terminationGracePeriodSeconds": {}, "f:tolerations": {},
                        "f:volumes": {".": {}, "k:{\"name\":\"config\"}": {".": {}, "f:configMap": {".": {}, "f:defaultMode": {}, "f:name": {}}, "f:name": {}}, "k:{\"name\":\"data\"}": {".": {}, "f:emptyDir": {}, "f:name": {}}}}}},
                {"manager": "kubelet", "operation": "Update", "apiVersion": "v1", "time": time, "fieldsType": "FieldsV1", "subresource": "status", "fieldsV1": {
                    "f:status": {"f:conditions": Value::from_iter(conditions.iter().map(|c| (format!("k:{{\"type\":\"{c}\"}}"), json!({".": {}, "f:lastProbeTime": {}, "f:lastTransitionTime": {}, "f:status": {}, "f:type": {}})))),
                        "f:containerStatuses": {}, "f:hostIP": {}, "f:phase": {}, "f:podIP": {}, "f:podIPs": {".": {}, "k:{\"ip\":\"10.0.0.1\"}": {".": {}, "f:ip": {}}}, "f:startTime": {}}}},
            ],
        },
        "spec": {"volumes": [{"name": "config", "configMap": {"name": "app-config", "defaultMode": 420}}, {"name": "data", "emptyDir": {}}],
            "containers": [container("web"), container("sidecar")], "restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
            "nodeName": format!("node-{:04}", i % 1000), "securityContext": {}, "schedulerName": "default-scheduler",
            "tolerations": [{"key": "dedicated", "operator": "Equal", "value": "apps", "effect": "NoSchedule"}, {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}],
            "priority": 0, "enableServiceLinks": true, "preemptionPolicy": "PreemptLowerPriority"},
        "status": {"phase": "Running", "conditions": conditions.iter().map(|c| json!({"type": c, "status": "True", "lastProbeTime": null, "lastTransitionTime": time})).collect::<Vec<_>>(),
            "hostIP": format!("192.0.2.{}", i % 250), "podIP": format!("10.{}.{}.{}", i / 65536 % 256, i / 256 % 256, i % 256), "startTime": time,
            "containerStatuses": [container_status("web"), container_status("sidecar")], "qosClass": "Burstable"},
    })
}
