//! Events: the same objects under two names.

mod lab;

use lab::*;
use serde_json::json;

const CORE: &str = "/api/v1/namespaces/default/events";
const NEW: &str = "/apis/events.k8s.io/v1/namespaces/default/events";

#[tokio::test]
async fn one_event_has_two_forms() {
    let lab = Lab::new();
    let start = lab.server.resource_version();
    let mut watch = lab.watch(&format!("{CORE}?watch=1&resourceVersion={start}")).await;
    let mut new_watch = lab.watch(&format!("{NEW}?watch=1&resourceVersion={start}")).await;
    let body = json!({
        "metadata": {"name": "e"}, "eventTime": "2024-01-01T00:00:00.000000Z", "reason": "Pulled",
        "action": "Pulling", "type": "Normal", "note": "done", "reportingController": "lab.test/kubelet",
        "reportingInstance": "n1", "regarding": {"kind": "Pod", "name": "p", "namespace": "default"},
    });
    let made = lab.post(NEW, body).await.ok();
    assert_eq!((&made["apiVersion"], &made["note"]), (&json!("events.k8s.io/v1"), &json!("done")));
    let core = lab.get(&format!("{CORE}/e")).await.ok();
    assert_eq!((&core["apiVersion"], &core["kind"]), (&json!("v1"), &json!("Event")));
    assert_eq!(
        (&core["message"], &core["reportingComponent"]),
        (&json!("done"), &json!("lab.test/kubelet"))
    );
    assert_eq!(core["involvedObject"]["name"], "p");
    assert_eq!(lab.get(&format!("{NEW}/e")).await.ok(), made);
    assert_eq!(watch.next().await.unwrap()["object"], core);
    assert_eq!(new_watch.next().await.unwrap()["object"], made);
    assert_eq!(lab.get(NEW).await.ok()["items"][0]["note"], "done");
    assert_eq!(
        lab.names(&format!("{CORE}?fieldSelector=involvedObject.name%3Dp,reason%3DPulled")).await,
        ["e"]
    );
    assert_eq!(lab.names(&format!("{NEW}?fieldSelector=regarding.kind%3DPod")).await, ["e"]);
    assert_eq!(
        lab.names(&format!("{NEW}?fieldSelector=reportingController%3Dlab.test/kubelet")).await,
        ["e"]
    );
    assert_eq!(lab.names(&format!("{CORE}?fieldSelector=source%3Dlab.test/kubelet")).await, ["e"]);
    lab.get(&format!("{NEW}?fieldSelector=involvedObject.name%3Dp"))
        .await
        .refused(400, "BadRequest");
    // A series is written by patch; the rest of a new event is fixed.
    let series = json!({"series": {"count": 2, "lastObservedTime": "2024-01-01T00:01:00.000000Z"}});
    assert_eq!(lab.merge(&format!("{NEW}/e"), series).await.ok()["series"]["count"], 2);
    lab.merge(&format!("{NEW}/e"), json!({"note": "other"})).await.refused(422, "Invalid");
    assert_eq!(
        lab.merge(&format!("{CORE}/e"), json!({"message": "other"})).await.ok()["message"],
        "other"
    );
    lab.delete(&format!("{NEW}/e")).await.ok();
    lab.get(&format!("{CORE}/e")).await.refused(404, "NotFound");
}

/// B71: what an event must say.
#[tokio::test]
async fn b71_new_events_are_checked_strictly() {
    let lab = Lab::new();
    let message = lab
        .post(NEW, json!({"metadata": {"name": "e"}, "type": "Odd"}))
        .await
        .refused(422, "Invalid");
    assert!(message.contains("eventTime: Required value"), "{message}");
    assert!(message.contains("type: Invalid value: \"\": has invalid value: Odd"), "{message}");
    let message = lab
        .post(NEW, json!({"metadata": {"name": "e"}, "type": "Normal", "eventTime": "2024-01-01T00:00:00.000000Z"}))
        .await
        .refused(422, "Invalid");
    for field in ["action", "reason", "reportingController", "reportingInstance"] {
        assert!(message.contains(&format!("{field}: Required value")), "{message}");
    }
    // About an object without a namespace: in `default`.
    let event =
        json!({"metadata": {"name": "e"}, "involvedObject": {"kind": "Node", "name": "n1"}});
    lab.post(CORE, event.clone()).await.ok();
    lab.namespace("lab").await;
    let message = lab.post("/api/v1/namespaces/lab/events", event).await.refused(422, "Invalid");
    assert!(
        message.contains(
            "involvedObject.namespace: Invalid value: \"\": does not match event.namespace"
        )
    );
}
