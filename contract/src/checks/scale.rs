//! The sub-resource `/scale` of workloads.

use serde_json::{Value, json};

use crate::check::{Outcome, checks};
use crate::context::At;
use crate::objects::{deployment, pod, replica_set};
use crate::{Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("scale":
        a_scale_tells_of_its_workload,
        a_scale_gives_the_whole_selector,
        a_scale_is_replaced,
        a_scale_is_patched_in_either_way,
        an_old_version_of_a_scale_is_a_conflict,
        a_scale_without_a_version_is_taken,
        another_uid_of_a_scale_is_a_conflict,
        a_scale_under_another_name_or_namespace_is_refused,
        negative_replicas_are_refused,
        the_same_scale_keeps_the_version,
        a_scale_raises_the_generation,
        a_scale_of_nothing_is_not_found,
        a_pod_has_no_scale,
    )
}

const SCALE: &str = "replicasets/a/scale";

async fn a_scale_tells_of_its_workload(context: Context) -> Outcome {
    for (resource, object) in [("replicasets", replica_set("a")), ("deployments", deployment("a"))]
    {
        let made = context.create(resource, object).await?;
        let scale = context.read(&format!("{resource}/a/scale")).await?;
        let expected = json!({
            "kind": "Scale", "apiVersion": "autoscaling/v1",
            "metadata": {
                "name": "a", "namespace": context.namespace(), "uid": made.uid(),
                "resourceVersion": made.version(), "creationTimestamp": made["metadata"]["creationTimestamp"],
            },
            "spec": {"replicas": 1},
            "status": {"replicas": 0, "selector": "app=web"},
        });
        ensure_eq!(scale, expected, "the scale of {resource}");
    }
    let patch = json!({"status": {"replicas": 2}});
    context.merge("replicasets/a/status", patch).await?.expect(200)?;
    ensure_eq!(context.read(SCALE).await?["status"]["replicas"], 2, "the replicas there are");
    Ok(())
}

async fn a_scale_gives_the_whole_selector(context: Context) -> Outcome {
    let mut object = replica_set("a");
    object["spec"]["selector"]["matchExpressions"] = json!([
        {"key": "tier", "operator": "In", "values": ["b", "a"]},
        {"key": "old", "operator": "DoesNotExist"},
    ]);
    object["spec"]["template"]["metadata"]["labels"]["tier"] = json!("a");
    context.create("replicasets", object).await?;
    let selector = context.read(SCALE).await?.at("/status/selector");
    ensure_eq!(selector, "app=web,!old,tier in (a,b)", "the selector");
    let listed = selector.replace(' ', "%20").replace('=', "%3D");
    context.read(&format!("pods?labelSelector={listed}")).await?;
    Ok(())
}

async fn a_scale_is_replaced(context: Context) -> Outcome {
    context.create("replicasets", replica_set("a")).await?;
    let mut scale = context.read(SCALE).await?;
    scale["spec"]["replicas"] = json!(5);
    scale["status"]["replicas"] = json!(9);
    scale["metadata"]["labels"] = json!({"l": "m"});
    let written = context.put(SCALE, &scale).await?.expect(200)?;
    ensure_eq!(written["spec"]["replicas"], 5, "the replicas of the answer");
    ensure_eq!(written["status"]["replicas"], 0, "the status, which a scale cannot set");
    let object = context.read("replicasets/a").await?;
    ensure_eq!(object["spec"]["replicas"], 5, "the replicas of the workload");
    ensure!(object["metadata"].get("labels").is_none(), "the label went to the workload");
    ensure_eq!(object.version(), written.version(), "the version");
    Ok(())
}

async fn a_scale_is_patched_in_either_way(context: Context) -> Outcome {
    context.create("replicasets", replica_set("a")).await?;
    let patched = context.merge(SCALE, replicas(7)).await?.expect(200)?;
    ensure_eq!(
        (patched.at("/kind"), &patched["spec"]["replicas"]),
        ("Scale".into(), &json!(7)),
        "the answer"
    );
    let place = "/spec/replicas";
    let patch = json!([
        {"op": "test", "path": place, "value": 7},
        {"op": "replace", "path": place, "value": 2},
    ]);
    let patched = context.json_patch(SCALE, patch.clone()).await?.expect(200)?;
    ensure_eq!(patched["spec"]["replicas"], 2, "the replicas");
    context.json_patch(SCALE, patch).await?.refused(422, "Invalid")?;
    Ok(())
}

async fn an_old_version_of_a_scale_is_a_conflict(context: Context) -> Outcome {
    context.create("replicasets", replica_set("a")).await?;
    let mut scale = context.read(SCALE).await?;
    scale["spec"]["replicas"] = json!(5);
    context.put(SCALE, &scale).await?.expect(200)?;
    scale["spec"]["replicas"] = json!(6);
    let status = context.put(SCALE, &scale).await?.refused(409, "Conflict")?;
    ensure_eq!(
        status["details"],
        json!({"name": "a", "group": "apps", "kind": "replicasets"}),
        "the details"
    );
    let mut patch = replicas(6);
    patch["metadata"] = json!({"resourceVersion": scale.version()});
    context.merge(SCALE, patch).await?.refused(409, "Conflict")?;
    Ok(())
}

async fn a_scale_without_a_version_is_taken(context: Context) -> Outcome {
    context.create("replicasets", replica_set("a")).await?;
    let scale = json!({"metadata": {"name": "a"}, "spec": {"replicas": 6}});
    ensure_eq!(
        context.put(SCALE, &scale).await?.expect(200)?["spec"]["replicas"],
        6,
        "the replicas"
    );
    Ok(())
}

async fn another_uid_of_a_scale_is_a_conflict(context: Context) -> Outcome {
    context.create("replicasets", replica_set("a")).await?;
    let scale = json!({"metadata": {"name": "a", "uid": "other"}, "spec": {"replicas": 6}});
    context.put(SCALE, &scale).await?.refused(409, "Conflict")?;
    Ok(())
}

async fn a_scale_under_another_name_or_namespace_is_refused(context: Context) -> Outcome {
    context.create("replicasets", replica_set("a")).await?;
    for metadata in [json!({"name": "b"}), json!({"name": "a", "namespace": "elsewhere"})] {
        let scale = json!({"metadata": metadata, "spec": {"replicas": 6}});
        context.put(SCALE, &scale).await?.refused(400, "BadRequest")?;
    }
    Ok(())
}

async fn negative_replicas_are_refused(context: Context) -> Outcome {
    context.create("replicasets", replica_set("a")).await?;
    context.merge(SCALE, replicas(-1)).await?.invalid("spec.replicas", "FieldValueInvalid")?;
    let scale = json!({"metadata": {"name": "a"}, "spec": {"replicas": -1}});
    context.put(SCALE, &scale).await?.invalid("spec.replicas", "FieldValueInvalid")?;
    let answer = context.merge("replicasets/a", replicas(-1)).await?;
    answer.invalid("spec.replicas", "FieldValueInvalid")?;
    Ok(())
}

async fn the_same_scale_keeps_the_version(context: Context) -> Outcome {
    context.create("replicasets", replica_set("a")).await?;
    // The first write makes its writer the manager of the field, which is a change too.
    let scale = context.merge(SCALE, replicas(2)).await?.expect(200)?;
    ensure_eq!(context.merge(SCALE, replicas(2)).await?.expect(200)?, scale, "after a patch");
    ensure_eq!(context.put(SCALE, &scale).await?.expect(200)?, scale, "after an update");
    Ok(())
}

async fn a_scale_raises_the_generation(context: Context) -> Outcome {
    for (resource, object) in [("replicasets", replica_set("a")), ("deployments", deployment("a"))]
    {
        context.create(resource, object).await?;
        context.merge(&format!("{resource}/a/scale"), replicas(3)).await?.expect(200)?;
        let scaled = context.read(&format!("{resource}/a")).await?;
        ensure_eq!(scaled["metadata"]["generation"], 2, "the generation of {resource}");
    }
    Ok(())
}

async fn a_scale_of_nothing_is_not_found(context: Context) -> Outcome {
    context.get(SCALE).await?.refused(404, "NotFound")?;
    context.merge(SCALE, replicas(1)).await?.refused(404, "NotFound")?;
    Ok(())
}

async fn a_pod_has_no_scale(context: Context) -> Outcome {
    context.create("pods", pod("a")).await?;
    context.get("pods/a/scale").await?.refused(404, "NotFound")?;
    Ok(())
}

fn replicas(number: i64) -> Value {
    json!({"spec": {"replicas": number}})
}
