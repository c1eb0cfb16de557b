//! Finalizers (B81): what they hold, and what can still change meanwhile.

use serde_json::{Value, json};

use crate::check::{Outcome, checks};
use crate::context::At;
use crate::objects::{FINALIZER, config_map, held, replica_set};
use crate::{Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("finalizers":
        a_client_cannot_create_what_is_being_deleted,
        the_first_deletion_marks_the_object,
        the_second_deletion_changes_nothing,
        the_mark_raises_the_generation,
        none_can_be_added_then,
        none_can_be_exchanged_then,
        some_can_be_removed_then,
        data_and_spec_can_change_then,
        the_mark_cannot_be_cleared_or_changed,
        the_last_removed_by_update_removes_the_object,
        the_last_removed_by_patch_removes_the_object,
        the_last_removed_by_json_patch_removes_the_object,
        the_last_change_is_in_the_last_state,
        watchers_see_the_mark_and_one_deletion,
        the_name_is_taken_until_it_is_gone,
        preconditions_hold_for_what_is_marked,
        without_a_deletion_removing_them_removes_nothing,
        a_bad_name_is_refused,
        the_two_of_the_collector_exclude_each_other,
    )
}

const PATH: &str = "configmaps/a";

async fn a_client_cannot_create_what_is_being_deleted(context: Context) -> Outcome {
    let mut object = config_map("a");
    object["metadata"]["deletionTimestamp"] = json!("2030-01-01T00:00:00Z");
    object["metadata"]["deletionGracePeriodSeconds"] = json!(5);
    let made = context.create("configmaps", object).await?;
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds"] {
        ensure!(made["metadata"].get(field).is_none(), "{field} was taken: {made}");
    }
    Ok(())
}

async fn the_first_deletion_marks_the_object(context: Context) -> Outcome {
    let made = context.create("configmaps", held("a")).await?;
    let marked = mark(&context, PATH).await?;
    ensure!(!marked.at("/metadata/deletionTimestamp").is_empty(), "no time of deletion: {marked}");
    ensure_eq!(marked["metadata"]["finalizers"], json!([FINALIZER]), "the finalizers");
    ensure!(marked.version() != made.version(), "the version is still {}", made.version());
    ensure_eq!(context.read(PATH).await?, marked, "what is stored");
    Ok(())
}

async fn the_second_deletion_changes_nothing(context: Context) -> Outcome {
    context.create("configmaps", held("a")).await?;
    let marked = mark(&context, PATH).await?;
    ensure_eq!(mark(&context, PATH).await?, marked, "the second answer");
    Ok(())
}

async fn the_mark_raises_the_generation(context: Context) -> Outcome {
    let mut object = replica_set("a");
    object["metadata"]["finalizers"] = json!([FINALIZER]);
    context.create("replicasets", object).await?;
    for _ in 0..2 {
        let marked = mark(&context, "replicasets/a").await?;
        ensure_eq!(marked["metadata"]["generation"], 2, "the generation");
    }
    Ok(())
}

async fn none_can_be_added_then(context: Context) -> Outcome {
    context.create("configmaps", held("a")).await?;
    let mut marked = mark(&context, PATH).await?;
    let more = json!([FINALIZER, "lab.test/y"]);
    let answer = context.merge(PATH, finalizers(&more)).await?;
    let status = answer.invalid("metadata.finalizers", "FieldValueForbidden")?;
    let message = status.at("/message");
    ensure!(message.contains("lab.test/y"), "the message does not name it: {message:?}");
    marked["metadata"]["finalizers"] = more;
    context.put(PATH, &marked).await?.invalid("metadata.finalizers", "FieldValueForbidden")?;
    Ok(())
}

async fn none_can_be_exchanged_then(context: Context) -> Outcome {
    context.create("configmaps", held("a")).await?;
    mark(&context, PATH).await?;
    let answer = context.merge(PATH, finalizers(&json!(["lab.test/y"]))).await?;
    answer.invalid("metadata.finalizers", "FieldValueForbidden")?;
    Ok(())
}

async fn some_can_be_removed_then(context: Context) -> Outcome {
    let mut object = held("a");
    object["metadata"]["finalizers"] = json!(["lab.test/x", "lab.test/y", "lab.test/z"]);
    context.create("configmaps", object).await?;
    mark(&context, PATH).await?;
    let left = json!(["lab.test/z", "lab.test/x"]);
    let changed = context.merge(PATH, finalizers(&left)).await?.expect(200)?;
    ensure_eq!(changed["metadata"]["finalizers"], left, "the finalizers");
    context.read(PATH).await?;
    Ok(())
}

async fn data_and_spec_can_change_then(context: Context) -> Outcome {
    context.create("configmaps", held("a")).await?;
    let marked = mark(&context, PATH).await?;
    let changed = context.merge(PATH, json!({"data": {"x": "y"}})).await?.expect(200)?;
    ensure_eq!(changed["data"], json!({"x": "y"}), "the data");
    ensure_eq!(
        changed["metadata"]["deletionTimestamp"],
        marked["metadata"]["deletionTimestamp"],
        "the time of deletion"
    );
    let mut object = replica_set("a");
    object["metadata"]["finalizers"] = json!([FINALIZER]);
    context.create("replicasets", object).await?;
    mark(&context, "replicasets/a").await?;
    let patch = json!({"spec": {"replicas": 3}});
    let changed = context.merge("replicasets/a", patch).await?.expect(200)?;
    ensure_eq!(changed["metadata"]["generation"], 3, "the generation");
    Ok(())
}

async fn the_mark_cannot_be_cleared_or_changed(context: Context) -> Outcome {
    context.create("configmaps", held("a")).await?;
    let marked = mark(&context, PATH).await?;
    let time = marked["metadata"]["deletionTimestamp"].clone();
    for value in [json!(null), json!("2040-01-01T00:00:00Z")] {
        let patch = json!({"metadata": {"deletionTimestamp": value}});
        let answer = context.merge(PATH, patch).await?.expect(200)?;
        ensure_eq!(answer["metadata"]["deletionTimestamp"], time, "the time after a patch");
        let mut object = marked.clone();
        object["metadata"]["deletionTimestamp"] = value;
        object["metadata"]["resourceVersion"] = json!(null);
        let answer = context.put(PATH, &object).await?.expect(200)?;
        ensure_eq!(answer["metadata"]["deletionTimestamp"], time, "the time after an update");
    }
    let patch = json!({"metadata": {"deletionGracePeriodSeconds": 7}});
    let answer = context.merge(PATH, patch).await?;
    answer.invalid("metadata.deletionGracePeriodSeconds", "FieldValueInvalid")?;
    Ok(())
}

async fn the_last_removed_by_update_removes_the_object(context: Context) -> Outcome {
    context.create("configmaps", held("a")).await?;
    let mut marked = mark(&context, PATH).await?;
    marked["metadata"]["finalizers"] = json!([]);
    let last = context.put(PATH, &marked).await?.expect(200)?;
    ensure_eq!(last.at("/kind"), "ConfigMap", "the kind of the answer");
    context.get(PATH).await?.refused(404, "NotFound")?;
    Ok(())
}

async fn the_last_removed_by_patch_removes_the_object(context: Context) -> Outcome {
    for list in [json!(null), json!([])] {
        context.create("configmaps", held("a")).await?;
        mark(&context, PATH).await?;
        context.merge(PATH, finalizers(&list)).await?.expect(200)?;
        context.get(PATH).await?.refused(404, "NotFound")?;
    }
    Ok(())
}

async fn the_last_removed_by_json_patch_removes_the_object(context: Context) -> Outcome {
    context.create("configmaps", held("a")).await?;
    mark(&context, PATH).await?;
    let place = "/metadata/finalizers/0";
    let patch = json!([
        {"op": "test", "path": place, "value": FINALIZER},
        {"op": "remove", "path": place},
    ]);
    context.json_patch(PATH, patch).await?.expect(200)?;
    context.get(PATH).await?.refused(404, "NotFound")?;
    Ok(())
}

async fn the_last_change_is_in_the_last_state(context: Context) -> Outcome {
    context.create("configmaps", held("a")).await?;
    let marked = mark(&context, PATH).await?;
    let patch = json!({"metadata": {"finalizers": null}, "data": {"last": "words"}});
    let last = context.merge(PATH, patch).await?.expect(200)?;
    ensure_eq!(last["data"], json!({"last": "words"}), "the data of the answer");
    ensure_eq!(last.uid(), marked.uid(), "its uid");
    Ok(())
}

async fn watchers_see_the_mark_and_one_deletion(context: Context) -> Outcome {
    let made = context.create("configmaps", held("a")).await?;
    let path = format!("configmaps?resourceVersion={}", made.version());
    let mut watch = context.watch(&path).await?;
    mark(&context, PATH).await?;
    mark(&context, PATH).await?;
    context.merge(PATH, finalizers(&json!(null))).await?.expect(200)?;
    context.create("configmaps", config_map("b")).await?;
    let marked = watch.expect("MODIFIED", "a").await?;
    ensure!(
        !marked.at("/metadata/deletionTimestamp").is_empty(),
        "the change is no mark: {marked}"
    );
    let gone = watch.expect("DELETED", "a").await?;
    ensure!(gone.version() != marked.version(), "the deletion has the version of the mark");
    watch.expect("ADDED", "b").await?;
    Ok(())
}

async fn the_name_is_taken_until_it_is_gone(context: Context) -> Outcome {
    context.create("configmaps", held("a")).await?;
    mark(&context, PATH).await?;
    let answer = context.post("configmaps", config_map("a")).await?;
    let status = answer.refused(409, "AlreadyExists")?;
    let message = status.at("/message");
    ensure_eq!(message, "object is being deleted: configmaps \"a\" already exists", "the message");
    context.merge(PATH, finalizers(&json!(null))).await?.expect(200)?;
    context.create("configmaps", config_map("a")).await?;
    Ok(())
}

async fn preconditions_hold_for_what_is_marked(context: Context) -> Outcome {
    context.create("configmaps", held("a")).await?;
    let marked = mark(&context, PATH).await?;
    let wrong = json!({"preconditions": {"uid": "other"}});
    context.delete_with(PATH, wrong).await?.refused(409, "Conflict")?;
    let right =
        json!({"preconditions": {"uid": marked.uid(), "resourceVersion": marked.version()}});
    ensure_eq!(context.delete_with(PATH, right).await?.expect(200)?, marked, "the object");
    Ok(())
}

async fn without_a_deletion_removing_them_removes_nothing(context: Context) -> Outcome {
    context.create("configmaps", held("a")).await?;
    context.merge(PATH, finalizers(&json!(null))).await?.expect(200)?;
    context.read(PATH).await?;
    Ok(())
}

async fn a_bad_name_is_refused(context: Context) -> Outcome {
    for (index, name) in ["short", "lab.test/a b", "/x", "a/b/c"].into_iter().enumerate() {
        let mut object = config_map(&format!("m{index}"));
        object["metadata"]["finalizers"] = json!([name]);
        let answer = context.post("configmaps", object).await?;
        answer.refused(422, "Invalid").map_err(|error| format!("{name:?}: {error}"))?;
    }
    Ok(())
}

async fn the_two_of_the_collector_exclude_each_other(context: Context) -> Outcome {
    let mut object = config_map("a");
    object["metadata"]["finalizers"] = json!(["orphan", "foregroundDeletion"]);
    let answer = context.post("configmaps", object).await?;
    answer.invalid("metadata.finalizers", "FieldValueInvalid")?;
    Ok(())
}

async fn mark(context: &Context, path: &str) -> Result<Value, String> {
    context.delete(path).await?.expect(200)
}

fn finalizers(list: &Value) -> Value {
    json!({"metadata": {"finalizers": list}})
}
