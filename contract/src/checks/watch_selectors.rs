//! Watches of a part: by label, by field, of one namespace or of all.

use serde_json::{Value, json};

use super::watch::from;
use crate::check::{Outcome, checks};
use crate::context::At;
use crate::objects::{config_map, labelled, pod};
use crate::{Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("watch_selectors":
        leaving_a_label_selector_is_a_deletion,
        leaving_a_field_selector_is_a_deletion,
        a_selector_on_the_name_watches_one_object,
        a_field_that_cannot_be_selected_is_refused,
        a_malformed_selector_is_refused,
        one_namespace_sees_nothing_of_the_others,
        all_namespaces_see_each,
    )
}

async fn leaving_a_label_selector_is_a_deletion(context: Context) -> Outcome {
    let start = context.list_version("configmaps").await?;
    let selector = "labelSelector=tier%3Dgold";
    let mut watch = context.watch(&format!("{}&{selector}", from("configmaps", &start))).await?;
    context.create("configmaps", labelled("a", json!({"tier": "lead"}))).await?;
    relabel(&context, json!("gold")).await?;
    let last = context.merge("configmaps/a", json!({"data": {"k": "2"}})).await?.expect(200)?;
    let left = relabel(&context, json!(null)).await?;
    context.merge("configmaps/a", json!({"data": {"k": "3"}})).await?.expect(200)?;
    relabel(&context, json!("gold")).await?;
    context.delete("configmaps/a").await?.expect(200)?;

    watch.expect("ADDED", "a").await?;
    watch.expect("MODIFIED", "a").await?;
    let gone = watch.expect("DELETED", "a").await?;
    ensure_eq!(gone["data"], last["data"], "the last state that was selected");
    ensure_eq!(gone.at("/metadata/labels/tier"), "gold", "its label");
    ensure_eq!(gone.version(), left.version(), "the version of the change that took it out");
    let back = watch.expect("ADDED", "a").await?;
    ensure_eq!(back.at("/data/k"), "3", "the state with which it came back");
    watch.expect("DELETED", "a").await?;
    Ok(())
}

async fn relabel(context: &Context, tier: Value) -> Result<Value, String> {
    context
        .merge("configmaps/a", json!({"metadata": {"labels": {"tier": tier}}}))
        .await?
        .expect(200)
}

/// B85.
async fn leaving_a_field_selector_is_a_deletion(context: Context) -> Outcome {
    let start = context.list_version("pods").await?;
    let selector = "fieldSelector=status.phase%3DRunning";
    let mut watch = context.watch(&format!("{}&{selector}", from("pods", &start))).await?;
    context.create("pods", pod("a")).await?;
    context.create("pods", pod("b")).await?;
    for phase in ["Running", "Failed"] {
        let patch = json!({"status": {"phase": phase}});
        context.merge("pods/a/status", patch).await?.expect(200)?;
    }
    context.merge("pods/b/status", json!({"status": {"phase": "Running"}})).await?.expect(200)?;
    watch.expect("ADDED", "a").await?;
    let gone = watch.expect("DELETED", "a").await?;
    ensure_eq!(gone.at("/status/phase"), "Running", "the last phase that was selected");
    watch.expect("ADDED", "b").await?;
    Ok(())
}

async fn a_selector_on_the_name_watches_one_object(context: Context) -> Outcome {
    let start = context.list_version("configmaps").await?;
    let selector = "fieldSelector=metadata.name%3Db";
    let mut watch = context.watch(&format!("{}&{selector}", from("configmaps", &start))).await?;
    for name in ["a", "b", "c"] {
        context.create("configmaps", config_map(name)).await?;
    }
    context.delete("configmaps/a").await?.expect(200)?;
    context.delete("configmaps/b").await?.expect(200)?;
    watch.expect("ADDED", "b").await?;
    watch.expect("DELETED", "b").await?;
    Ok(())
}

async fn a_field_that_cannot_be_selected_is_refused(context: Context) -> Outcome {
    for resource in ["pods", "configmaps", "replicasets"] {
        let path = format!("{resource}?watch=1&timeoutSeconds=1&fieldSelector=spec.bogus%3D1");
        let status = context.get(&path).await?.refused(400, "BadRequest")?;
        let message = status.at("/message");
        ensure!(message.contains("spec.bogus"), "the message does not name the field: {message:?}");
    }
    Ok(())
}

async fn a_malformed_selector_is_refused(context: Context) -> Outcome {
    for selector in ["labelSelector=a%3D_", "labelSelector=!!", "fieldSelector=metadata.name"] {
        let path = format!("configmaps?watch=1&timeoutSeconds=1&{selector}");
        context.get(&path).await?.refused(400, "BadRequest")?;
    }
    Ok(())
}

async fn one_namespace_sees_nothing_of_the_others(context: Context) -> Outcome {
    let start = context.list_version("configmaps").await?;
    let mut watch = context.watch(&from("configmaps", &start)).await?;
    let other = "/api/v1/namespaces/default/configmaps";
    let name = context.unique("elsewhere");
    context.create(other, config_map(&name)).await?;
    context.delete(&format!("{other}/{name}")).await?.expect(200)?;
    context.create("configmaps", config_map("here")).await?;
    watch.expect("ADDED", "here").await?;
    Ok(())
}

async fn all_namespaces_see_each(context: Context) -> Outcome {
    let all = "/api/v1/configmaps";
    let start = context.list_version(all).await?;
    let label = context.unique("label");
    let selector = format!("labelSelector=of%3D{label}");
    let mut watch = context.watch(&format!("{}&{selector}", from(all, &start))).await?;
    let elsewhere = "/api/v1/namespaces/default/configmaps";
    let name = context.unique("elsewhere");
    context.create(elsewhere, labelled(&name, json!({"of": label}))).await?;
    context.create("configmaps", labelled("here", json!({"of": label}))).await?;
    context.delete(&format!("{elsewhere}/{name}")).await?.expect(200)?;
    let first = watch.expect("ADDED", &name).await?;
    ensure_eq!(first.at("/metadata/namespace"), "default", "the namespace of the first");
    let second = watch.expect("ADDED", "here").await?;
    ensure_eq!(second.at("/metadata/namespace"), context.namespace(), "that of the second");
    watch.expect("DELETED", &name).await?;
    Ok(())
}
