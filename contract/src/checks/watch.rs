//! Watches: where they begin, and what they tell in which order.

use serde_json::json;

use crate::check::{Outcome, checks};
use crate::context::At;
use crate::objects::{config_map, event, lease, pod};
use crate::{Check, Context, Event};

pub(super) fn checks() -> Vec<Check> {
    checks!("watch":
        changes_come_in_order_with_rising_versions,
        events_hold_the_object_as_it_was_written,
        a_delete_between_list_and_watch_is_told,
        a_new_object_of_the_same_name_is_told_as_deleted_and_added,
        all_that_happened_in_a_long_gap_is_told_in_order,
        a_watch_from_a_list_begins_right_after_it,
        without_a_version_what_exists_comes_first,
        version_zero_means_what_exists,
        each_kind_has_its_watch,
        a_version_from_long_ago_is_served_whole_or_refused_as_expired,
        a_version_from_the_future_is_waited_for,
        a_malformed_version_is_refused,
        a_match_of_versions_is_refused_without_initial_events,
        a_watch_says_that_it_is_json,
        two_watches_see_the_same,
    )
}

async fn changes_come_in_order_with_rising_versions(context: Context) -> Outcome {
    let start = context.list_version("configmaps").await?;
    let mut watch = context.watch(&from("configmaps", &start)).await?;
    context.create("configmaps", config_map("a")).await?;
    context.merge("configmaps/a", json!({"data": {"k": "2"}})).await?.expect(200)?;
    context.create("configmaps", config_map("b")).await?;
    context.delete("configmaps/a").await?.expect(200)?;
    let mut last = number(&start)?;
    for (kind, name) in [("ADDED", "a"), ("MODIFIED", "a"), ("ADDED", "b"), ("DELETED", "a")] {
        let version = number(&watch.expect(kind, name).await?.version())?;
        ensure!(version > last, "{kind} {name} has version {version}, the one before {last}");
        last = version;
    }
    Ok(())
}

async fn events_hold_the_object_as_it_was_written(context: Context) -> Outcome {
    let start = context.list_version("configmaps").await?;
    let mut watch = context.watch(&from("configmaps", &start)).await?;
    let made = context.create("configmaps", config_map("a")).await?;
    ensure_eq!(watch.expect("ADDED", "a").await?, made, "the addition");
    let patch = json!({"data": {"k": "2"}});
    let changed = context.merge("configmaps/a", patch).await?.expect(200)?;
    ensure_eq!(watch.expect("MODIFIED", "a").await?, changed, "the change");
    context.delete("configmaps/a").await?.expect(200)?;
    let gone = watch.expect("DELETED", "a").await?;
    ensure_eq!(gone["data"], changed["data"], "the last state");
    ensure_eq!(gone.uid(), made.uid(), "the uid of the last state");
    Ok(())
}

/// B47, first gap.
async fn a_delete_between_list_and_watch_is_told(context: Context) -> Outcome {
    let made = context.create("configmaps", config_map("a")).await?;
    let listed = context.list_version("configmaps").await?;
    context.delete("configmaps/a").await?.expect(200)?;
    context.create("configmaps", config_map("b")).await?;
    let mut watch = context.watch(&from("configmaps", &listed)).await?;
    ensure_eq!(watch.expect("DELETED", "a").await?.uid(), made.uid(), "the uid of the deletion");
    watch.expect("ADDED", "b").await?;
    Ok(())
}

/// B47, second gap.
async fn a_new_object_of_the_same_name_is_told_as_deleted_and_added(context: Context) -> Outcome {
    let first = context.create("configmaps", config_map("a")).await?;
    let listed = context.list_version("configmaps").await?;
    context.delete("configmaps/a").await?.expect(200)?;
    let second = context.create("configmaps", config_map("a")).await?;
    let mut watch = context.watch(&from("configmaps", &listed)).await?;
    ensure_eq!(watch.expect("DELETED", "a").await?.uid(), first.uid(), "the uid of the deletion");
    ensure_eq!(watch.expect("ADDED", "a").await?.uid(), second.uid(), "the uid of the addition");
    ensure!(first.uid() != second.uid(), "both objects have the uid {}", first.uid());
    Ok(())
}

/// B47, third gap.
async fn all_that_happened_in_a_long_gap_is_told_in_order(context: Context) -> Outcome {
    let listed = context.list_version("configmaps").await?;
    let mut expected = Vec::new();
    for round in 0..10 {
        let made = context.create("configmaps", config_map("a")).await?;
        let patch = json!({"data": {"round": round.to_string()}});
        let changed = context.merge("configmaps/a", patch).await?.expect(200)?;
        context.delete("configmaps/a").await?.expect(200)?;
        for (kind, version) in [("ADDED", made.version()), ("MODIFIED", changed.version())] {
            expected.push((kind, made.uid(), Some(version)));
        }
        expected.push(("DELETED", made.uid(), None));
    }
    let mut watch = context.watch(&from("configmaps", &listed)).await?;
    for (kind, uid, version) in expected {
        let seen = watch.expect(kind, "a").await?;
        ensure_eq!(seen.uid(), uid, "the uid of {kind}");
        if let Some(version) = version {
            ensure_eq!(seen.version(), version, "the version of {kind}");
        }
    }
    Ok(())
}

async fn a_watch_from_a_list_begins_right_after_it(context: Context) -> Outcome {
    context.create("configmaps", config_map("a")).await?;
    let listed = context.list_version("configmaps").await?;
    let mut watch = context.watch(&from("configmaps", &listed)).await?;
    context.create("configmaps", config_map("b")).await?;
    watch.expect("ADDED", "b").await?;
    Ok(())
}

async fn without_a_version_what_exists_comes_first(context: Context) -> Outcome {
    context.create("configmaps", config_map("a")).await?;
    let patch = json!({"data": {"k": "2"}});
    let changed = context.merge("configmaps/a", patch).await?.expect(200)?;
    context.create("configmaps", config_map("b")).await?;
    let mut watch = context.watch("configmaps").await?;
    let mut names = Vec::new();
    for _ in 0..2 {
        let event = watch.next().await?.ok_or("the watch ended")?;
        ensure_eq!(event.kind, "ADDED", "what exists is told as");
        if event.object.at("/metadata/name") == "a" {
            ensure_eq!(event.object, changed, "only its newest state is told");
        }
        names.push(event.object.at("/metadata/name"));
    }
    names.sort();
    ensure_eq!(names, ["a", "b"], "what exists");
    context.create("configmaps", config_map("c")).await?;
    watch.expect("ADDED", "c").await?;
    Ok(())
}

async fn version_zero_means_what_exists(context: Context) -> Outcome {
    // A real server may answer this from a cache that has not yet seen the newest write.
    context.create("configmaps", config_map("z")).await?;
    context.list_version("configmaps").await?;
    let mut watch = context.watch("configmaps?resourceVersion=0").await?;
    watch.expect("ADDED", "z").await?;
    Ok(())
}

async fn each_kind_has_its_watch(context: Context) -> Outcome {
    let secret = json!({"metadata": {"name": "a"}});
    let of_kinds = [
        ("pods", "Pod", "v1", pod("a")),
        ("secrets", "Secret", "v1", secret),
        ("leases", "Lease", "coordination.k8s.io/v1", lease("a")),
        ("events", "Event", "v1", event("a", context.namespace())),
    ];
    for (resource, kind, version, object) in of_kinds {
        let start = context.list_version(resource).await?;
        let mut watch = context.watch(&from(resource, &start)).await?;
        let made = context.create(resource, object).await?;
        let seen = watch.expect("ADDED", "a").await?;
        ensure_eq!(seen, made, "the event of {resource}");
        ensure_eq!(
            (seen.at("/kind"), seen.at("/apiVersion")),
            (kind.into(), version.into()),
            "its type"
        );
    }
    Ok(())
}

/// B45: never a watch that ends at once and says nothing. The store of events is one of its own.
async fn a_version_from_long_ago_is_served_whole_or_refused_as_expired(
    context: Context,
) -> Outcome {
    context.create("configmaps", config_map("a")).await?;
    context.create("events", event("a", context.namespace())).await?;
    context.create("secrets", json!({"metadata": {"name": "a"}})).await?;
    for resource in ["configmaps", "events", "secrets"] {
        let mut watch = context.watch(&from(resource, "1")).await?;
        let first = watch.next().await?.ok_or(format!("the watch of {resource} said nothing"))?;
        match first.kind.as_str() {
            "ADDED" => {
                ensure_eq!(first.object.at("/metadata/name"), "a", "the first of {resource}")
            }
            _ => {
                is_expired(&first)?;
                ensure!(watch.next().await?.is_none(), "a refused watch of {resource} goes on");
            }
        }
    }
    Ok(())
}

fn is_expired(event: &Event) -> Outcome {
    let status = &event.object;
    let is = |field: &str, value: &str| status[field] == value;
    ensure!(
        event.kind == "ERROR"
            && is("kind", "Status")
            && is("status", "Failure")
            && is("reason", "Expired")
            && status["code"] == 410,
        "expected the ERROR 410 Expired, saw {} {status}",
        event.kind
    );
    // The cache of a real server has other words than its store.
    let message = status.at("/message");
    ensure!(message.contains("too old"), "the message is {message:?}");
    Ok(())
}

async fn a_version_from_the_future_is_waited_for(context: Context) -> Outcome {
    let start = number(&context.list_version("configmaps").await?)?;
    // Other checks write too; this many changes are surely to come, and these events all after them.
    let mut watch = context.watch(&from("configmaps", &(start + 3).to_string())).await?;
    for name in ["a", "b", "c", "d", "e"] {
        context.create("configmaps", config_map(name)).await?;
    }
    let first = watch.next().await?.ok_or("the watch ended")?;
    ensure_eq!(first.kind, "ADDED", "the first event");
    let version = number(&first.object.version())?;
    ensure!(version > start + 3, "an event of version {version} in a watch from {}", start + 3);
    Ok(())
}

/// A real server says 500 where 400 or 422 would be right.
async fn a_malformed_version_is_refused(context: Context) -> Outcome {
    for version in ["x", "-1", "1.5", "99999999999999999999999"] {
        let path = format!("configmaps?watch=1&timeoutSeconds=1&resourceVersion={version}");
        let answer = context.get(&path).await?;
        ensure!(matches!(answer.code, 400 | 422 | 500), "expected a refusal, saw {answer}");
        ensure_eq!(answer.body["status"], "Failure", "the answer to version {version}");
        ensure_eq!(answer.body["kind"], "Status", "the answer to version {version}");
    }
    Ok(())
}

async fn a_match_of_versions_is_refused_without_initial_events(context: Context) -> Outcome {
    for rule in ["Exact", "NotOlderThan"] {
        let path = format!("configmaps?watch=1&resourceVersion=1&resourceVersionMatch={rule}");
        let field = "resourceVersionMatch";
        context.get(&path).await?.invalid(field, "FieldValueForbidden")?;
    }
    Ok(())
}

async fn a_watch_says_that_it_is_json(context: Context) -> Outcome {
    let watch = context.watch("configmaps?timeoutSeconds=1").await?;
    ensure_eq!(watch.content_type(), "application/json", "the type of the stream");
    Ok(())
}

async fn two_watches_see_the_same(context: Context) -> Outcome {
    let start = context.list_version("configmaps").await?;
    let mut first = context.watch(&from("configmaps", &start)).await?;
    for name in ["a", "b"] {
        context.create("configmaps", config_map(name)).await?;
    }
    let mut second = context.watch(&from("configmaps", &start)).await?;
    context.delete("configmaps/a").await?.expect(200)?;
    for (kind, name) in [("ADDED", "a"), ("ADDED", "b"), ("DELETED", "a")] {
        ensure_eq!(
            second.expect(kind, name).await?,
            first.expect(kind, name).await?,
            "{kind} {name}"
        );
    }
    Ok(())
}

pub(super) fn from(path: &str, version: &str) -> String {
    format!("{path}?resourceVersion={version}")
}

pub(super) fn number(version: &str) -> Result<u64, String> {
    version.parse().map_err(|_| format!("{version:?} is no number"))
}
