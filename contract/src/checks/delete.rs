//! Deletion: its answers, options, preconditions and policies.

use http::Method;
use serde_json::{Value, json};

use crate::check::{Outcome, checks};
use crate::context::At;
use crate::objects::{FINALIZER, config_map, held, replica_set};
use crate::{Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("delete":
        a_status_with_the_uid_answers_for_what_is_gone,
        the_object_answers_while_it_stays,
        what_is_gone_is_not_found,
        a_deletion_is_told_once_with_a_new_version,
        a_wrong_uid_is_a_conflict,
        a_wrong_version_is_a_conflict,
        right_preconditions_let_it_go,
        a_uid_in_the_query_is_a_precondition,
        options_are_read_from_the_body,
        options_are_read_from_the_query,
        a_body_makes_the_query_void,
        the_old_orphan_option_still_works,
        an_unknown_policy_is_refused,
        both_ways_to_say_the_policy_are_refused,
        what_are_no_options_is_refused,
        a_period_means_nothing_for_what_has_none,
        a_policy_replaces_the_finalizer_of_another,
    )
}

const PATH: &str = "configmaps/a";

/// B32.
async fn a_status_with_the_uid_answers_for_what_is_gone(context: Context) -> Outcome {
    let made = context.create("configmaps", config_map("a")).await?;
    let answer = context.delete(PATH).await?.expect(200)?;
    let details = json!({"name": "a", "kind": "configmaps", "uid": made.uid()});
    let expected = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details});
    ensure_eq!(answer, expected, "the answer");
    let made = context.create("replicasets", replica_set("a")).await?;
    let answer = context.delete("replicasets/a").await?.expect(200)?;
    let details = json!({"name": "a", "group": "apps", "kind": "replicasets", "uid": made.uid()});
    ensure_eq!(answer["details"], details, "the details with a group");
    Ok(())
}

/// B32.
async fn the_object_answers_while_it_stays(context: Context) -> Outcome {
    let made = context.create("configmaps", held("a")).await?;
    let stays = context.delete(PATH).await?.expect(200)?;
    ensure_eq!(stays.at("/kind"), "ConfigMap", "the kind of the answer");
    ensure_eq!(stays.uid(), made.uid(), "its uid");
    is_being_deleted(&stays)?;
    ensure_eq!(stays["metadata"]["deletionGracePeriodSeconds"], 0, "its grace period");
    ensure_eq!(context.read(PATH).await?, stays, "what is stored");
    Ok(())
}

async fn what_is_gone_is_not_found(context: Context) -> Outcome {
    context.create("configmaps", config_map("a")).await?;
    context.delete(PATH).await?.expect(200)?;
    let status = context.delete(PATH).await?.refused(404, "NotFound")?;
    ensure_eq!(status.at("/message"), "configmaps \"a\" not found", "the message");
    context.get(PATH).await?.refused(404, "NotFound")?;
    ensure!(!context.names("configmaps").await?.contains(&"a".to_owned()), "it is still listed");
    Ok(())
}

async fn a_deletion_is_told_once_with_a_new_version(context: Context) -> Outcome {
    let made = context.create("configmaps", config_map("a")).await?;
    let mut watch =
        context.watch(&format!("configmaps?resourceVersion={}", made.version())).await?;
    context.delete(PATH).await?.expect(200)?;
    context.create("configmaps", config_map("b")).await?;
    let gone = watch.expect("DELETED", "a").await?;
    ensure!(gone.version() != made.version(), "the deletion has the version of the creation");
    watch.expect("ADDED", "b").await?;
    Ok(())
}

/// B81.
async fn a_wrong_uid_is_a_conflict(context: Context) -> Outcome {
    context.create("configmaps", config_map("a")).await?;
    let wrong = json!({"preconditions": {"uid": "other"}});
    let status = context.delete_with(PATH, wrong.clone()).await?.refused(409, "Conflict")?;
    let message = status.at("/message");
    ensure!(message.contains("the UID in the precondition (other)"), "the message is {message:?}");
    context.read(PATH).await?;
    context.delete(PATH).await?.expect(200)?;
    context.delete_with(PATH, wrong).await?.refused(404, "NotFound")?;
    Ok(())
}

/// B81.
async fn a_wrong_version_is_a_conflict(context: Context) -> Outcome {
    let made = context.create("configmaps", config_map("a")).await?;
    context.merge(PATH, json!({"data": {"k": "2"}})).await?.expect(200)?;
    let old = json!({"preconditions": {"resourceVersion": made.version()}});
    let status = context.delete_with(PATH, old).await?.refused(409, "Conflict")?;
    let message = status.at("/message");
    ensure!(
        message.contains("the ResourceVersion in the precondition"),
        "the message is {message:?}"
    );
    context.read(PATH).await?;
    Ok(())
}

async fn right_preconditions_let_it_go(context: Context) -> Outcome {
    let made = context.create("configmaps", config_map("a")).await?;
    let right = json!({
        "kind": "DeleteOptions", "apiVersion": "v1",
        "preconditions": {"uid": made.uid(), "resourceVersion": made.version()},
    });
    context.delete_with(PATH, right).await?.expect(200)?;
    context.get(PATH).await?.refused(404, "NotFound")?;
    Ok(())
}

async fn a_uid_in_the_query_is_a_precondition(context: Context) -> Outcome {
    let made = context.create("configmaps", config_map("a")).await?;
    context.delete(&format!("{PATH}?uid=other")).await?.refused(409, "Conflict")?;
    context.delete(&format!("{PATH}?uid={}", made.uid())).await?.expect(200)?;
    Ok(())
}

const POLICIES: [(&str, Option<&str>); 3] =
    [("Orphan", Some("orphan")), ("Foreground", Some("foregroundDeletion")), ("Background", None)];

async fn options_are_read_from_the_body(context: Context) -> Outcome {
    for (policy, finalizer) in POLICIES {
        context.create("replicasets", replica_set("a")).await?;
        let options = json!({"propagationPolicy": policy});
        let answer = context.delete_with("replicasets/a", options).await?.expect(200)?;
        waits_for(&context, "replicasets/a", &answer, finalizer).await?;
    }
    Ok(())
}

async fn options_are_read_from_the_query(context: Context) -> Outcome {
    for (policy, finalizer) in POLICIES {
        context.create("replicasets", replica_set("a")).await?;
        let path = format!("replicasets/a?propagationPolicy={policy}");
        let answer = context.delete(&path).await?.expect(200)?;
        waits_for(&context, "replicasets/a", &answer, finalizer).await?;
    }
    Ok(())
}

async fn a_body_makes_the_query_void(context: Context) -> Outcome {
    for body in [json!({}), json!({"propagationPolicy": "Background"})] {
        context.create("configmaps", config_map("a")).await?;
        let path = format!("{PATH}?propagationPolicy=Orphan");
        let answer = context.delete_with(&path, body).await?.expect(200)?;
        waits_for(&context, PATH, &answer, None).await?;
    }
    Ok(())
}

async fn the_old_orphan_option_still_works(context: Context) -> Outcome {
    context.create("configmaps", config_map("a")).await?;
    let answer = context.delete_with(PATH, json!({"orphanDependents": true})).await?.expect(200)?;
    waits_for(&context, PATH, &answer, Some("orphan")).await?;
    context.create("configmaps", config_map("a")).await?;
    let answer = context.delete(&format!("{PATH}?orphanDependents=false")).await?.expect(200)?;
    waits_for(&context, PATH, &answer, None).await
}

async fn an_unknown_policy_is_refused(context: Context) -> Outcome {
    context.create("configmaps", config_map("a")).await?;
    let (field, cause) = ("propagationPolicy", "FieldValueNotSupported");
    context
        .delete_with(PATH, json!({"propagationPolicy": "Sideways"}))
        .await?
        .invalid(field, cause)?;
    context.delete(&format!("{PATH}?propagationPolicy=Sideways")).await?.invalid(field, cause)?;
    context.read(PATH).await?;
    Ok(())
}

async fn both_ways_to_say_the_policy_are_refused(context: Context) -> Outcome {
    context.create("configmaps", config_map("a")).await?;
    let options = json!({"propagationPolicy": "Orphan", "orphanDependents": true});
    let answer = context.delete_with(PATH, options).await?;
    answer.invalid("propagationPolicy", "FieldValueInvalid")?;
    Ok(())
}

async fn what_are_no_options_is_refused(context: Context) -> Outcome {
    context.create("configmaps", config_map("a")).await?;
    context
        .delete_with(PATH, json!({"kind": "Pod", "apiVersion": "v1"}))
        .await?
        .refused(400, "BadRequest")?;
    for body in ["{", "[]", "{\"gracePeriodSeconds\":\"soon\"}"] {
        let request = context.request(Method::DELETE, PATH).bytes(body);
        let refused =
            request.content_type("application/json").send().await?.refused(400, "BadRequest");
        refused.map_err(|error| format!("{body}: {error}"))?;
    }
    let request = context.request(Method::DELETE, PATH).bytes("{}").content_type("text/plain");
    request.send().await?.refused(415, "UnsupportedMediaType")?;
    context.delete(&format!("{PATH}?gracePeriodSeconds=soon")).await?.refused(400, "BadRequest")?;
    context.read(PATH).await?;
    Ok(())
}

async fn a_period_means_nothing_for_what_has_none(context: Context) -> Outcome {
    for period in [0, 30, -1] {
        context.create("configmaps", config_map("a")).await?;
        let options = json!({"gracePeriodSeconds": period});
        let answer = context.delete_with(PATH, options).await?.expect(200)?;
        ensure_eq!(answer.at("/kind"), "Status", "the kind of the answer");
        context.get(PATH).await?.refused(404, "NotFound")?;
    }
    Ok(())
}

async fn a_policy_replaces_the_finalizer_of_another(context: Context) -> Outcome {
    let mut object = config_map("a");
    object["metadata"]["finalizers"] = json!(["orphan", FINALIZER]);
    context.create("configmaps", object).await?;
    let steps = [
        ("Foreground", json!([FINALIZER, "foregroundDeletion"])),
        ("Orphan", json!([FINALIZER, "orphan"])),
        ("Background", json!([FINALIZER])),
    ];
    for (policy, finalizers) in steps {
        let path = format!("{PATH}?propagationPolicy={policy}");
        let stays = context.delete(&path).await?.expect(200)?;
        ensure_eq!(stays["metadata"]["finalizers"], finalizers, "the finalizers after {policy}");
    }
    Ok(())
}

/// Checks that the object stays with this finalizer, and takes that away; or that it is gone.
async fn waits_for(
    context: &Context,
    path: &str,
    answer: &Value,
    finalizer: Option<&str>,
) -> Outcome {
    match finalizer {
        None => {
            ensure_eq!(answer.at("/kind"), "Status", "the kind of the answer");
        }
        Some(finalizer) => {
            ensure_eq!(answer["metadata"]["finalizers"], json!([finalizer]), "the finalizers");
            is_being_deleted(answer)?;
            context.merge(path, json!({"metadata": {"finalizers": null}})).await?.expect(200)?;
        }
    }
    context.get(path).await?.refused(404, "NotFound")?;
    Ok(())
}

pub(super) fn is_being_deleted(object: &Value) -> Outcome {
    ensure!(
        !object.at("/metadata/deletionTimestamp").is_empty(),
        "it is not being deleted: {object}"
    );
    Ok(())
}
