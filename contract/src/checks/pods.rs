//! What pods alone have: `/binding` gives one to a node, `/eviction` asks for its end.

use http::Method;
use serde_json::{Value, json};

use crate::check::{Outcome, checks};
use crate::context::At;
use crate::objects::{FINALIZER, pod, pod_on};
use crate::{Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("pods":
        a_binding_gives_a_pod_to_a_node,
        a_pod_is_bound_once,
        a_binding_holds_its_preconditions,
        a_binding_under_another_name_is_refused,
        a_pod_being_deleted_is_not_bound,
        an_eviction_deletes_with_its_options,
        an_eviction_of_nothing_is_not_found,
        bindings_and_evictions_are_only_created,
    )
}

async fn a_binding_gives_a_pod_to_a_node(context: Context) -> Outcome {
    let made = context.create("pods", pod("a")).await?;
    let mut bind = binding("a");
    bind["metadata"] = json!({"name": "a", "uid": made.uid(), "annotations": {"by": "lab"}});
    let answer = context.create("pods/a/binding", bind).await?;
    ensure_eq!(answer.at("/status"), "Success", "the answer");
    let bound = context.read("pods/a").await?;
    ensure_eq!(bound.at("/spec/nodeName"), "n1", "the node");
    ensure_eq!(bound.at("/metadata/annotations/by"), "lab", "the annotation");
    ensure_eq!(bound.at("/status/conditions/0/type"), "PodScheduled", "the condition");
    ensure_eq!(bound.at("/status/conditions/0/status"), "True", "its state");
    ensure_eq!(
        context.names("pods?fieldSelector=spec.nodeName%3Dn1").await?,
        ["a"],
        "the pods of the node"
    );
    Ok(())
}

async fn a_pod_is_bound_once(context: Context) -> Outcome {
    context.create("pods", pod_on("a", "n0")).await?;
    let status = context.post("pods/a/binding", binding("a")).await?.refused(409, "Conflict")?;
    let message = status.at("/message");
    let expected = "Operation cannot be fulfilled on pods/binding \"a\": pod a is already assigned to node \"n0\"";
    ensure_eq!(message, expected, "the message");
    Ok(())
}

async fn a_binding_holds_its_preconditions(context: Context) -> Outcome {
    context.create("pods", pod("a")).await?;
    for (field, value) in [("uid", "other"), ("resourceVersion", "1")] {
        let mut bind = binding("a");
        bind["metadata"][field] = json!(value);
        context.post("pods/a/binding", bind).await?.refused(409, "Conflict")?;
    }
    ensure_eq!(context.read("pods/a").await?.at("/spec/nodeName"), "", "the node");
    Ok(())
}

async fn a_binding_under_another_name_is_refused(context: Context) -> Outcome {
    context.create("pods", pod("a")).await?;
    context.post("pods/a/binding", binding("b")).await?.refused(400, "BadRequest")?;
    context.post("pods/b/binding", binding("b")).await?.refused(404, "NotFound")?;
    Ok(())
}

async fn a_pod_being_deleted_is_not_bound(context: Context) -> Outcome {
    let mut held = pod("a");
    held["metadata"]["finalizers"] = json!([FINALIZER]);
    context.create("pods", held).await?;
    context.delete("pods/a").await?.expect(200)?;
    context.post("pods/a/binding", binding("a")).await?.refused(409, "Conflict")?;
    Ok(())
}

async fn an_eviction_deletes_with_its_options(context: Context) -> Outcome {
    context.create("pods", pod("waiting")).await?;
    context.create("pods/waiting/eviction", eviction("waiting", json!(null))).await?;
    context.get("pods/waiting").await?.refused(404, "NotFound")?;
    context.create("pods", pod_on("a", "n1")).await?;
    let dry = eviction("a", json!({"dryRun": ["All"]}));
    context.create("pods/a/eviction", dry).await?;
    ensure_eq!(
        context.read("pods/a").await?.at("/metadata/deletionTimestamp"),
        "",
        "after a dry run, its end"
    );
    let answer =
        context.create("pods/a/eviction", eviction("a", json!({"gracePeriodSeconds": 5}))).await?;
    ensure_eq!(answer.at("/status"), "Success", "the answer");
    let evicted = context.read("pods/a").await?;
    ensure_eq!(evicted["metadata"]["deletionGracePeriodSeconds"], 5, "the period");
    Ok(())
}

async fn an_eviction_of_nothing_is_not_found(context: Context) -> Outcome {
    let answer = context.post("pods/a/eviction", eviction("a", json!(null))).await?;
    answer.refused(404, "NotFound")?;
    context.create("pods", pod("a")).await?;
    let answer = context.post("pods/a/eviction", eviction("b", json!(null))).await?;
    answer.refused(400, "BadRequest")?;
    Ok(())
}

async fn bindings_and_evictions_are_only_created(context: Context) -> Outcome {
    context.create("pods", pod("a")).await?;
    for path in ["pods/a/binding", "pods/a/eviction"] {
        for method in [Method::GET, Method::PUT, Method::DELETE] {
            let request = context.request(method, path).json(&json!({}));
            request.send().await?.refused(405, "MethodNotAllowed")?;
        }
    }
    Ok(())
}

fn binding(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
        "target": {"apiVersion": "v1", "kind": "Node", "name": "n1"},
    })
}

fn eviction(name: &str, options: Value) -> Value {
    json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}, "deleteOptions": options})
}
