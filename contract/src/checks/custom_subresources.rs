//! Custom resources with the sub-resources status and scale, with declared fields, and without.

use serde_json::json;

use crate::check::{Outcome, checks};
use crate::context::At;
use crate::custom::{plain, serve, widget};
use crate::objects::FINALIZER;
use crate::{Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("custom_subresources":
        generation_counts_all_but_metadata_and_status,
        status_is_ignored_on_create_and_by_the_main_resource,
        the_status_resource_changes_the_status_alone,
        without_the_subresource_status_is_a_field,
        without_the_subresources_there_are_no_such_paths,
        they_can_be_selected_by_declared_fields,
        a_watch_follows_declared_fields,
        a_scale_reads_and_writes_the_declared_fields,
    )
}

const PATH: &str = "widgets/a";

/// B82.
async fn generation_counts_all_but_metadata_and_status(context: Context) -> Outcome {
    serve(&context).await?;
    context.create("widgets", widget("a", 1)).await?;
    let steps = [
        (PATH, json!({"metadata": {"labels": {"l": "m"}}}), 1),
        (PATH, json!({"metadata": {"annotations": {"l": "m"}}}), 1),
        ("widgets/a/status", json!({"status": {"x": 1}}), 1),
        (PATH, json!({"status": {"x": 2}}), 1),
        (PATH, json!({"spec": {"size": 2}}), 2),
        (PATH, json!({"spec": {"size": 2}}), 2),
        (PATH, json!({"extra": {"y": 1}}), 3),
    ];
    for (path, patch, expected) in steps {
        let written = context.merge(path, patch.clone()).await?.expect(200)?;
        ensure_eq!(written["metadata"]["generation"], expected, "the generation after {patch}");
    }
    Ok(())
}

async fn status_is_ignored_on_create_and_by_the_main_resource(context: Context) -> Outcome {
    serve(&context).await?;
    let mut object = widget("a", 1);
    object["status"] = json!({"x": 1});
    let made = context.create("widgets", object).await?;
    ensure!(made.get("status").is_none(), "it was taken: {made}");
    let patch = json!({"status": {"x": 1}});
    ensure_eq!(context.merge(PATH, patch).await?.expect(200)?, made, "after a patch");
    let mut object = made.clone();
    object["status"] = json!({"x": 1});
    ensure_eq!(context.put(PATH, &object).await?.expect(200)?, made, "after an update");
    Ok(())
}

/// B82.
async fn the_status_resource_changes_the_status_alone(context: Context) -> Outcome {
    serve(&context).await?;
    let made = context.create("widgets", widget("a", 1)).await?;
    let metadata =
        json!({"labels": {"l": "m"}, "annotations": {"l": "m"}, "finalizers": [FINALIZER]});
    let patch = json!({"metadata": metadata, "spec": {"size": 9}, "extra": 1, "status": {"x": 1}});
    let patched = context.merge("widgets/a/status", patch).await?.expect(200)?;
    ensure_eq!(
        (&patched["spec"], &patched["status"]),
        (&made["spec"], &json!({"x": 1})),
        "after a patch"
    );
    ensure!(patched.get("extra").is_none(), "another field was written: {patched}");
    for field in ["labels", "annotations", "finalizers"] {
        ensure!(patched["metadata"].get(field).is_none(), "{field} were written: {patched}");
    }
    ensure!(patched.version() != made.version(), "the version is still {}", made.version());
    let mut object = patched.clone();
    object["spec"]["size"] = json!(9);
    object["status"] = json!({"z": 1});
    let written = context.put("widgets/a/status", &object).await?.expect(200)?;
    ensure_eq!(
        (&written["spec"], &written["status"]),
        (&made["spec"], &json!({"z": 1})),
        "after an update"
    );
    ensure_eq!(context.read("widgets/a/status").await?, written, "what is stored");
    Ok(())
}

/// B82.
async fn without_the_subresource_status_is_a_field(context: Context) -> Outcome {
    serve(&context).await?;
    let made = context.create("plains", plain("a")).await?;
    ensure_eq!(made["status"], json!({"x": 1}), "the status");
    let written = context.merge("plains/a", json!({"status": {"x": 2}})).await?.expect(200)?;
    ensure_eq!(written["status"], json!({"x": 2}), "the status");
    ensure_eq!(written["metadata"]["generation"], 2, "the generation");
    Ok(())
}

async fn without_the_subresources_there_are_no_such_paths(context: Context) -> Outcome {
    serve(&context).await?;
    context.create("plains", plain("a")).await?;
    for path in ["plains/a/status", "plains/a/scale"] {
        context.get(path).await?.refused(404, "NotFound")?;
        context.merge(path, json!({"status": {}})).await?.refused(404, "NotFound")?;
    }
    Ok(())
}

/// B85.
async fn they_can_be_selected_by_declared_fields(context: Context) -> Outcome {
    serve(&context).await?;
    for (name, size) in [("a", 1), ("b", 2), ("c", 1)] {
        context.create("widgets", widget(name, size)).await?;
    }
    let found = context.names("widgets?fieldSelector=spec.size%3D1").await?;
    ensure_eq!(found, ["a", "c"], "those of size 1");
    let found = context.names("widgets?fieldSelector=spec.size!%3D1,metadata.name%3Db").await?;
    ensure_eq!(found, ["b"], "the other by name");
    for path in ["widgets?fieldSelector=spec.bogus%3D1", "plains?fieldSelector=spec.size%3D1"] {
        let status = context.get(path).await?.refused(400, "BadRequest")?;
        let message = status.at("/message");
        ensure!(
            message.starts_with("field label not supported: spec."),
            "the message is {message:?}"
        );
    }
    Ok(())
}

/// B85.
async fn a_watch_follows_declared_fields(context: Context) -> Outcome {
    serve(&context).await?;
    let start = context.list_version("widgets").await?;
    let path = format!("widgets?resourceVersion={start}&fieldSelector=spec.size%3D2");
    let mut watch = context.watch(&path).await?;
    context.create("widgets", widget("a", 1)).await?;
    for size in [2, 3] {
        context.merge(PATH, json!({"spec": {"size": size}})).await?.expect(200)?;
    }
    context.create("widgets", widget("b", 2)).await?;
    watch.expect("ADDED", "a").await?;
    ensure_eq!(
        watch.expect("DELETED", "a").await?["spec"]["size"],
        2,
        "the last size that was selected"
    );
    watch.expect("ADDED", "b").await?;
    Ok(())
}

async fn a_scale_reads_and_writes_the_declared_fields(context: Context) -> Outcome {
    serve(&context).await?;
    context.create("widgets", widget("a", 1)).await?;
    let status = json!({"status": {"replicas": 2, "selector": "app=x"}});
    context.merge("widgets/a/status", status).await?.expect(200)?;
    let mut scale = context.read("widgets/a/scale").await?;
    ensure_eq!(scale["spec"], json!({"replicas": 1}), "what is wanted");
    ensure_eq!(scale["status"], json!({"replicas": 2, "selector": "app=x"}), "what there is");
    scale["spec"]["replicas"] = json!(4);
    context.put("widgets/a/scale", &scale).await?.expect(200)?;
    context.put("widgets/a/scale", &scale).await?.refused(409, "Conflict")?;
    let patch = json!({"spec": {"replicas": 7}});
    context.merge("widgets/a/scale", patch).await?.expect(200)?;
    let object = context.read(PATH).await?;
    ensure_eq!(object["spec"]["replicas"], 7, "the replicas of the object");
    ensure_eq!(object["metadata"]["generation"], 3, "its generation");
    Ok(())
}
