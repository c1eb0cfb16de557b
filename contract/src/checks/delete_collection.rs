//! Deletion of whole collections.

use serde_json::json;

use super::delete::is_being_deleted;
use crate::check::{Outcome, checks};
use crate::context::{At, names};
use crate::objects::{held, labelled, pod, pod_on};
use crate::{Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("delete_collection":
        a_collection_goes_by_label,
        a_collection_goes_by_field,
        a_collection_is_answered_as_a_list,
        a_collection_leaves_what_is_held,
        a_policy_counts_for_each_of_a_collection,
        a_bad_selector_deletes_nothing,
        a_collection_of_pods_gets_its_grace,
        there_is_no_deletion_in_all_namespaces,
        there_is_no_deletion_of_all_namespaces,
    )
}

async fn a_collection_goes_by_label(context: Context) -> Outcome {
    labelled_maps(&context).await?;
    context.delete("configmaps?labelSelector=app%3Dx").await?.expect(200)?;
    let left = context.names("configmaps?labelSelector=app").await?;
    ensure_eq!(left, ["b"], "what is left");
    Ok(())
}

async fn a_collection_goes_by_field(context: Context) -> Outcome {
    labelled_maps(&context).await?;
    context.delete("configmaps?fieldSelector=metadata.name%3Db").await?.expect(200)?;
    let left = context.names("configmaps?labelSelector=app").await?;
    ensure_eq!(left, ["a", "c"], "what is left");
    Ok(())
}

async fn a_collection_is_answered_as_a_list(context: Context) -> Outcome {
    labelled_maps(&context).await?;
    let answer = context.delete("configmaps?labelSelector=app%3Dx").await?.expect(200)?;
    ensure_eq!(
        (answer.at("/kind"), answer.at("/apiVersion")),
        ("ConfigMapList".into(), "v1".into()),
        "the type"
    );
    ensure_eq!(names(&answer), ["a", "c"], "the items");
    Ok(())
}

async fn a_collection_leaves_what_is_held(context: Context) -> Outcome {
    let mut object = held("held");
    object["metadata"]["labels"] = json!({"app": "x"});
    context.create("configmaps", object).await?;
    labelled_maps(&context).await?;
    context.delete("configmaps?labelSelector=app").await?.expect(200)?;
    let left = context.names("configmaps?labelSelector=app").await?;
    ensure_eq!(left, ["held"], "what is left");
    is_being_deleted(&context.read("configmaps/held").await?)
}

async fn a_policy_counts_for_each_of_a_collection(context: Context) -> Outcome {
    labelled_maps(&context).await?;
    let options = json!({"propagationPolicy": "Orphan"});
    context.delete_with("configmaps?labelSelector=app%3Dx", options).await?.expect(200)?;
    for name in ["a", "c"] {
        let stays = context.read(&format!("configmaps/{name}")).await?;
        ensure_eq!(stays["metadata"]["finalizers"], json!(["orphan"]), "the finalizers of {name}");
    }
    Ok(())
}

async fn a_bad_selector_deletes_nothing(context: Context) -> Outcome {
    labelled_maps(&context).await?;
    for selector in ["labelSelector=app%3D_x", "labelSelector=!!", "fieldSelector=spec.bogus%3D1"] {
        context.delete(&format!("configmaps?{selector}")).await?.refused(400, "BadRequest")?;
    }
    let left = context.names("configmaps?labelSelector=app").await?;
    ensure_eq!(left, ["a", "b", "c"], "what is left");
    Ok(())
}

async fn a_collection_of_pods_gets_its_grace(context: Context) -> Outcome {
    context.create("pods", pod("waiting")).await?;
    context.create("pods", pod_on("running", "n1")).await?;
    context.delete("pods").await?.expect(200)?;
    ensure_eq!(context.names("pods").await?, ["running"], "what is left");
    is_being_deleted(&context.read("pods/running").await?)?;
    context.delete_with("pods", json!({"gracePeriodSeconds": 0})).await?.expect(200)?;
    ensure!(context.names("pods").await?.is_empty(), "pods are left");
    Ok(())
}

async fn there_is_no_deletion_in_all_namespaces(context: Context) -> Outcome {
    context.delete("/api/v1/configmaps").await?.refused(405, "MethodNotAllowed")?;
    Ok(())
}

async fn there_is_no_deletion_of_all_namespaces(context: Context) -> Outcome {
    context.delete("/api/v1/namespaces").await?.refused(405, "MethodNotAllowed")?;
    Ok(())
}

/// The ConfigMaps `a` and `c` with `app=x`, and `b` with `app=y`.
async fn labelled_maps(context: &Context) -> Outcome {
    for (name, app) in [("a", "x"), ("b", "y"), ("c", "x")] {
        context.create("configmaps", labelled(name, json!({"app": app}))).await?;
    }
    Ok(())
}
