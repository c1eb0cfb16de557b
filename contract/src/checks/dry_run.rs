//! Dry runs: everything is checked and answered as if, and nothing is stored or told to anybody.

use serde_json::{Value, json};

use crate::check::{Outcome, checks};
use crate::context::At;
use crate::objects::{config_map, deployment, labelled, lease, pod};
use crate::{Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("dry_run":
        creation_answers_the_object_and_stores_nothing,
        creation_with_a_prefix_makes_up_a_name,
        refusals_are_those_of_a_real_run,
        replacement_changes_nothing,
        patches_change_nothing,
        a_replacement_that_would_create_creates_nothing,
        status_and_scale_change_nothing,
        deletion_removes_nothing,
        deletion_takes_the_option_from_the_body_too,
        deletion_of_a_collection_removes_nothing,
        watches_see_nothing,
        unknown_values_are_refused,
    )
}

async fn creation_answers_the_object_and_stores_nothing(c: Context) -> Outcome {
    let answered = c.create("pods?dryRun=All", pod("a")).await?;
    ensure_eq!(answered["status"]["phase"], "Pending", "phase");
    ensure_eq!(answered["spec"]["restartPolicy"], "Always", "restartPolicy");
    ensure_eq!(answered.uid().len(), 36, "length of the uid");
    ensure_eq!(answered.version(), "", "version, as nothing is stored");
    c.get("pods/a").await?.refused(404, "NotFound")?;
    ensure_eq!(c.names("pods").await?.len(), 0, "how many exist");
    c.create("pods", pod("a")).await?;
    Ok(())
}

async fn creation_with_a_prefix_makes_up_a_name(c: Context) -> Outcome {
    let answered =
        c.create("configmaps?dryRun=All", json!({"metadata": {"generateName": "a-"}})).await?;
    let name = answered.at("/metadata/name");
    ensure!(name.starts_with("a-") && name.len() > 2, "not a name with that prefix: {name:?}");
    ensure_eq!(c.names("configmaps").await?.len(), 0, "how many exist");
    Ok(())
}

async fn refusals_are_those_of_a_real_run(c: Context) -> Outcome {
    let created = c.create("configmaps", config_map("a")).await?;
    c.post("configmaps?dryRun=All", config_map("a")).await?.refused(409, "AlreadyExists")?;
    let answer = c.post("configmaps?dryRun=All", config_map("A")).await?;
    answer.invalid("metadata.name", "FieldValueInvalid")?;
    c.put("configmaps/x?dryRun=All", &config_map("x")).await?.refused(404, "NotFound")?;
    let mut stale = created;
    stale["metadata"]["resourceVersion"] = json!("1");
    c.put("configmaps/a?dryRun=All", &stale).await?.refused(409, "Conflict")?;
    c.delete("configmaps/x?dryRun=All").await?.refused(404, "NotFound")?;
    let wrong = json!({"preconditions": {"uid": "x"}});
    c.delete_with("configmaps/a?dryRun=All", wrong).await?.refused(409, "Conflict")?;
    Ok(())
}

async fn replacement_changes_nothing(c: Context) -> Outcome {
    let created = c.create("configmaps", config_map("a")).await?;
    let mut changed = created.clone();
    changed["data"]["k"] = json!("w");
    let answered = c.put("configmaps/a?dryRun=All", &changed).await?.expect(200)?;
    ensure_eq!(answered.at("/data/k"), "w", "data in the answer");
    ensure_eq!(c.read("configmaps/a").await?, created, "what is stored");
    Ok(())
}

async fn patches_change_nothing(c: Context) -> Outcome {
    let created = c.create("configmaps", config_map("a")).await?;
    let answered =
        c.merge("configmaps/a?dryRun=All", json!({"data": {"k": "w"}})).await?.expect(200)?;
    ensure_eq!(answered.at("/data/k"), "w", "data in the answer to a merge patch");
    let operations = json!([{"op": "remove", "path": "/data/k"}]);
    let answered = c.json_patch("configmaps/a?dryRun=All", operations).await?.expect(200)?;
    ensure_eq!(answered.at("/data/k"), "", "data in the answer to a JSON patch");
    ensure_eq!(c.read("configmaps/a").await?, created, "what is stored");
    Ok(())
}

async fn a_replacement_that_would_create_creates_nothing(c: Context) -> Outcome {
    c.put("leases/a?dryRun=All", &lease("a")).await?.expect(201)?;
    c.get("leases/a").await?.refused(404, "NotFound")?;
    Ok(())
}

async fn status_and_scale_change_nothing(c: Context) -> Outcome {
    let created = c.create("deployments", deployment("a")).await?;
    let patch = json!({"status": {"observedGeneration": 1}});
    let answered = c.merge("deployments/a/status?dryRun=All", patch).await?.expect(200)?;
    ensure_eq!(answered["status"]["observedGeneration"], 1, "status in the answer");
    let answered = c
        .merge("deployments/a/scale?dryRun=All", json!({"spec": {"replicas": 5}}))
        .await?
        .expect(200)?;
    ensure_eq!(answered["spec"]["replicas"], 5, "replicas in the answer");
    ensure_eq!(c.read("deployments/a").await?, created, "what is stored");
    Ok(())
}

async fn deletion_removes_nothing(c: Context) -> Outcome {
    let created = c.create("configmaps", config_map("a")).await?;
    c.delete("configmaps/a?dryRun=All").await?.expect(200)?;
    ensure_eq!(c.read("configmaps/a").await?, created, "what is stored");
    let created = c.create("pods", pod("a")).await?;
    c.delete("pods/a?dryRun=All&gracePeriodSeconds=5").await?.expect(200)?;
    ensure_eq!(c.read("pods/a").await?, created, "the pod that is stored");
    Ok(())
}

async fn deletion_takes_the_option_from_the_body_too(c: Context) -> Outcome {
    c.create("configmaps", config_map("a")).await?;
    c.delete_with("configmaps/a", json!({"dryRun": ["All"]})).await?.expect(200)?;
    c.read("configmaps/a").await?;
    let answer = c.delete_with("configmaps/a", json!({"dryRun": ["Nope"]})).await?;
    answer.refused(422, "Invalid")?;
    c.read("configmaps/a").await?;
    Ok(())
}

async fn deletion_of_a_collection_removes_nothing(c: Context) -> Outcome {
    for name in ["a", "b"] {
        c.create("configmaps", labelled(name, json!({"app": "web"}))).await?;
    }
    c.delete("configmaps?dryRun=All&labelSelector=app%3Dweb").await?.expect(200)?;
    ensure_eq!(c.names("configmaps").await?, ["a", "b"], "what exists");
    Ok(())
}

async fn watches_see_nothing(c: Context) -> Outcome {
    let version = c.create("configmaps", config_map("a")).await?.version();
    let mut watch = c.watch(&format!("configmaps?resourceVersion={version}")).await?;
    c.create("configmaps?dryRun=All", config_map("b")).await?;
    c.merge("configmaps/a?dryRun=All", json!({"data": {"k": "w"}})).await?.expect(200)?;
    c.delete("configmaps/a?dryRun=All").await?.expect(200)?;
    c.create("configmaps", config_map("real")).await?;
    watch.expect("ADDED", "real").await?;
    Ok(())
}

async fn unknown_values_are_refused(c: Context) -> Outcome {
    let created = c.create("configmaps", config_map("a")).await?;
    for value in ["Nope", "true", "all"] {
        let create = c.post(&format!("configmaps?dryRun={value}"), config_map("b")).await?;
        let update = c.put(&format!("configmaps/a?dryRun={value}"), &config_map("a")).await?;
        let patch =
            c.merge(&format!("configmaps/a?dryRun={value}"), json!({"data": Value::Null})).await?;
        let delete = c.delete(&format!("configmaps/a?dryRun={value}")).await?;
        for answer in [create, update, patch, delete] {
            answer.invalid("dryRun", "FieldValueNotSupported")?;
        }
    }
    ensure_eq!(c.read("configmaps/a").await?, created, "what is stored");
    ensure_eq!(c.names("configmaps").await?, ["a"], "what exists");
    Ok(())
}
