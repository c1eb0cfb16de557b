//! Deletion: finalizers, grace, policies, preconditions, collections, namespaces.

mod lab;

use lab::*;
use serde_json::{Value, json};

/// B32 and the details of the answer.
#[tokio::test]
async fn b32_a_delete_answers_a_status_or_the_object_that_stays() {
    let lab = Lab::new();
    let made = lab.config_map("a").await;
    let path = format!("{CONFIG_MAPS}/a");
    let gone = lab.delete(&path).await;
    assert_eq!(gone.code, 200);
    assert_eq!(
        gone.body,
        json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
            "details": {"name": "a", "kind": "configmaps", "uid": made["metadata"]["uid"]},
        })
    );
    assert_eq!(lab.delete(&path).await.refused(404, "NotFound"), "configmaps \"a\" not found");
    lab.post(CONFIG_MAPS, json!({"metadata": {"name": "a", "finalizers": ["lab.test/x"]}}))
        .await
        .ok();
    let stays = lab.delete(&path).await.ok();
    assert_eq!(stays["kind"], "ConfigMap");
    assert_eq!(stays["metadata"]["deletionGracePeriodSeconds"], 0);
    let set = lab.post(REPLICA_SETS, replica_set("rs")).await.ok();
    let gone = lab.delete(&format!("{REPLICA_SETS}/rs")).await.ok();
    assert_eq!(
        gone["details"],
        json!({"name": "rs", "group": "apps", "kind": "replicasets", "uid": set["metadata"]["uid"]})
    );
}

/// B81, with a watch beside it.
#[tokio::test]
async fn b81_an_object_with_finalizers_ends_once_and_in_order() {
    let lab = Lab::new();
    let body =
        json!({"metadata": {"name": "w", "finalizers": ["lab.test/x"]}, "spec": {"size": 1}});
    let made = lab.post(WIDGETS, body).await.ok();
    let mut watch =
        lab.watch(&format!("{WIDGETS}?watch=true&resourceVersion={}", version(&made))).await;
    let path = format!("{WIDGETS}/w");

    let mut set = made.clone();
    set["metadata"]["deletionTimestamp"] = "2030-01-01T00:00:00Z".into();
    let refused = lab.put(&path, set).await;
    refused.refused(422, "Invalid");
    assert_eq!(refused.cause()["field"], "metadata.deletionTimestamp");

    let marked = lab.delete(&path).await.ok();
    assert_eq!(marked["metadata"]["generation"], 2);
    let again = lab.delete(&path).await.ok();
    assert_eq!(again, marked, "the second delete changes nothing");

    let mut cleared = marked.clone();
    cleared["metadata"].as_object_mut().unwrap().remove("deletionTimestamp");
    assert_eq!(lab.put(&path, cleared).await.ok(), marked);
    let mut changed = marked.clone();
    changed["metadata"]["deletionTimestamp"] = "2040-01-01T00:00:00Z".into();
    assert_eq!(lab.put(&path, changed).await.ok(), marked);

    let refused =
        lab.merge(&path, json!({"metadata": {"finalizers": ["lab.test/x", "lab.test/y"]}})).await;
    assert!(
        refused
            .refused(422, "Invalid")
            .contains("no new finalizers can be added if the object is being deleted")
    );
    assert_eq!(refused.cause()["field"], "metadata.finalizers");
    assert_eq!(refused.cause()["reason"], "FieldValueForbidden");

    let spec = lab.merge(&path, json!({"spec": {"size": 2}})).await.ok();
    assert_eq!(spec["metadata"]["generation"], 3);
    let last = lab.merge(&path, json!({"metadata": {"finalizers": null}})).await.ok();
    assert_eq!(last["spec"]["size"], 2);
    lab.get(&path).await.refused(404, "NotFound");

    watch.expect("MODIFIED", "w").await;
    watch.expect("MODIFIED", "w").await;
    let deleted = watch.next().await.unwrap();
    assert_eq!(deleted["type"], "DELETED");
    assert!(version(&deleted["object"]) > version(&spec));
    // The same by a replacement, and nothing more comes of the first object.
    let made = lab
        .post(WIDGETS, json!({"metadata": {"name": "v", "finalizers": ["lab.test/x"]}}))
        .await
        .ok();
    let mut marked = lab.delete(&format!("{WIDGETS}/v")).await.ok();
    marked["metadata"]["finalizers"] = json!([]);
    lab.put(&format!("{WIDGETS}/v"), marked).await.ok();
    watch.expect("ADDED", "v").await;
    watch.expect("MODIFIED", "v").await;
    watch.expect("DELETED", "v").await;
    drop(made);
}

#[tokio::test]
async fn b81_preconditions_must_hold() {
    let lab = Lab::new();
    let made = lab.config_map("a").await;
    let path = format!("{CONFIG_MAPS}/a");
    for wrong in [json!({"uid": "other"}), json!({"resourceVersion": "1"})] {
        let refused = lab.delete_with(&path, json!({"preconditions": wrong})).await;
        assert!(refused.refused(409, "Conflict").contains("in the precondition"));
    }
    let right = json!({
        "kind": "DeleteOptions", "apiVersion": "v1",
        "preconditions": {"uid": made["metadata"]["uid"], "resourceVersion": made["metadata"]["resourceVersion"]},
    });
    lab.delete_with(&path, right).await.ok();
}

#[tokio::test]
async fn an_unassigned_pod_goes_at_once_and_is_answered() {
    let lab = Lab::new();
    let made = lab.post(PODS, pod("a", None)).await.ok();
    let mut watch = lab.watch(&format!("{PODS}?watch=1&resourceVersion={}", version(&made))).await;
    let answer = lab.delete(&format!("{PODS}/a")).await.ok();
    assert_eq!((&answer["kind"], &answer["metadata"]["name"]), (&json!("Pod"), &json!("a")));
    lab.get(&format!("{PODS}/a")).await.refused(404, "NotFound");
    watch.expect("MODIFIED", "a").await;
    watch.expect("DELETED", "a").await;
}

#[tokio::test(start_paused = true)]
async fn an_assigned_pod_gets_its_grace_which_only_shrinks() {
    let wall = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
    let lab = Lab::of(kubewright_devserver::DevServer::builder().wall_clock(wall));
    lab.post(PODS, pod("a", Some("n1"))).await.ok();
    let path = format!("{PODS}/a");
    tokio::time::advance(std::time::Duration::from_secs(100)).await;
    let stays = lab.delete(&path).await.ok();
    let ends = |pod: &Value| pod["metadata"]["deletionTimestamp"].as_str().unwrap().to_owned();
    assert_eq!(stays["metadata"]["creationTimestamp"], "2023-11-14T22:13:20Z");
    assert_eq!(ends(&stays), "2023-11-14T22:15:30Z");
    assert_eq!(stays["metadata"]["deletionGracePeriodSeconds"], 30);
    assert_eq!(stays["metadata"]["generation"], 2);
    assert_eq!(lab.delete(&path).await.ok(), stays);
    assert_eq!(lab.delete_with(&path, json!({"gracePeriodSeconds": 60})).await.ok(), stays);
    let shorter = lab.delete(&format!("{path}?gracePeriodSeconds=10")).await.ok();
    assert_eq!(ends(&shorter), "2023-11-14T22:15:10Z");
    assert_eq!(shorter["metadata"]["deletionGracePeriodSeconds"], 10);
    lab.delete_with(&path, json!({"gracePeriodSeconds": 0})).await.ok();
    lab.get(&path).await.refused(404, "NotFound");
}

#[tokio::test]
async fn a_pod_with_grace_and_finalizers_waits_for_both() {
    let lab = Lab::new();
    let mut body = pod("a", Some("n1"));
    body["metadata"]["finalizers"] = json!(["lab.test/x"]);
    lab.post(PODS, body).await.ok();
    let path = format!("{PODS}/a");
    lab.delete(&path).await.ok();
    let ended = lab.delete_with(&path, json!({"gracePeriodSeconds": 0})).await.ok();
    assert_eq!(ended["metadata"]["deletionGracePeriodSeconds"], 0);
    lab.merge(&path, json!({"metadata": {"finalizers": null}})).await.ok();
    lab.get(&path).await.refused(404, "NotFound");
}

#[tokio::test]
async fn policies_leave_the_object_to_the_collector() {
    let lab = Lab::new();
    for (policy, finalizer) in [("Orphan", "orphan"), ("Foreground", "foregroundDeletion")] {
        lab.post(REPLICA_SETS, replica_set("rs")).await.ok();
        let path = format!("{REPLICA_SETS}/rs");
        let stays = lab.delete_with(&path, json!({"propagationPolicy": policy})).await.ok();
        assert_eq!(stays["metadata"]["finalizers"], json!([finalizer]));
        assert!(stays["metadata"]["deletionTimestamp"].is_string());
        lab.merge(&path, json!({"metadata": {"finalizers": null}})).await.ok();
        lab.get(&path).await.refused(404, "NotFound");
    }
    lab.post(REPLICA_SETS, replica_set("rs")).await.ok();
    let path = format!("{REPLICA_SETS}/rs");
    lab.delete(&format!("{path}?propagationPolicy=Sideways")).await.refused(422, "Invalid");
    let both = json!({"propagationPolicy": "Orphan", "orphanDependents": true});
    lab.delete_with(&path, both).await.refused(422, "Invalid");
    lab.delete(&format!("{path}?propagationPolicy=Background&dryRun=All")).await.ok();
    lab.delete(&format!("{path}?propagationPolicy=Background")).await.ok();
    lab.get(&path).await.refused(404, "NotFound");
}

#[tokio::test]
async fn a_namespace_ends_in_two_steps() {
    let lab = Lab::new();
    let made = lab.namespace("lab").await;
    let path = "/api/v1/namespaces/lab";
    let mut watch =
        lab.watch(&format!("/api/v1/namespaces?watch=1&resourceVersion={}", version(&made))).await;
    let marked = lab.delete(path).await.ok();
    assert_eq!(marked["status"]["phase"], "Terminating");
    assert_eq!(marked["spec"]["finalizers"], json!(["kubernetes"]));
    assert_eq!(lab.delete(path).await.ok(), marked);
    // Only /finalize may change the list.
    let mut emptied = marked.clone();
    emptied["spec"]["finalizers"] = json!([]);
    assert_eq!(lab.put(path, emptied.clone()).await.ok(), marked);
    lab.put(&format!("{path}/finalize"), emptied).await.ok();
    lab.get(path).await.refused(404, "NotFound");
    watch.expect("MODIFIED", "lab").await;
    watch.expect("DELETED", "lab").await;
    assert_eq!(
        lab.delete("/api/v1/namespaces/default").await.refused(403, "Forbidden"),
        "namespaces \"default\" is forbidden: this namespace may not be deleted"
    );
}

#[tokio::test]
async fn a_namespace_that_ends_cannot_be_declared_active() {
    let lab = Lab::new();
    lab.namespace("lab").await;
    let status = "/api/v1/namespaces/lab/status";
    let ending = json!({"status": {"phase": "Terminating"}});
    let refused = lab.merge(status, ending.clone()).await;
    refused.refused(422, "Invalid");
    assert_eq!(refused.cause()["field"], "status.Phase");
    lab.delete("/api/v1/namespaces/lab").await.ok();
    for active in [json!({"phase": "Active"}), json!({"phase": null}), Value::Null] {
        lab.merge(status, json!({"status": active})).await.refused(422, "Invalid");
    }
    let still = lab.merge(status, ending).await.ok();
    assert_eq!(still["status"]["phase"], "Terminating");
}

/// Kinds that do not count generations keep the one they are given, however large.
#[tokio::test]
async fn the_largest_generation_is_no_obstacle() {
    let lab = Lab::new();
    let body =
        json!({"metadata": {"name": "a", "generation": i64::MAX, "finalizers": ["lab.test/x"]}});
    lab.post(CONFIG_MAPS, body).await.ok();
    let marked = lab.delete(&format!("{CONFIG_MAPS}/a")).await.ok();
    assert_eq!(marked["metadata"]["generation"], i64::MAX);
}

#[tokio::test]
async fn a_collection_is_deleted_by_selector_and_answered_as_a_list() {
    let lab = Lab::new();
    for (name, app) in [("a", "x"), ("b", "y"), ("c", "x")] {
        lab.post(CONFIG_MAPS, json!({"metadata": {"name": name, "labels": {"app": app}}}))
            .await
            .ok();
    }
    let answer = lab.delete(&format!("{CONFIG_MAPS}?labelSelector=app%3Dx")).await.ok();
    assert_eq!(answer["kind"], "ConfigMapList");
    assert_eq!(names(&answer), ["a", "c"]);
    assert_eq!(lab.names(CONFIG_MAPS).await, ["b"]);
    // B23: a bad selector deletes nothing.
    lab.delete(&format!("{CONFIG_MAPS}?labelSelector=app%3D_lab")).await.refused(400, "BadRequest");
    lab.delete(&format!("{CONFIG_MAPS}?fieldSelector=spec.bogus%3D1"))
        .await
        .refused(400, "BadRequest");
    assert_eq!(lab.names(CONFIG_MAPS).await, ["b"]);
    lab.delete(&format!("{CONFIG_MAPS}?dryRun=All")).await.ok();
    assert_eq!(lab.names(CONFIG_MAPS).await, ["b"]);
    lab.delete(&format!("{CONFIG_MAPS}?fieldSelector=metadata.name%3Db")).await.ok();
    assert!(lab.names(CONFIG_MAPS).await.is_empty());
    lab.delete("/api/v1/namespaces").await.refused(405, "MethodNotAllowed");
    lab.delete("/api/v1/configmaps").await.refused(405, "MethodNotAllowed");
}

/// B28: a real server takes a trailing slash for the collection; it is never an object named "".
#[tokio::test]
async fn b28_a_trailing_slash_means_the_collection() {
    let lab = Lab::new();
    lab.config_map("a").await;
    assert_eq!(lab.names(&format!("{CONFIG_MAPS}/")).await, ["a"]);
    let answer = lab.delete(&format!("{CONFIG_MAPS}/")).await.ok();
    assert_eq!(
        (answer["kind"].as_str(), names(&answer)),
        (Some("ConfigMapList"), vec!["a".to_owned()])
    );
    lab.delete("/api/v1/namespaces//configmaps/a").await.refused(404, "NotFound");
    lab.delete(&format!("{CONFIG_MAPS}/a%2Fb")).await.refused(404, "NotFound");
}

#[tokio::test]
async fn a_uid_in_the_query_is_a_precondition() {
    let lab = Lab::new();
    let made = lab.config_map("a").await;
    let path = format!("{CONFIG_MAPS}/a");
    lab.delete(&format!("{path}?uid=other")).await.refused(409, "Conflict");
    lab.raw("DELETE", &path, &[("content-type", "application/json")], "[]")
        .await
        .refused(400, "BadRequest");
    let uid = made["metadata"]["uid"].as_str().unwrap();
    lab.delete(&format!("{path}?uid={uid}")).await.ok();
}
