//! Replacing objects: versions, generations, and which part a path may write.

mod lab;

use lab::*;
use serde_json::{Value, json};

#[tokio::test]
async fn optimistic_concurrency() {
    let lab = Lab::new();
    let made = lab.config_map("a").await;
    let path = format!("{CONFIG_MAPS}/a");
    let mut newer = made.clone();
    newer["data"]["a"] = "2".into();
    let written = lab.put(&path, newer.clone()).await.ok();
    assert!(version(&written) > version(&made));
    let refused = lab.put(&path, newer.clone()).await;
    assert_eq!(
        refused.refused(409, "Conflict"),
        "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your changes to the latest version and try again"
    );
    assert_eq!(refused.body["details"], json!({"kind": "configmaps", "name": "a"}));
    // Without a version: allowed for most built-in kinds, not for custom ones.
    newer["metadata"].as_object_mut().unwrap().remove("resourceVersion");
    newer["data"]["a"] = "3".into();
    lab.put(&path, newer).await.ok();
    lab.post(WIDGETS, json!({"metadata": {"name": "w"}})).await.ok();
    let message = lab
        .put(&format!("{WIDGETS}/w"), json!({"metadata": {"name": "w"}}))
        .await
        .refused(422, "Invalid");
    assert_eq!(
        message,
        "widgets.lab.test \"w\" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update"
    );
}

#[tokio::test]
async fn identity_cannot_be_changed() {
    let lab = Lab::new();
    let made = lab.config_map("a").await;
    let path = format!("{CONFIG_MAPS}/a");
    let mut other = made.clone();
    other["metadata"]["uid"] = "other".into();
    lab.put(&path, other).await.refused(409, "Conflict");
    let mut other = made.clone();
    other["metadata"]["name"] = "b".into();
    assert_eq!(
        lab.put(&path, other).await.refused(400, "BadRequest"),
        "the name of the object (b) does not match the name on the URL (a)"
    );
    let missing = lab.put(&format!("{CONFIG_MAPS}/b"), json!({"metadata": {"name": "b"}})).await;
    assert_eq!(missing.refused(404, "NotFound"), "configmaps \"b\" not found");
    let mut aged = made.clone();
    aged["metadata"]["creationTimestamp"] = "2001-01-01T00:00:00Z".into();
    assert_eq!(lab.put(&path, aged).await.ok(), made);
    // Through a patch too.
    lab.merge(&path, json!({"metadata": {"uid": "other"}})).await.refused(422, "Invalid");
    lab.merge(&path, json!({"metadata": {"name": "b"}})).await.refused(400, "BadRequest");
    lab.merge(&path, json!({"metadata": {"namespace": "b"}})).await.refused(400, "BadRequest");
    lab.merge(&path, json!({"kind": "Secret"})).await.refused(422, "Invalid");
    lab.merge(&path, json!({"metadata": {"resourceVersion": "1"}})).await.refused(409, "Conflict");
}

#[tokio::test]
async fn a_write_without_a_difference_is_no_write() {
    let lab = Lab::new();
    let made = lab.config_map("a").await;
    let path = format!("{CONFIG_MAPS}/a");
    let version = lab.server.resource_version();
    assert_eq!(lab.put(&path, made.clone()).await.ok(), made);
    assert_eq!(lab.merge(&path, json!({"data": {"a": "1"}})).await.ok(), made);
    // What Go clients write for "nothing" is nothing.
    let mut noisy = made.clone();
    noisy["metadata"]["labels"] = json!({});
    noisy["metadata"]["finalizers"] = Value::Null;
    noisy["metadata"]["creationTimestamp"] = Value::Null;
    noisy["binaryData"] = Value::Null;
    assert_eq!(lab.put(&path, noisy).await.ok(), made);
    assert_eq!(lab.server.resource_version(), version);
}

/// B82: generation and the status subresource.
#[tokio::test]
async fn b82_status_and_generation_with_the_subresource() {
    let lab = Lab::new();
    let body = json!({"metadata": {"name": "w", "labels": {"l": "1"}}, "spec": {"size": 1}});
    lab.post(WIDGETS, body).await.ok();
    let (path, status) = (format!("{WIDGETS}/w"), format!("{WIDGETS}/w/status"));
    let generation = |object: &Value| object["metadata"]["generation"].as_i64().unwrap();

    let patch =
        json!({"metadata": {"labels": {"l": "2"}}, "spec": {"size": 9}, "status": {"ready": 1}});
    let seen = lab.merge(&status, patch).await.ok();
    assert_eq!((generation(&seen), &seen["status"]["ready"]), (1, &json!(1)));
    assert_eq!((&seen["spec"]["size"], &seen["metadata"]["labels"]["l"]), (&json!(1), &json!("1")));

    let mut main = seen.clone();
    main["status"]["ready"] = 5.into();
    assert_eq!(lab.put(&path, main).await.ok(), seen, "the main resource ignores status");
    let mut gone = seen.clone();
    gone.as_object_mut().unwrap().remove("status");
    assert_eq!(lab.put(&path, gone).await.ok(), seen);

    let labelled = lab.merge(&path, json!({"metadata": {"labels": {"l": "3"}}})).await.ok();
    assert_eq!(generation(&labelled), 1);
    assert!(version(&labelled) > version(&seen));

    let grown = lab.merge(&path, json!({"spec": {"size": 2}})).await.ok();
    assert_eq!((generation(&grown), &grown["status"]["ready"]), (2, &json!(1)));

    let mut forged = grown.clone();
    forged["metadata"]["generation"] = 77.into();
    assert_eq!(lab.put(&path, forged).await.ok(), grown);

    let mut replaced = grown.clone();
    replaced["status"] = json!({"ready": 8});
    replaced["spec"] = json!({"size": 50});
    let seen = lab.put(&status, replaced).await.ok();
    assert_eq!((&seen["status"]["ready"], &seen["spec"]["size"]), (&json!(8), &json!(2)));
    assert_eq!(lab.get(&status).await.ok(), seen);
}

#[tokio::test]
async fn b82_without_the_subresource_status_is_part_of_generation() {
    let lab = Lab::new();
    lab.post(PLAINS, json!({"metadata": {"name": "p"}, "status": {"x": 1}})).await.ok();
    let path = format!("{PLAINS}/p");
    let seen = lab.merge(&path, json!({"status": {"x": 2}})).await.ok();
    assert_eq!((&seen["status"]["x"], &seen["metadata"]["generation"]), (&json!(2), &json!(2)));
    lab.get(&format!("{path}/status")).await.refused(404, "NotFound");
}

#[tokio::test]
async fn deployments_count_annotations_replica_sets_do_not() {
    let lab = Lab::new();
    lab.post(REPLICA_SETS, replica_set("a")).await.ok();
    lab.post(DEPLOYMENTS, replica_set("a")).await.ok();
    let annotate = json!({"metadata": {"annotations": {"x": "1"}}});
    let generation = |object: Value| object["metadata"]["generation"].clone();
    assert_eq!(generation(lab.merge(&format!("{REPLICA_SETS}/a"), annotate.clone()).await.ok()), 1);
    assert_eq!(generation(lab.merge(&format!("{DEPLOYMENTS}/a"), annotate).await.ok()), 2);
    let selector = json!({"spec": {"selector": {"matchLabels": {"more": "1"}}, "template": {"metadata": {"labels": {"more": "1"}}}}});
    let message = lab.merge(&format!("{REPLICA_SETS}/a"), selector).await.refused(422, "Invalid");
    assert!(
        message.contains("spec.selector: Invalid value") && message.contains("field is immutable")
    );
}

#[tokio::test]
async fn a_pod_keeps_its_spec_apart_from_images() {
    let lab = Lab::new();
    lab.post(PODS, pod("a", None)).await.ok();
    let path = format!("{PODS}/a");
    let refused = lab.merge(&path, json!({"spec": {"nodeName": "n1"}})).await;
    assert!(
        refused.refused(422, "Invalid").contains("pod updates may not change fields other than")
    );
    assert_eq!(refused.cause()["reason"], "FieldValueForbidden");
    let image =
        json!([{"op": "replace", "path": "/spec/containers/0/image", "value": "busybox:2"}]);
    let seen = lab.json_patch(&path, image).await.ok();
    assert_eq!(seen["metadata"]["generation"], 2);
}

#[tokio::test]
async fn put_creates_where_the_kind_allows_it() {
    let lab = Lab::new();
    let path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l";
    let made =
        lab.put(path, json!({"metadata": {"name": "l"}, "spec": {"holderIdentity": "a"}})).await;
    assert_eq!(made.code, 201);
    assert_eq!(lab.get(path).await.ok(), made.body);
}

#[tokio::test]
async fn a_dry_run_of_an_update_changes_nothing() {
    let lab = Lab::new();
    let made = lab.config_map("a").await;
    let path = format!("{CONFIG_MAPS}/a");
    let mut newer = made.clone();
    newer["data"]["a"] = "2".into();
    let seen = lab.put(&format!("{path}?dryRun=All"), newer).await.ok();
    assert_eq!(seen["data"]["a"], "2");
    let seen = lab.merge(&format!("{path}?dryRun=All"), json!({"data": {"a": "3"}})).await.ok();
    assert_eq!(seen["data"]["a"], "3");
    assert_eq!(lab.get(&path).await.ok(), made);
}

/// B68, as far as managed fields are not kept: parameters are accepted, bodies with them do no harm.
#[tokio::test]
async fn b68_managed_fields_in_a_body_are_dropped() {
    let lab = Lab::new();
    for entries in
        [json!([{}]), json!([{"manager": "m", "operation": "Update", "fieldsV1": {"f:data": {}}}])]
    {
        let body = json!({"metadata": {"generateName": "a-", "managedFields": entries}});
        let made = lab.post(&format!("{CONFIG_MAPS}?fieldManager=lab"), body).await.ok();
        assert!(made["metadata"].get("managedFields").is_none());
    }
}

#[tokio::test]
async fn short_finalizer_names_are_refused_on_update_too() {
    let lab = Lab::new();
    let mut object = lab.config_map("a").await;
    object["metadata"]["finalizers"] = json!(["short"]);
    let refused = lab.put(&format!("{CONFIG_MAPS}/a"), object).await;
    refused.refused(422, "Invalid");
    assert_eq!(refused.cause()["field"], "metadata.finalizers[0]");
}

/// As Go's maps of texts have it.
#[tokio::test]
async fn maps_of_texts_hold_texts_only_and_are_never_empty() {
    let lab = Lab::new();
    let made = lab.post(CONFIG_MAPS, json!({"metadata": {"name": "a"}, "data": {}})).await.ok();
    assert!(made.get("data").is_none());
    let path = format!("{CONFIG_MAPS}/a");
    let same = lab.merge(&path, json!({"data": {"k": null}})).await.ok();
    assert_eq!(same, made);
    let mut object = made.clone();
    object["data"] = json!({"k": null});
    assert_eq!(lab.put(&path, object.clone()).await.ok()["data"], json!({"k": ""}));
    for wrong in [json!("x"), json!([1]), json!({"k": 1})] {
        object["metadata"]["resourceVersion"] = json!(null);
        object["data"] = wrong.clone();
        lab.put(&path, object.clone()).await.refused(400, "BadRequest");
        lab.merge(&path, json!({"data": wrong})).await.refused(422, "Invalid");
    }
}
