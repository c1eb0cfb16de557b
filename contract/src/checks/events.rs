//! Events: one store behind two versions of their form.

use serde_json::{Value, json};

use crate::check::{Outcome, checks};
use crate::context::At;
use crate::objects::{event, new_event};
use crate::{Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("events":
        core_events_are_stored,
        new_events_are_stored,
        a_core_event_has_the_newer_form_too,
        a_new_event_has_the_older_form_too,
        lists_show_both_in_their_form,
        watches_show_both_in_their_form,
        core_events_are_counted_by_patch,
        new_events_are_counted_by_series,
        new_events_are_validated,
        core_events_need_the_namespace_of_their_object,
        cluster_scoped_objects_have_events_in_default,
        events_need_a_namespace_in_the_path,
        events_can_be_made_by_replacement,
        deletion_names_the_resource_it_was_asked_of,
    )
}

async fn core_events_are_stored(c: Context) -> Outcome {
    let created = c.create("events", event("a", c.namespace())).await?;
    ensure_eq!(created["kind"], "Event", "kind");
    ensure_eq!(created["apiVersion"], "v1", "apiVersion");
    for (field, value) in [
        ("reason", json!("Tested")),
        ("message", json!("m")),
        ("source", json!({"component": "lab"})),
        ("firstTimestamp", Value::Null),
        ("eventTime", Value::Null),
        ("reportingComponent", json!("")),
        ("reportingInstance", json!("")),
    ] {
        ensure!(created.get(field).is_some(), "no {field}: {created}");
        ensure_eq!(created[field], value, "{field}");
    }
    Ok(())
}

async fn new_events_are_stored(c: Context) -> Outcome {
    let created = c.create("events.k8s.io", new_event("a", c.namespace())).await?;
    ensure_eq!(created["apiVersion"], "events.k8s.io/v1", "apiVersion");
    for (field, value) in [
        ("eventTime", json!("2026-01-02T03:04:05.000006Z")),
        ("reportingController", json!("lab.test/lab")),
        ("reportingInstance", json!("lab-1")),
        ("action", json!("Testing")),
        ("note", json!("m")),
    ] {
        ensure_eq!(created[field], value, "{field}");
    }
    ensure_eq!(c.read("events.k8s.io/a").await?, created, "what is read afterwards");
    Ok(())
}

async fn a_core_event_has_the_newer_form_too(c: Context) -> Outcome {
    let mut old = event("a", c.namespace());
    old["count"] = json!(3);
    old["firstTimestamp"] = json!("2026-01-02T03:04:05Z");
    old["lastTimestamp"] = json!("2026-01-02T03:05:05Z");
    let created = c.create("events", old).await?;
    let new = c.read("events.k8s.io/a").await?;
    ensure_eq!(new["apiVersion"], "events.k8s.io/v1", "apiVersion");
    ensure_eq!(new["metadata"], created["metadata"], "metadata");
    ensure_eq!(new["regarding"], created["involvedObject"], "regarding");
    for (field, value) in [
        ("note", json!("m")),
        ("reason", json!("Tested")),
        ("deprecatedSource", json!({"component": "lab"})),
        ("deprecatedCount", json!(3)),
        ("deprecatedFirstTimestamp", json!("2026-01-02T03:04:05Z")),
        ("deprecatedLastTimestamp", json!("2026-01-02T03:05:05Z")),
        ("message", Value::Null),
    ] {
        ensure_eq!(new[field], value, "{field}");
    }
    Ok(())
}

async fn a_new_event_has_the_older_form_too(c: Context) -> Outcome {
    let created = c.create("events.k8s.io", new_event("a", c.namespace())).await?;
    let old = c.read("events/a").await?;
    ensure_eq!(old["apiVersion"], "v1", "apiVersion");
    ensure_eq!(old["metadata"], created["metadata"], "metadata");
    ensure_eq!(old["involvedObject"], created["regarding"], "involvedObject");
    for (field, value) in [
        ("message", json!("m")),
        ("reportingComponent", json!("lab.test/lab")),
        ("reportingInstance", json!("lab-1")),
        ("eventTime", json!("2026-01-02T03:04:05.000006Z")),
        ("note", Value::Null),
    ] {
        ensure_eq!(old[field], value, "{field}");
    }
    Ok(())
}

async fn lists_show_both_in_their_form(c: Context) -> Outcome {
    c.create("events", event("a", c.namespace())).await?;
    c.create("events.k8s.io", new_event("b", c.namespace())).await?;
    let old = c.read("events").await?;
    ensure_eq!(old["apiVersion"], "v1", "apiVersion of the older list");
    let new = c.read("events.k8s.io").await?;
    ensure_eq!(new["apiVersion"], "events.k8s.io/v1", "apiVersion of the newer list");
    ensure_eq!(new["kind"], "EventList", "kind of the newer list");
    for item in [0, 1] {
        ensure_eq!(old["items"][item]["message"], "m", "message of item {item}");
        ensure_eq!(new["items"][item]["note"], "m", "note of item {item}");
    }
    Ok(())
}

async fn watches_show_both_in_their_form(c: Context) -> Outcome {
    let version = c.list_version("events").await?;
    let mut old = c.watch(&format!("events?resourceVersion={version}")).await?;
    let mut new = c.watch(&format!("events.k8s.io?resourceVersion={version}")).await?;
    c.create("events", event("a", c.namespace())).await?;
    c.create("events.k8s.io", new_event("b", c.namespace())).await?;
    for name in ["a", "b"] {
        let seen = old.expect("ADDED", name).await?;
        ensure_eq!(seen["apiVersion"], "v1", "apiVersion of {name}");
        ensure_eq!(seen["message"], "m", "message of {name}");
        let seen = new.expect("ADDED", name).await?;
        ensure_eq!(seen["apiVersion"], "events.k8s.io/v1", "apiVersion of {name}");
        ensure_eq!(seen["note"], "m", "note of {name}");
    }
    Ok(())
}

async fn core_events_are_counted_by_patch(c: Context) -> Outcome {
    c.create("events", event("a", c.namespace())).await?;
    let patch = json!({"count": 2, "message": "n", "lastTimestamp": "2026-01-02T03:05:05Z"});
    let changed = c.merge("events/a", patch).await?.expect(200)?;
    ensure_eq!(changed["count"], 2, "count");
    ensure_eq!(changed["message"], "n", "message");
    ensure_eq!(changed["reason"], "Tested", "reason");
    Ok(())
}

async fn new_events_are_counted_by_series(c: Context) -> Outcome {
    c.create("events.k8s.io", new_event("a", c.namespace())).await?;
    let series = json!({"count": 2, "lastObservedTime": "2026-01-02T03:05:05.000007Z"});
    let changed = c.merge("events.k8s.io/a", json!({"series": series})).await?.expect(200)?;
    ensure_eq!(changed["series"], series, "series");
    ensure_eq!(c.read("events/a").await?["series"], series, "series in the older form");
    // What happened stays as it was.
    for (field, value) in [
        ("reason", json!("Other")),
        ("note", json!("other")),
        ("action", json!("Other")),
        ("type", json!("Warning")),
    ] {
        let answer = c.merge("events.k8s.io/a", json!({ field: value })).await?;
        answer.refused(422, "Invalid")?;
    }
    Ok(())
}

async fn new_events_are_validated(c: Context) -> Outcome {
    for (field, value, path, cause) in [
        ("reason", Value::Null, "reason", "FieldValueRequired"),
        ("action", Value::Null, "action", "FieldValueRequired"),
        ("reportingController", Value::Null, "reportingController", "FieldValueRequired"),
        ("reportingInstance", Value::Null, "reportingInstance", "FieldValueRequired"),
        ("eventTime", Value::Null, "eventTime", "FieldValueRequired"),
        ("reportingController", json!("a b"), "reportingController", "FieldValueInvalid"),
        ("type", json!("Odd"), "type", "FieldValueInvalid"),
        ("note", json!("x".repeat(1025)), "message", "FieldValueInvalid"),
        ("reason", json!("x".repeat(129)), "reason", "FieldValueInvalid"),
    ] {
        let mut bad = new_event("a", c.namespace());
        bad[field] = value;
        c.post("events.k8s.io", bad).await?.invalid(path, cause)?;
    }
    let mut old = event("a", c.namespace());
    old["type"] = json!("Odd");
    c.create("events", old).await?;
    Ok(())
}

async fn core_events_need_the_namespace_of_their_object(c: Context) -> Outcome {
    for namespace in ["default", ""] {
        let mut bad = event("a", c.namespace());
        bad["involvedObject"]["namespace"] = json!(namespace);
        let answer = c.post("events", bad).await?;
        answer.invalid("involvedObject.namespace", "FieldValueInvalid")?;
    }
    Ok(())
}

/// B71: where a recorder writes about an object without namespace.
async fn cluster_scoped_objects_have_events_in_default(c: Context) -> Outcome {
    let name = c.unique("event");
    let mut new = new_event(&name, "");
    new["regarding"] = json!({"apiVersion": "v1", "kind": "Node", "name": "n"});
    let path = "/apis/events.k8s.io/v1/namespaces/default/events";
    let created = c.create(path, new).await?;
    ensure_eq!(created["regarding"]["namespace"], Value::Null, "the namespace of the object");
    c.delete(&format!("{path}/{name}")).await?.expect(200)?;
    Ok(())
}

async fn events_need_a_namespace_in_the_path(c: Context) -> Outcome {
    for path in ["/api/v1/events", "/apis/events.k8s.io/v1/events"] {
        let answer = c.post(path, event("a", c.namespace())).await?;
        answer.refused(405, "MethodNotAllowed")?;
    }
    Ok(())
}

async fn events_can_be_made_by_replacement(c: Context) -> Outcome {
    let created = c.put("events/a", &event("a", c.namespace())).await?.expect(201)?;
    ensure!(!created.uid().is_empty(), "no uid: {created}");
    let created = c.put("events.k8s.io/b", &new_event("b", c.namespace())).await?.expect(201)?;
    ensure_eq!(created["note"], "m", "note");
    Ok(())
}

async fn deletion_names_the_resource_it_was_asked_of(c: Context) -> Outcome {
    let uid = c.create("events", event("a", c.namespace())).await?.uid();
    let status = c.delete("events.k8s.io/a").await?.expect(200)?;
    ensure_eq!(status["status"], "Success", "status");
    ensure_eq!(
        status["details"],
        json!({"name": "a", "group": "events.k8s.io", "kind": "events", "uid": uid}),
        "details"
    );
    c.get("events/a").await?.refused(404, "NotFound")?;
    Ok(())
}
