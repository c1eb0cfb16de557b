//! Patches of either kind: what is refused, what cannot change, and what a change does to the object.

use http::Method;
use serde_json::{Value, json};

use crate::check::{Outcome, checks};
use crate::context::At;
use crate::objects::{config_map, replica_set};
use crate::{Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("patch":
        what_is_no_patch_is_refused,
        an_unknown_operation_is_refused,
        other_content_types_are_refused,
        parameters_of_the_content_type_are_allowed,
        a_version_in_a_patch_is_a_precondition,
        a_uid_in_a_patch_cannot_differ,
        name_namespace_and_type_cannot_change,
        what_the_server_sets_cannot_be_patched,
        a_missing_object_is_not_made,
        a_patch_without_effect_keeps_the_version_and_sends_no_event,
        a_wrong_type_of_a_field_is_refused,
        the_result_is_validated,
        a_patch_of_the_spec_raises_the_generation,
        force_is_for_apply_only,
        a_collection_cannot_be_patched,
    )
}

const PATH: &str = "configmaps/a";

async fn what_is_no_patch_is_refused(context: Context) -> Outcome {
    context.create("configmaps", config_map("a")).await?;
    let bodies = [
        ("application/merge-patch+json", "[1]"),
        ("application/merge-patch+json", "\"x\""),
        ("application/merge-patch+json", "{"),
        ("application/merge-patch+json", ""),
        ("application/json-patch+json", "{}"),
        ("application/json-patch+json", "[\"x\"]"),
        ("application/json-patch+json", "["),
        ("application/json-patch+json", ""),
    ];
    for (content_type, body) in bodies {
        let request = context.request(Method::PATCH, PATH).bytes(body).content_type(content_type);
        let refused = request.send().await?.refused(400, "BadRequest");
        refused.map_err(|error| format!("{content_type} {body:?}: {error}"))?;
    }
    Ok(())
}

async fn an_unknown_operation_is_refused(context: Context) -> Outcome {
    context.create("configmaps", config_map("a")).await?;
    let operations = [
        json!({"op": "frob", "path": "/data"}),
        json!({"op": "add", "value": 1}),
        json!({"op": "copy", "path": "/data/x"}),
    ];
    for operation in operations {
        let answer = context.json_patch(PATH, json!([operation])).await?;
        answer.refused(422, "Invalid").map_err(|error| format!("{operation}: {error}"))?;
    }
    Ok(())
}

async fn other_content_types_are_refused(context: Context) -> Outcome {
    context.create("configmaps", config_map("a")).await?;
    for content_type in ["application/json", "application/yaml", "text/plain"] {
        let request = context.request(Method::PATCH, PATH).bytes("{}").content_type(content_type);
        request.send().await?.refused(415, "UnsupportedMediaType")?;
    }
    let request = context.request(Method::PATCH, PATH).bytes("{}");
    request.send().await?.refused(415, "UnsupportedMediaType")?;
    Ok(())
}

async fn parameters_of_the_content_type_are_allowed(context: Context) -> Outcome {
    context.create("configmaps", config_map("a")).await?;
    let request = context.request(Method::PATCH, PATH).bytes("{\"data\":{\"k\":\"2\"}}");
    let request = request.content_type("application/merge-patch+json; charset=utf-8");
    ensure_eq!(request.send().await?.expect(200)?.at("/data/k"), "2", "the value");
    Ok(())
}

async fn a_version_in_a_patch_is_a_precondition(context: Context) -> Outcome {
    let made = context.create("configmaps", config_map("a")).await?;
    let at = |version: Value, value: &str| json!({"metadata": {"resourceVersion": version}, "data": {"k": value}});
    let patched = context.merge(PATH, at(json!(made.version()), "2")).await?.expect(200)?;
    ensure_eq!(patched.at("/data/k"), "2", "with the right version");
    context.merge(PATH, at(json!(made.version()), "3")).await?.refused(409, "Conflict")?;
    let place = "/metadata/resourceVersion";
    let patch = json!([{"op": "replace", "path": place, "value": made.version()}]);
    context.json_patch(PATH, patch).await?.refused(409, "Conflict")?;
    ensure_eq!(context.read(PATH).await?, patched, "what is stored");
    for (version, value) in [(json!(null), "4"), (json!("0"), "5")] {
        let patched = context.merge(PATH, at(version, value)).await?.expect(200)?;
        ensure_eq!(patched.at("/data/k"), value, "without a version");
    }
    Ok(())
}

async fn a_uid_in_a_patch_cannot_differ(context: Context) -> Outcome {
    let made = context.create("configmaps", config_map("a")).await?;
    let right = json!({"metadata": {"uid": made.uid()}});
    ensure_eq!(context.merge(PATH, right).await?.expect(200)?, made, "with the right uid");
    let wrong = json!({"metadata": {"uid": "other"}});
    context.merge(PATH, wrong).await?.invalid("metadata.uid", "FieldValueInvalid")?;
    Ok(())
}

async fn name_namespace_and_type_cannot_change(context: Context) -> Outcome {
    context.create("configmaps", config_map("a")).await?;
    let patches = [
        json!({"metadata": {"name": "b"}}),
        json!({"metadata": {"name": null}}),
        json!({"metadata": {"namespace": "elsewhere"}}),
        json!({"metadata": null}),
    ];
    for patch in patches {
        let answer = context.merge(PATH, patch.clone()).await?;
        answer.refused(400, "BadRequest").map_err(|error| format!("{patch}: {error}"))?;
    }
    for patch in [json!({"kind": "Lease"}), json!({"apiVersion": "v2"})] {
        let answer = context.merge(PATH, patch.clone()).await?;
        answer.refused(422, "Invalid").map_err(|error| format!("{patch}: {error}"))?;
    }
    Ok(())
}

async fn what_the_server_sets_cannot_be_patched(context: Context) -> Outcome {
    let made = context.create("configmaps", config_map("a")).await?;
    let patch = json!({"metadata": {"creationTimestamp": "2001-02-03T04:05:06Z"}});
    ensure_eq!(context.merge(PATH, patch).await?.expect(200)?, made, "the object");
    let patch = json!({"metadata": {"deletionTimestamp": "2030-01-01T00:00:00Z"}});
    context.merge(PATH, patch).await?.invalid("metadata.deletionTimestamp", "FieldValueInvalid")?;
    Ok(())
}

async fn a_missing_object_is_not_made(context: Context) -> Outcome {
    context.merge(PATH, json!({"data": {}})).await?.refused(404, "NotFound")?;
    context.json_patch(PATH, json!([])).await?.refused(404, "NotFound")?;
    ensure!(context.names("configmaps").await?.iter().all(|name| name != "a"), "it was made");
    Ok(())
}

async fn a_patch_without_effect_keeps_the_version_and_sends_no_event(context: Context) -> Outcome {
    let made = context.create("configmaps", config_map("a")).await?;
    let path = format!("configmaps?resourceVersion={}", made.version());
    let mut watch = context.watch(&path).await?;
    for patch in [json!({}), json!({"data": {"k": "v"}}), json!({"data": {"none": null}})] {
        ensure_eq!(context.merge(PATH, patch).await?.expect(200)?, made, "the object");
    }
    for patch in [json!([]), json!([{"op": "replace", "path": "/data/k", "value": "v"}])] {
        ensure_eq!(context.json_patch(PATH, patch).await?.expect(200)?, made, "the object");
    }
    context.create("configmaps", config_map("b")).await?;
    watch.expect("ADDED", "b").await?;
    Ok(())
}

async fn a_wrong_type_of_a_field_is_refused(context: Context) -> Outcome {
    let made = context.create("configmaps", config_map("a")).await?;
    let patches = [
        json!({"metadata": {"labels": "x"}}),
        json!({"metadata": {"labels": {"a": 1}}}),
        json!({"metadata": {"finalizers": {"a": "b"}}}),
        json!({"data": "x"}),
        json!({"data": [1]}),
        json!({"data": {"k": 1}}),
    ];
    for patch in patches {
        let answer = context.merge(PATH, patch.clone()).await?;
        answer.refused(422, "Invalid").map_err(|error| format!("{patch}: {error}"))?;
    }
    ensure_eq!(context.read(PATH).await?, made, "what is stored");
    Ok(())
}

async fn the_result_is_validated(context: Context) -> Outcome {
    context.create("configmaps", config_map("a")).await?;
    let patch = json!({"metadata": {"labels": {"bad key": "x"}}});
    context.merge(PATH, patch).await?.invalid("metadata.labels", "FieldValueInvalid")?;
    let patch = json!([{"op": "add", "path": "/data/a~0b", "value": "x"}]);
    context.json_patch(PATH, patch).await?.invalid("data[a~b]", "FieldValueInvalid")?;
    Ok(())
}

async fn a_patch_of_the_spec_raises_the_generation(context: Context) -> Outcome {
    context.create("replicasets", replica_set("a")).await?;
    let patches = [
        (json!({"metadata": {"labels": {"l": "m"}}}), 1),
        (json!({"status": {"replicas": 4}}), 1),
        (json!({"spec": {"replicas": 4}}), 2),
        (json!({"spec": {"replicas": 4}}), 2),
    ];
    for (patch, expected) in patches {
        let patched = context.merge("replicasets/a", patch.clone()).await?.expect(200)?;
        ensure_eq!(patched["metadata"]["generation"], expected, "after {patch}");
    }
    Ok(())
}

async fn force_is_for_apply_only(context: Context) -> Outcome {
    context.create("configmaps", config_map("a")).await?;
    let answer = context.merge("configmaps/a?force=true", json!({})).await?;
    answer.invalid("force", "FieldValueForbidden")?;
    Ok(())
}

async fn a_collection_cannot_be_patched(context: Context) -> Outcome {
    context.merge("configmaps", json!({})).await?.refused(405, "MethodNotAllowed")?;
    Ok(())
}
