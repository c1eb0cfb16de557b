//! What no replacement can change.

use serde_json::json;

use crate::check::{Outcome, checks};
use crate::context::At;
use crate::objects::{config_map, deployment, pod, replica_set};
use crate::{Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("immutable":
        what_the_server_sets_stays_as_it_is,
        deletion_fields_cannot_be_set,
        another_name_is_refused,
        another_namespace_is_refused,
        another_kind_or_version_is_refused,
        the_status_is_left_alone,
        a_selector_cannot_change,
        an_immutable_map_cannot_change,
        a_pod_changes_its_image_but_not_its_node,
    )
}

const PATH: &str = "configmaps/a";

async fn what_the_server_sets_stays_as_it_is(context: Context) -> Outcome {
    let made = context.create("configmaps", config_map("a")).await?;
    let mut object = made.clone();
    object["metadata"]["creationTimestamp"] = json!("2001-02-03T04:05:06Z");
    object["metadata"]["uid"] = json!("");
    ensure_eq!(context.put(PATH, &object).await?.expect(200)?, made, "the object");
    Ok(())
}

/// B81.
async fn deletion_fields_cannot_be_set(context: Context) -> Outcome {
    let made = context.create("configmaps", config_map("a")).await?;
    let fields = [
        ("deletionTimestamp", json!("2030-01-01T00:00:00Z")),
        ("deletionGracePeriodSeconds", json!(5)),
    ];
    for (field, value) in fields {
        let mut object = made.clone();
        object["metadata"][field] = value;
        let answer = context.put(PATH, &object).await?;
        answer.invalid(&format!("metadata.{field}"), "FieldValueInvalid")?;
    }
    Ok(())
}

async fn another_name_is_refused(context: Context) -> Outcome {
    context.create("configmaps", config_map("a")).await?;
    let status = context.put(PATH, &config_map("b")).await?.refused(400, "BadRequest")?;
    let expected = "the name of the object (b) does not match the name on the URL (a)";
    ensure_eq!(status.at("/message"), expected, "the message");
    Ok(())
}

async fn another_namespace_is_refused(context: Context) -> Outcome {
    let mut object = context.create("configmaps", config_map("a")).await?;
    object["metadata"]["namespace"] = json!("elsewhere");
    let status = context.put(PATH, &object).await?.refused(400, "BadRequest")?;
    let expected =
        "the namespace of the provided object does not match the namespace sent on the request";
    ensure_eq!(status.at("/message"), expected, "the message");
    Ok(())
}

async fn another_kind_or_version_is_refused(context: Context) -> Outcome {
    let made = context.create("configmaps", config_map("a")).await?;
    for (field, value) in [("kind", "Lease"), ("apiVersion", "apps/v1"), ("apiVersion", "v2")] {
        let mut object = made.clone();
        object[field] = json!(value);
        context.put(PATH, &object).await?.refused(400, "BadRequest")?;
    }
    Ok(())
}

async fn the_status_is_left_alone(context: Context) -> Outcome {
    let made = context.create("pods", pod("a")).await?;
    let mut object = made.clone();
    object["status"]["phase"] = json!("Running");
    ensure_eq!(context.put("pods/a", &object).await?.expect(200)?, made, "the pod");
    object["metadata"]["labels"] = json!({"l": "m"});
    let written = context.put("pods/a", &object).await?.expect(200)?;
    ensure_eq!(written["status"], made["status"], "the status");
    ensure_eq!(written.at("/metadata/labels/l"), "m", "the label");
    Ok(())
}

async fn a_selector_cannot_change(context: Context) -> Outcome {
    for (resource, object) in [("replicasets", replica_set("a")), ("deployments", deployment("a"))]
    {
        let mut object = context.create(resource, object).await?;
        object["spec"]["selector"] = json!({"matchLabels": {"app": "other"}});
        object["spec"]["template"]["metadata"]["labels"] = json!({"app": "other"});
        let answer = context.put(&format!("{resource}/a"), &object).await?;
        answer.invalid("spec.selector", "FieldValueInvalid")?;
    }
    Ok(())
}

async fn an_immutable_map_cannot_change(context: Context) -> Outcome {
    let mut object = config_map("a");
    object["immutable"] = json!(true);
    let mut object = context.create("configmaps", object).await?;
    object["metadata"]["labels"] = json!({"l": "m"});
    object = context.put(PATH, &object).await?.expect(200)?;
    object["data"] = json!({"k": "2"});
    context.put(PATH, &object).await?.invalid("data", "FieldValueForbidden")?;
    Ok(())
}

async fn a_pod_changes_its_image_but_not_its_node(context: Context) -> Outcome {
    let mut object = context.create("pods", pod("a")).await?;
    object["spec"]["containers"][0]["image"] = json!("example.test/web:2");
    let mut object = context.put("pods/a", &object).await?.expect(200)?;
    ensure_eq!(object["metadata"]["generation"], 2, "the generation");
    object["spec"]["nodeName"] = json!("n1");
    context.put("pods/a", &object).await?.invalid("spec", "FieldValueForbidden")?;
    Ok(())
}
