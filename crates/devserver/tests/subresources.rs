//! `/scale`, `/binding`, `/eviction`.

mod lab;

use lab::*;
use serde_json::json;

#[tokio::test]
async fn scale_is_read_replaced_and_patched() {
    let lab = Lab::new();
    let made = lab.post(REPLICA_SETS, replica_set("rs")).await.ok();
    let path = format!("{REPLICA_SETS}/rs/scale");
    let scale = lab.get(&path).await.ok();
    assert_eq!((&scale["kind"], &scale["apiVersion"]), (&json!("Scale"), &json!("autoscaling/v1")));
    assert_eq!(scale["spec"], json!({"replicas": 2}));
    assert_eq!(scale["status"], json!({"replicas": 0, "selector": "app=web"}));
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        assert_eq!(scale["metadata"][field], made["metadata"][field], "{field}");
    }
    let mut five = scale.clone();
    five["spec"]["replicas"] = 5.into();
    let written = lab.put(&path, five.clone()).await.ok();
    assert_eq!((&written["kind"], &written["spec"]["replicas"]), (&json!("Scale"), &json!(5)));
    lab.put(&path, five).await.refused(409, "Conflict");
    let patched = lab.merge(&path, json!({"spec": {"replicas": 7}})).await.ok();
    assert_eq!(patched["spec"]["replicas"], 7);
    let set = lab.get(&format!("{REPLICA_SETS}/rs")).await.ok();
    assert_eq!((&set["spec"]["replicas"], &set["metadata"]["generation"]), (&json!(7), &json!(3)));
    lab.merge(&path, json!({"spec": {"replicas": -1}})).await.refused(422, "Invalid");
    lab.merge(&path, json!({"spec": {"replicas": "x"}})).await.refused(422, "Invalid");
    lab.get(&format!("{REPLICA_SETS}/nope/scale")).await.refused(404, "NotFound");
    lab.get(&format!("{PODS}/a/scale")).await.refused(404, "NotFound");
    lab.delete(&path).await.refused(405, "MethodNotAllowed");
}

#[tokio::test]
async fn custom_kinds_scale_too() {
    let lab = Lab::new();
    lab.post(WIDGETS, json!({"metadata": {"name": "w"}, "spec": {"replicas": 1}})).await.ok();
    let path = format!("{WIDGETS}/w/scale");
    // Without a version in it, although the kind asks for one elsewhere.
    lab.put(&path, json!({"metadata": {"name": "w"}, "spec": {"replicas": 4}})).await.ok();
    assert_eq!(lab.get(&format!("{WIDGETS}/w")).await.ok()["spec"]["replicas"], 4);
}

#[tokio::test]
async fn a_pod_is_bound_once() {
    let lab = Lab::new();
    let made = lab.post(PODS, pod("a", None)).await.ok();
    let path = format!("{PODS}/a/binding");
    let binding = |node: &str| {
        json!({
            "apiVersion": "v1", "kind": "Binding", "metadata": {"name": "a", "uid": made["metadata"]["uid"]},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        })
    };
    let answer = lab.post(&path, binding("n1")).await;
    assert_eq!((answer.code, &answer.body["status"]), (201, &json!("Success")));
    let bound = lab.get(&format!("{PODS}/a")).await.ok();
    assert_eq!(bound["spec"]["nodeName"], "n1");
    assert_eq!(bound["status"]["conditions"][0]["type"], "PodScheduled");
    let refused = lab.post(&path, binding("n2")).await;
    assert_eq!(
        refused.refused(409, "Conflict"),
        "Operation cannot be fulfilled on pods/binding \"a\": pod a is already assigned to node \"n1\""
    );
    lab.post(&path, json!({"target": {}})).await.refused(400, "BadRequest");
    lab.get(&path).await.refused(405, "MethodNotAllowed");
    lab.post(&format!("{PODS}/b/binding"), json!({"target": {"name": "n1"}}))
        .await
        .refused(404, "NotFound");
    // Field selectors see it.
    assert_eq!(lab.names(&format!("{PODS}?fieldSelector=spec.nodeName%3Dn1")).await, ["a"]);
}

#[tokio::test]
async fn an_eviction_is_a_deletion() {
    let lab = Lab::new();
    lab.post(PODS, pod("a", Some("n1"))).await.ok();
    let path = format!("{PODS}/a/eviction");
    let eviction = json!({
        "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "a"},
        "deleteOptions": {"gracePeriodSeconds": 5},
    });
    assert_eq!(lab.post(&path, eviction).await.code, 201);
    assert_eq!(
        lab.get(&format!("{PODS}/a")).await.ok()["metadata"]["deletionGracePeriodSeconds"],
        5
    );
}

#[tokio::test]
async fn a_scale_of_another_namespace_is_refused() {
    let lab = Lab::new();
    lab.post(REPLICA_SETS, replica_set("rs")).await.ok();
    let scale = json!({"metadata": {"name": "rs", "namespace": "other"}, "spec": {"replicas": 4}});
    let refused = lab.put(&format!("{REPLICA_SETS}/rs/scale"), scale).await;
    refused.refused(400, "BadRequest");
}
