//! Reading one object.

use serde_json::{Value, json};

use crate::check::{Outcome, checks};
use crate::context::At;
use crate::objects::{config_map, deployment};
use crate::{Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("get":
        a_missing_object_is_not_found,
        a_missing_object_of_a_group_is_not_found,
        a_missing_namespace_is_not_mentioned,
        the_newest_state_is_read,
        older_versions_are_a_lower_bound,
        versions_from_the_future_time_out,
        a_malformed_version_is_refused,
        subresources_are_the_whole_object,
        a_slash_at_the_end_changes_nothing,
        numbers_and_text_come_back_as_they_were,
    )
}

async fn a_missing_object_is_not_found(c: Context) -> Outcome {
    let status = c.get("configmaps/x").await?.refused(404, "NotFound")?;
    ensure_eq!(status["message"], "configmaps \"x\" not found", "message");
    ensure_eq!(status["details"], json!({"name": "x", "kind": "configmaps"}), "details");
    let status = c.get("nodes/x").await?.refused(404, "NotFound")?;
    ensure_eq!(status["details"], json!({"name": "x", "kind": "nodes"}), "details");
    Ok(())
}

async fn a_missing_object_of_a_group_is_not_found(c: Context) -> Outcome {
    for path in ["deployments/x", "deployments/x/status", "deployments/x/scale"] {
        let status = c.get(path).await?.refused(404, "NotFound")?;
        ensure_eq!(status["message"], "deployments.apps \"x\" not found", "message of {path}");
        ensure_eq!(
            status["details"],
            json!({"name": "x", "group": "apps", "kind": "deployments"}),
            "details of {path}"
        );
    }
    Ok(())
}

async fn a_missing_namespace_is_not_mentioned(c: Context) -> Outcome {
    let path = format!("/api/v1/namespaces/{}/configmaps/x", c.unique("none"));
    let status = c.get(&path).await?.refused(404, "NotFound")?;
    ensure_eq!(status["details"], json!({"name": "x", "kind": "configmaps"}), "details");
    Ok(())
}

async fn the_newest_state_is_read(c: Context) -> Outcome {
    c.create("configmaps", config_map("a")).await?;
    for number in 0..10 {
        let written = c
            .merge("configmaps/a", json!({"data": {"n": number.to_string()}}))
            .await?
            .expect(200)?;
        ensure_eq!(c.read("configmaps/a").await?, written, "what is read after write {number}");
    }
    c.delete("configmaps/a").await?.expect(200)?;
    c.get("configmaps/a").await?.refused(404, "NotFound")?;
    Ok(())
}

async fn older_versions_are_a_lower_bound(c: Context) -> Outcome {
    let first = c.create("configmaps", config_map("a")).await?.version_number()?;
    let second = c.merge("configmaps/a", json!({"data": {"k": "w"}})).await?.expect(200)?;
    for version in [first, second.version_number()?] {
        let read = c.read(&format!("configmaps/a?resourceVersion={version}")).await?;
        ensure!(read.version_number()? >= version, "{} for {version}", read.version());
    }
    c.read("configmaps/a?resourceVersion=").await?;
    Ok(())
}

async fn versions_from_the_future_time_out(c: Context) -> Outcome {
    let future = c.create("configmaps", config_map("a")).await?.version_number()? + 1_000_000_000;
    let answer = c.get(&format!("configmaps/a?resourceVersion={future}")).await?;
    let status = answer.refused(504, "Timeout")?;
    ensure_eq!(status.at("/details/causes/0/reason"), "ResourceVersionTooLarge", "cause");
    ensure_eq!(status["details"]["retryAfterSeconds"], 1, "retryAfterSeconds");
    Ok(())
}

async fn a_malformed_version_is_refused(c: Context) -> Outcome {
    c.create("configmaps", config_map("a")).await?;
    for version in ["x", "-1", "1.5"] {
        let answer = c.get(&format!("configmaps/a?resourceVersion={version}")).await?;
        ensure!(
            answer.code >= 400 && answer.body["kind"] == "Status",
            "expected a refusal, saw {answer}"
        );
    }
    Ok(())
}

async fn subresources_are_the_whole_object(c: Context) -> Outcome {
    let created = c.create("deployments", deployment("a")).await?;
    ensure_eq!(c.read("deployments/a/status").await?, created, "what status answers");
    let path = format!("namespaces/{}", c.namespace());
    ensure_eq!(
        c.read(&format!("{path}/status")).await?,
        c.read(&path).await?,
        "status of a namespace"
    );
    Ok(())
}

async fn a_slash_at_the_end_changes_nothing(c: Context) -> Outcome {
    let created = c.create("configmaps", config_map("a")).await?;
    ensure_eq!(c.read("configmaps/a/").await?, created, "the object");
    ensure_eq!(c.names("configmaps/").await?, ["a"], "the list");
    Ok(())
}

async fn numbers_and_text_come_back_as_they_were(c: Context) -> Outcome {
    let object = json!({
        "metadata": {"name": "a", "annotations": {"é🦀": "no"}},
    });
    c.post("configmaps", object).await?.invalid("metadata.annotations", "FieldValueInvalid")?;
    let text = "é🦀 \u{0} \u{2028} \" \\ / <&> \u{fffd}";
    let created =
        c.create("configmaps", json!({"metadata": {"name": "a"}, "data": {"k": text}})).await?;
    ensure_eq!(created.at("/data/k"), text, "text");
    ensure_eq!(c.read("configmaps/a").await?.at("/data/k"), text, "text, read again");
    let ports = json!([
        {"name": "a", "port": 80, "targetPort": 8080, "protocol": "TCP"},
        {"name": "b", "port": 81, "targetPort": "http", "protocol": "TCP"},
    ]);
    let service = json!({"metadata": {"name": "a"}, "spec": {"ports": ports}});
    let created = c.create("services", service).await?;
    let seen: Vec<&Value> = [0, 1].map(|i| &created["spec"]["ports"][i]["targetPort"]).to_vec();
    ensure_eq!(seen, [&json!(8080), &json!("http")], "ports, by number and by name");
    Ok(())
}
