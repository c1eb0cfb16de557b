//! Replacements (PUT): what they need, and what they change.

use serde_json::{Value, json};

use crate::check::{Outcome, checks};
use crate::context::At;
use crate::objects::{config_map, deployment, lease, replica_set};
use crate::{Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("replace":
        a_replacement_is_stored_and_told,
        what_is_left_out_is_gone,
        an_old_version_is_a_conflict,
        a_version_from_the_future_is_a_conflict,
        a_malformed_version_is_refused,
        without_a_version_most_kinds_are_replaced_anyway,
        a_lease_is_not_replaced_without_a_version,
        another_uid_is_a_conflict,
        no_change_keeps_the_version_and_sends_no_event,
        generation_counts_changes_of_the_spec_only,
        a_deployment_counts_its_annotations_too,
        a_missing_name_is_refused,
        a_missing_namespace_is_filled_in,
        a_missing_type_is_filled_in,
        a_missing_object_is_not_made,
        a_lease_is_made,
        bad_metadata_is_refused_by_field,
        a_body_that_is_no_object_is_refused,
        a_collection_cannot_be_replaced,
    )
}

const PATH: &str = "configmaps/a";

async fn a_replacement_is_stored_and_told(context: Context) -> Outcome {
    let mut object = context.create("configmaps", config_map("a")).await?;
    let start = object.version();
    let mut watch = context.watch(&format!("configmaps?resourceVersion={start}")).await?;
    object["data"] = json!({"k": "2"});
    let written = context.put(PATH, &object).await?.expect(200)?;
    ensure_eq!(written["data"], object["data"], "the answer");
    ensure!(written.version() != start, "the version is still {start}");
    ensure_eq!(context.read(PATH).await?, written, "what is stored");
    ensure_eq!(watch.expect("MODIFIED", "a").await?, written, "what watchers see");
    Ok(())
}

async fn what_is_left_out_is_gone(context: Context) -> Outcome {
    let mut object = config_map("a");
    object["metadata"]["labels"] = json!({"l": "m"});
    object["metadata"]["annotations"] = json!({"a": "b"});
    context.create("configmaps", object).await?;
    let bare = json!({"metadata": {"name": "a"}});
    let written = context.put(PATH, &bare).await?.expect(200)?;
    for place in ["/metadata/labels", "/metadata/annotations", "/data"] {
        ensure!(written.pointer(place).is_none(), "{place} is still there: {written}");
    }
    Ok(())
}

async fn an_old_version_is_a_conflict(context: Context) -> Outcome {
    let mut object = context.create("configmaps", config_map("a")).await?;
    object["data"] = json!({"k": "2"});
    context.put(PATH, &object).await?.expect(200)?;
    object["data"] = json!({"k": "3"});
    let status = context.put(PATH, &object).await?.refused(409, "Conflict")?;
    ensure_eq!(
        status.at("/message"),
        "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your changes \
         to the latest version and try again",
        "the message"
    );
    ensure_eq!(status["details"], json!({"name": "a", "kind": "configmaps"}), "the details");
    ensure_eq!(context.read(PATH).await?.at("/data/k"), "2", "what is stored");
    Ok(())
}

async fn a_version_from_the_future_is_a_conflict(context: Context) -> Outcome {
    let mut object = context.create("configmaps", config_map("a")).await?;
    object["metadata"]["resourceVersion"] = json!("9000000000000000000");
    context.put(PATH, &object).await?.refused(409, "Conflict")?;
    Ok(())
}

/// A real server says 500 where 400 or 422 would be right.
async fn a_malformed_version_is_refused(context: Context) -> Outcome {
    let mut object = context.create("configmaps", config_map("a")).await?;
    object["metadata"]["resourceVersion"] = json!("x");
    let answer = context.put(PATH, &object).await?;
    ensure!(matches!(answer.code, 400 | 422 | 500), "expected a refusal, saw {answer}");
    Ok(())
}

async fn without_a_version_most_kinds_are_replaced_anyway(context: Context) -> Outcome {
    context.create("configmaps", config_map("a")).await?;
    for (version, value) in [(json!(null), "2"), (json!(""), "3"), (json!("0"), "4")] {
        let mut object = config_map("a");
        object["metadata"]["resourceVersion"] = version;
        object["data"] = json!({"k": value});
        let written = context.put(PATH, &object).await?.expect(200)?;
        ensure_eq!(written.at("/data/k"), value, "the answer");
    }
    Ok(())
}

async fn a_lease_is_not_replaced_without_a_version(context: Context) -> Outcome {
    context.create("leases", lease("a")).await?;
    let answer = context.put("leases/a", &lease("a")).await?;
    answer.invalid("metadata.resourceVersion", "FieldValueInvalid")?;
    Ok(())
}

async fn another_uid_is_a_conflict(context: Context) -> Outcome {
    let mut object = context.create("configmaps", config_map("a")).await?;
    object["metadata"]["uid"] = json!("other");
    let status = context.put(PATH, &object).await?.refused(409, "Conflict")?;
    let message = status.at("/message");
    ensure!(message.contains("UID in precondition: other"), "the message is {message:?}");
    Ok(())
}

/// B82.
async fn no_change_keeps_the_version_and_sends_no_event(context: Context) -> Outcome {
    let object = context.create("configmaps", config_map("a")).await?;
    let start = object.version();
    let mut watch = context.watch(&format!("configmaps?resourceVersion={start}")).await?;
    ensure_eq!(context.put(PATH, &object).await?.expect(200)?, object, "the answer");
    let without = config_map("a");
    ensure_eq!(context.put(PATH, &without).await?.expect(200)?.version(), start, "the version");
    context.create("configmaps", config_map("b")).await?;
    watch.expect("ADDED", "b").await?;
    Ok(())
}

async fn generation_counts_changes_of_the_spec_only(context: Context) -> Outcome {
    let path = "replicasets/a";
    let mut object = context.create("replicasets", replica_set("a")).await?;
    let steps = [
        ("/metadata/labels", json!({"l": "m"}), 1),
        ("/metadata/annotations", json!({"a": "b"}), 1),
        ("/spec/replicas", json!(3), 2),
        ("/spec/replicas", json!(3), 2),
        ("/spec/replicas", json!(1), 3),
        ("/metadata/generation", json!(77), 3),
    ];
    for (place, value, expected) in steps {
        set(&mut object, place, value);
        object = context.put(path, &object).await?.expect(200)?;
        ensure_eq!(
            object["metadata"]["generation"],
            expected,
            "generation after a change of {place}"
        );
    }
    Ok(())
}

async fn a_deployment_counts_its_annotations_too(context: Context) -> Outcome {
    let mut object = context.create("deployments", deployment("a")).await?;
    for (place, expected) in [("/metadata/labels", 1), ("/metadata/annotations", 2)] {
        set(&mut object, place, json!({"l": "m"}));
        object = context.put("deployments/a", &object).await?.expect(200)?;
        ensure_eq!(
            object["metadata"]["generation"],
            expected,
            "generation after a change of {place}"
        );
    }
    Ok(())
}

async fn a_missing_name_is_refused(context: Context) -> Outcome {
    context.create("configmaps", config_map("a")).await?;
    context.put(PATH, &json!({"data": {}})).await?.refused(400, "BadRequest")?;
    Ok(())
}

async fn a_missing_namespace_is_filled_in(context: Context) -> Outcome {
    let mut object = context.create("configmaps", config_map("a")).await?;
    object["metadata"]["namespace"] = json!("");
    let written = context.put(PATH, &object).await?.expect(200)?;
    ensure_eq!(written.at("/metadata/namespace"), context.namespace(), "the namespace");
    Ok(())
}

async fn a_missing_type_is_filled_in(context: Context) -> Outcome {
    context.create("configmaps", config_map("a")).await?;
    let written = context.put(PATH, &config_map("a")).await?.expect(200)?;
    ensure_eq!(
        (written.at("/kind"), written.at("/apiVersion")),
        ("ConfigMap".into(), "v1".into()),
        "the type"
    );
    Ok(())
}

async fn a_missing_object_is_not_made(context: Context) -> Outcome {
    let mut object = config_map("a");
    let status = context.put(PATH, &object).await?.refused(404, "NotFound")?;
    ensure_eq!(status.at("/message"), "configmaps \"a\" not found", "the message");
    object["metadata"]["uid"] = json!("some");
    object["metadata"]["resourceVersion"] = json!("5");
    context.put(PATH, &object).await?.refused(404, "NotFound")?;
    Ok(())
}

/// Few kinds allow it.
async fn a_lease_is_made(context: Context) -> Outcome {
    let made = context.put("leases/a", &lease("a")).await?.expect(201)?;
    ensure!(!made.uid().is_empty(), "it has no uid: {made}");
    Ok(())
}

async fn bad_metadata_is_refused_by_field(context: Context) -> Outcome {
    let made = context.create("configmaps", config_map("a")).await?;
    let owner = json!([{"apiVersion": "v1", "kind": "Pod", "name": "p"}]);
    let faults = [
        ("labels", json!({"a b": "c"}), "metadata.labels", "FieldValueInvalid"),
        ("labels", json!({"a": "b c"}), "metadata.labels", "FieldValueInvalid"),
        ("annotations", json!({"a b": "c"}), "metadata.annotations", "FieldValueInvalid"),
        ("finalizers", json!(["short"]), "metadata.finalizers[0]", "FieldValueInvalid"),
        ("ownerReferences", owner, "metadata.ownerReferences[0].uid", "FieldValueRequired"),
    ];
    for (field, value, place, cause) in faults {
        let mut object = made.clone();
        object["metadata"][field] = value;
        context.put(PATH, &object).await?.invalid(place, cause)?;
    }
    ensure_eq!(context.read(PATH).await?, made, "what is stored");
    Ok(())
}

async fn a_body_that_is_no_object_is_refused(context: Context) -> Outcome {
    context.create("configmaps", config_map("a")).await?;
    for body in ["", "{", "[]", "null", "\"a\"", "7"] {
        let request = context.request(http::Method::PUT, PATH).bytes(body);
        let answer = request.content_type("application/json").send().await?;
        answer.refused(400, "BadRequest").map_err(|error| format!("body {body:?}: {error}"))?;
    }
    Ok(())
}

async fn a_collection_cannot_be_replaced(context: Context) -> Outcome {
    context.put("configmaps", &config_map("a")).await?.refused(405, "MethodNotAllowed")?;
    Ok(())
}

/// Sets what is at a place whose parent exists.
fn set(object: &mut Value, place: &str, value: Value) {
    let (parent, field) = place.rsplit_once('/').unwrap_or(("", place));
    if let Some(parent) = object.pointer_mut(parent) {
        parent[field] = value;
    }
}
