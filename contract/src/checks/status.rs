//! The sub-resource `/status`.

use http::Method;
use serde_json::json;

use crate::check::{Outcome, checks};
use crate::context::At;
use crate::objects::{config_map, deployment, pod, replica_set};
use crate::{Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("status":
        status_is_ignored_on_create,
        status_is_ignored_by_the_main_resource,
        spec_is_ignored_by_the_status_resource,
        a_status_does_not_raise_the_generation,
        the_status_resource_gives_the_whole_object,
        a_status_is_patched_in_either_way,
        an_old_version_of_a_status_is_a_conflict,
        the_same_status_keeps_the_version_and_sends_no_event,
        metadata_written_with_a_status_depends_on_the_kind,
        a_status_of_nothing_is_not_found,
        a_status_under_another_name_is_refused,
        a_status_resource_takes_no_other_verbs,
        a_kind_without_status_has_no_such_path,
    )
}

const STATUS: &str = "replicasets/a/status";
async fn status_is_ignored_on_create(context: Context) -> Outcome {
    for (resource, mut object) in
        [("replicasets", replica_set("a")), ("deployments", deployment("a"))]
    {
        object["status"] = json!({"replicas": 7, "observedGeneration": 7});
        let made = context.create(resource, object).await?;
        ensure!(made["status"].get("observedGeneration").is_none(), "it was taken: {made}");
        ensure!(made["status"]["replicas"] != 7, "it was taken: {made}");
    }
    let mut object = pod("a");
    object["status"] = json!({"phase": "Running", "podIP": "10.0.0.1"});
    let made = context.create("pods", object).await?;
    ensure_eq!(made.at("/status/phase"), "Pending", "the phase");
    ensure_eq!(made.at("/status/podIP"), "", "the address");
    Ok(())
}

async fn status_is_ignored_by_the_main_resource(context: Context) -> Outcome {
    let made = context.create("replicasets", replica_set("a")).await?;
    let patch = json!({"status": {"replicas": 7}});
    ensure_eq!(context.merge("replicasets/a", patch).await?.expect(200)?, made, "after a patch");
    let mut object = made.clone();
    object["status"] = json!({"replicas": 7});
    ensure_eq!(context.put("replicasets/a", &object).await?.expect(200)?, made, "after an update");
    Ok(())
}

async fn spec_is_ignored_by_the_status_resource(context: Context) -> Outcome {
    let made = context.create("replicasets", replica_set("a")).await?;
    let mut object = made.clone();
    object["spec"]["replicas"] = json!(9);
    object["status"] = json!({"replicas": 2});
    let written = context.put(STATUS, &object).await?.expect(200)?;
    ensure_eq!(written["spec"], made["spec"], "the spec");
    ensure_eq!(written["status"]["replicas"], 2, "the status");
    ensure_eq!(context.read("replicasets/a").await?, written, "what is stored");
    Ok(())
}

/// B82.
async fn a_status_does_not_raise_the_generation(context: Context) -> Outcome {
    for (resource, object) in [("replicasets", replica_set("a")), ("deployments", deployment("a"))]
    {
        context.create(resource, object).await?;
        let patch = json!({"status": {"replicas": 2, "observedGeneration": 1}});
        let written = context.merge(&format!("{resource}/a/status"), patch).await?.expect(200)?;
        ensure_eq!(written["metadata"]["generation"], 1, "the generation of {resource}");
        ensure_eq!(written["status"]["observedGeneration"], 1, "what its status has seen");
    }
    Ok(())
}

async fn the_status_resource_gives_the_whole_object(context: Context) -> Outcome {
    let made = context.create("replicasets", replica_set("a")).await?;
    ensure_eq!(context.read(STATUS).await?, made, "the object");
    Ok(())
}

async fn a_status_is_patched_in_either_way(context: Context) -> Outcome {
    context.create("pods", pod("a")).await?;
    let path = "pods/a/status";
    let patch = json!({"status": {"phase": "Running", "message": "m"}});
    let written = context.merge(path, patch).await?.expect(200)?;
    ensure_eq!(written.at("/status/phase"), "Running", "the phase");
    let patch = json!([
        {"op": "replace", "path": "/status/phase", "value": "Failed"},
        {"op": "remove", "path": "/status/message"},
    ]);
    let written = context.json_patch(path, patch).await?.expect(200)?;
    ensure_eq!(written.at("/status/phase"), "Failed", "the phase");
    ensure!(written["status"].get("message").is_none(), "the message is still there: {written}");
    Ok(())
}

async fn an_old_version_of_a_status_is_a_conflict(context: Context) -> Outcome {
    let mut object = context.create("replicasets", replica_set("a")).await?;
    object["status"] = json!({"replicas": 1});
    context.put(STATUS, &object).await?.expect(200)?;
    object["status"] = json!({"replicas": 2});
    context.put(STATUS, &object).await?.refused(409, "Conflict")?;
    Ok(())
}

/// B82.
async fn the_same_status_keeps_the_version_and_sends_no_event(context: Context) -> Outcome {
    context.create("replicasets", replica_set("a")).await?;
    let patch = json!({"status": {"replicas": 2}});
    let written = context.merge(STATUS, patch.clone()).await?.expect(200)?;
    let path = format!("replicasets?resourceVersion={}", written.version());
    let mut watch = context.watch(&path).await?;
    ensure_eq!(context.merge(STATUS, patch).await?.expect(200)?, written, "after a patch");
    ensure_eq!(context.put(STATUS, &written).await?.expect(200)?, written, "after an update");
    context.create("replicasets", replica_set("b")).await?;
    watch.expect("ADDED", "b").await?;
    Ok(())
}

async fn metadata_written_with_a_status_depends_on_the_kind(context: Context) -> Outcome {
    for (resource, object, takes_labels) in
        [("replicasets", replica_set("a"), true), ("deployments", deployment("a"), false)]
    {
        context.create(resource, object).await?;
        let metadata = json!({"labels": {"l": "m"}, "annotations": {"l": "m"}});
        let patch = json!({"metadata": metadata, "status": {"replicas": 2}});
        let written = context.merge(&format!("{resource}/a/status"), patch).await?.expect(200)?;
        let labelled = written.at("/metadata/labels/l") == "m";
        ensure_eq!(labelled, takes_labels, "whether the status of {resource} takes labels");
        ensure_eq!(written.at("/metadata/annotations/l"), "m", "the annotation of {resource}");
    }
    Ok(())
}

async fn a_status_of_nothing_is_not_found(context: Context) -> Outcome {
    context.get(STATUS).await?.refused(404, "NotFound")?;
    context.merge(STATUS, json!({"status": {}})).await?.refused(404, "NotFound")?;
    context.put(STATUS, &replica_set("a")).await?.refused(404, "NotFound")?;
    Ok(())
}

async fn a_status_under_another_name_is_refused(context: Context) -> Outcome {
    context.create("replicasets", replica_set("a")).await?;
    context.put(STATUS, &replica_set("b")).await?.refused(400, "BadRequest")?;
    Ok(())
}

async fn a_status_resource_takes_no_other_verbs(context: Context) -> Outcome {
    context.create("replicasets", replica_set("a")).await?;
    for method in [Method::POST, Method::DELETE] {
        let request = context.request(method, STATUS).json(&json!({}));
        request.send().await?.refused(405, "MethodNotAllowed")?;
    }
    Ok(())
}

async fn a_kind_without_status_has_no_such_path(context: Context) -> Outcome {
    context.create("configmaps", config_map("a")).await?;
    for path in ["configmaps/a/status", "configmaps/a/scale", "configmaps/a/nothing"] {
        context.get(path).await?.refused(404, "NotFound")?;
        context.merge(path, json!({})).await?.refused(404, "NotFound")?;
    }
    Ok(())
}
