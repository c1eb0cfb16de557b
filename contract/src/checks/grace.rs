//! The time that pods get to end.

use serde_json::{Value, json};

use crate::check::{Outcome, checks};
use crate::context::At;
use crate::objects::{FINALIZER, pod, pod_on};
use crate::{Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("grace":
        an_unassigned_pod_goes_at_once,
        an_assigned_pod_gets_its_period,
        the_options_set_the_period,
        a_second_deletion_changes_nothing,
        the_period_only_shrinks,
        no_period_means_now,
        a_negative_period_means_a_second,
        a_pod_without_a_period_goes_at_once,
        an_ended_pod_goes_at_once,
        a_pod_waits_for_its_finalizers_too,
        a_pod_waits_for_its_period_too,
        a_wrong_uid_spares_the_pod,
        watchers_see_each_step,
    )
}

async fn an_unassigned_pod_goes_at_once(context: Context) -> Outcome {
    context.create("pods", pod("a")).await?;
    let gone = context.delete("pods/a").await?.expect(200)?;
    // Unlike most kinds, pods are answered even when they are gone.
    ensure_eq!(gone.at("/kind"), "Pod", "the kind of the answer");
    context.get("pods/a").await?.refused(404, "NotFound")?;
    Ok(())
}

async fn an_assigned_pod_gets_its_period(context: Context) -> Outcome {
    context.create("pods", pod_on("a", "n1")).await?;
    let stays = context.delete("pods/a").await?.expect(200)?;
    ensure_eq!(period(&stays), 30, "the period");
    ensure_eq!(stays["metadata"]["generation"], 2, "the generation");
    let (made, ends) =
        (stays.at("/metadata/creationTimestamp"), stays.at("/metadata/deletionTimestamp"));
    ensure!(ends > made, "made at {made}, its end is at {ends}");
    let mut own = pod_on("b", "n1");
    own["spec"]["terminationGracePeriodSeconds"] = json!(7);
    context.create("pods", own).await?;
    ensure_eq!(period(&context.delete("pods/b").await?.expect(200)?), 7, "the period of its own");
    Ok(())
}

async fn the_options_set_the_period(context: Context) -> Outcome {
    for name in ["a", "b"] {
        context.create("pods", pod_on(name, "n1")).await?;
    }
    let stays =
        context.delete_with("pods/a", json!({"gracePeriodSeconds": 3})).await?.expect(200)?;
    ensure_eq!(period(&stays), 3, "the period from the body");
    let stays = context.delete("pods/b?gracePeriodSeconds=4").await?.expect(200)?;
    ensure_eq!(period(&stays), 4, "the period from the query");
    Ok(())
}

async fn a_second_deletion_changes_nothing(context: Context) -> Outcome {
    context.create("pods", pod_on("a", "n1")).await?;
    let stays = context.delete("pods/a").await?.expect(200)?;
    ensure_eq!(context.delete("pods/a").await?.expect(200)?, stays, "the second answer");
    Ok(())
}

async fn the_period_only_shrinks(context: Context) -> Outcome {
    context.create("pods", pod_on("a", "n1")).await?;
    let stays = context.delete("pods/a").await?.expect(200)?;
    let longer = json!({"gracePeriodSeconds": 60});
    ensure_eq!(
        context.delete_with("pods/a", longer).await?.expect(200)?,
        stays,
        "with a longer one"
    );
    let shorter = json!({"gracePeriodSeconds": 10});
    let stays_shorter = context.delete_with("pods/a", shorter).await?.expect(200)?;
    ensure_eq!(period(&stays_shorter), 10, "the shorter period");
    let (first, second) = (end(&stays), end(&stays_shorter));
    ensure!(second < first, "the end went from {first} to {second}");
    ensure_eq!(stays_shorter["metadata"]["generation"], 2, "the generation");
    Ok(())
}

async fn no_period_means_now(context: Context) -> Outcome {
    for name in ["a", "b"] {
        context.create("pods", pod_on(name, "n1")).await?;
    }
    context.delete("pods/b").await?.expect(200)?;
    for name in ["a", "b"] {
        let path = format!("pods/{name}");
        let gone =
            context.delete_with(&path, json!({"gracePeriodSeconds": 0})).await?.expect(200)?;
        ensure_eq!(gone.at("/kind"), "Pod", "the kind of the answer");
        context.get(&path).await?.refused(404, "NotFound")?;
    }
    Ok(())
}

async fn a_negative_period_means_a_second(context: Context) -> Outcome {
    context.create("pods", pod_on("a", "n1")).await?;
    let stays =
        context.delete_with("pods/a", json!({"gracePeriodSeconds": -5})).await?.expect(200)?;
    ensure_eq!(period(&stays), 1, "the period");
    Ok(())
}

async fn a_pod_without_a_period_goes_at_once(context: Context) -> Outcome {
    let mut hasty = pod_on("a", "n1");
    hasty["spec"]["terminationGracePeriodSeconds"] = json!(0);
    context.create("pods", hasty).await?;
    context.delete("pods/a").await?.expect(200)?;
    context.get("pods/a").await?.refused(404, "NotFound")?;
    Ok(())
}

async fn an_ended_pod_goes_at_once(context: Context) -> Outcome {
    for phase in ["Succeeded", "Failed"] {
        context.create("pods", pod_on("a", "n1")).await?;
        context.merge("pods/a/status", json!({"status": {"phase": phase}})).await?.expect(200)?;
        context.delete("pods/a").await?.expect(200)?;
        context.get("pods/a").await?.refused(404, "NotFound")?;
    }
    Ok(())
}

async fn a_pod_waits_for_its_finalizers_too(context: Context) -> Outcome {
    context.create("pods", held_pod("a")).await?;
    ensure_eq!(period(&context.delete("pods/a").await?.expect(200)?), 30, "the period");
    let ended =
        context.delete_with("pods/a", json!({"gracePeriodSeconds": 0})).await?.expect(200)?;
    ensure_eq!(period(&ended), 0, "the period when it has ended");
    context.read("pods/a").await?;
    release(&context, "a").await?;
    context.get("pods/a").await?.refused(404, "NotFound")?;
    Ok(())
}

async fn a_pod_waits_for_its_period_too(context: Context) -> Outcome {
    context.create("pods", held_pod("a")).await?;
    context.delete("pods/a").await?.expect(200)?;
    release(&context, "a").await?;
    ensure_eq!(period(&context.read("pods/a").await?), 30, "the period");
    context.delete_with("pods/a", json!({"gracePeriodSeconds": 0})).await?.expect(200)?;
    context.get("pods/a").await?.refused(404, "NotFound")?;
    Ok(())
}

async fn a_wrong_uid_spares_the_pod(context: Context) -> Outcome {
    context.create("pods", pod_on("a", "n1")).await?;
    let stays = context.delete("pods/a").await?.expect(200)?;
    let options = json!({"gracePeriodSeconds": 0, "preconditions": {"uid": "other"}});
    context.delete_with("pods/a", options).await?.refused(409, "Conflict")?;
    ensure_eq!(context.read("pods/a").await?, stays, "the pod");
    Ok(())
}

async fn watchers_see_each_step(context: Context) -> Outcome {
    let made = context.create("pods", pod_on("a", "n1")).await?;
    let mut watch = context.watch(&format!("pods?resourceVersion={}", made.version())).await?;
    context.delete("pods/a").await?.expect(200)?;
    context.delete("pods/a").await?.expect(200)?;
    context.delete_with("pods/a", json!({"gracePeriodSeconds": 10})).await?.expect(200)?;
    context.delete_with("pods/a", json!({"gracePeriodSeconds": 0})).await?.expect(200)?;
    // The last two are the end of the period, and the end.
    for (kind, expected) in [("MODIFIED", 30), ("MODIFIED", 10), ("MODIFIED", 0), ("DELETED", 0)] {
        ensure_eq!(period(&watch.expect(kind, "a").await?), expected, "the period of {kind}");
    }
    Ok(())
}

fn held_pod(name: &str) -> Value {
    let mut pod = pod_on(name, "n1");
    pod["metadata"]["finalizers"] = json!([FINALIZER]);
    pod
}

async fn release(context: &Context, name: &str) -> Outcome {
    let patch = json!({"metadata": {"finalizers": null}});
    context.merge(&format!("pods/{name}"), patch).await?.expect(200)?;
    Ok(())
}

fn period(pod: &Value) -> Value {
    pod["metadata"]["deletionGracePeriodSeconds"].clone()
}

fn end(pod: &Value) -> String {
    pod.at("/metadata/deletionTimestamp")
}
