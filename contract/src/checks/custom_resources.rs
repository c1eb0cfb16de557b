//! Custom resources: what they have in common with built-in kinds, and what not.

use serde_json::{Value, json};

use crate::check::{Outcome, checks};
use crate::context::{At, names};
use crate::custom::{GROUP, serve, widget};
use crate::objects::FINALIZER;
use crate::{Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("custom_resources":
        they_are_created_read_replaced_and_deleted,
        a_list_names_the_type_of_each_item,
        they_must_say_what_they_are,
        another_version_is_refused,
        they_are_not_replaced_without_a_version,
        an_old_version_is_a_conflict,
        another_uid_is_a_conflict,
        no_change_keeps_the_version_and_sends_no_event,
        nulls_and_lists_are_kept_as_they_are,
        a_merge_patch_takes_lists_whole,
        a_merge_patch_replaces_what_is_of_another_type,
        finalizers_may_have_short_names,
        finalizers_hold_them,
        a_collection_of_them_goes,
        a_version_before_their_time_is_expired,
        discovery_names_them,
    )
}

const PATH: &str = "widgets/a";

async fn they_are_created_read_replaced_and_deleted(context: Context) -> Outcome {
    serve(&context).await?;
    let made = context.create("widgets", widget("a", 1)).await?;
    ensure_eq!(
        (made.at("/kind"), made.at("/apiVersion")),
        ("Widget".into(), format!("{GROUP}/v1")),
        "the type"
    );
    ensure_eq!(made["metadata"]["generation"], 1, "the generation");
    ensure_eq!(made.at("/metadata/namespace"), context.namespace(), "the namespace");
    ensure_eq!(context.read(PATH).await?, made, "what is stored");
    context.post("widgets", widget("a", 1)).await?.refused(409, "AlreadyExists")?;
    let mut object = made.clone();
    object["spec"] = json!({"size": 2});
    let written = context.put(PATH, &object).await?.expect(200)?;
    ensure_eq!(written["spec"], json!({"size": 2}), "the spec");
    let gone = context.delete(PATH).await?.expect(200)?;
    let details = json!({"name": "a", "group": GROUP, "kind": "widgets", "uid": made.uid()});
    ensure_eq!(gone["details"], details, "the details of the deletion");
    let status = context.get(PATH).await?.refused(404, "NotFound")?;
    ensure_eq!(status.at("/message"), format!("widgets.{GROUP} \"a\" not found"), "the message");
    Ok(())
}

async fn a_list_names_the_type_of_each_item(context: Context) -> Outcome {
    serve(&context).await?;
    let made = context.create("widgets", widget("a", 1)).await?;
    context.create("widgets", widget("b", 1)).await?;
    let list = context.read("widgets").await?;
    ensure_eq!(list.at("/kind"), "WidgetList", "the kind of the list");
    ensure_eq!(names(&list), ["a", "b"], "the names");
    ensure_eq!(list["items"][0], made, "an item");
    Ok(())
}

async fn they_must_say_what_they_are(context: Context) -> Outcome {
    serve(&context).await?;
    for field in ["kind", "apiVersion"] {
        let mut object = widget("a", 1);
        object[field] = json!(null);
        context.post("widgets", object).await?.refused(400, "BadRequest")?;
    }
    Ok(())
}

async fn another_version_is_refused(context: Context) -> Outcome {
    serve(&context).await?;
    let mut object = widget("a", 1);
    object["apiVersion"] = json!(format!("{GROUP}/v2"));
    let status = context.post("widgets", object).await?.refused(400, "BadRequest")?;
    let expected = format!(
        "the API version in the data ({GROUP}/v2) does not match the expected API version ({GROUP}/v1)"
    );
    ensure_eq!(status.at("/message"), expected, "the message");
    Ok(())
}

async fn they_are_not_replaced_without_a_version(context: Context) -> Outcome {
    serve(&context).await?;
    context.create("widgets", widget("a", 1)).await?;
    let field = "metadata.resourceVersion";
    for path in [PATH, "widgets/a/status"] {
        context.put(path, &widget("a", 2)).await?.invalid(field, "FieldValueInvalid")?;
    }
    Ok(())
}

async fn an_old_version_is_a_conflict(context: Context) -> Outcome {
    serve(&context).await?;
    let mut object = context.create("widgets", widget("a", 1)).await?;
    object["spec"]["size"] = json!(2);
    context.put(PATH, &object).await?.expect(200)?;
    object["spec"]["size"] = json!(3);
    context.put(PATH, &object).await?.refused(409, "Conflict")?;
    Ok(())
}

async fn another_uid_is_a_conflict(context: Context) -> Outcome {
    serve(&context).await?;
    let mut object = context.create("widgets", widget("a", 1)).await?;
    object["metadata"]["uid"] = json!("other");
    context.put(PATH, &object).await?.refused(409, "Conflict")?;
    Ok(())
}

async fn no_change_keeps_the_version_and_sends_no_event(context: Context) -> Outcome {
    serve(&context).await?;
    let made = context.create("widgets", widget("a", 1)).await?;
    let mut watch = context.watch(&format!("widgets?resourceVersion={}", made.version())).await?;
    ensure_eq!(context.put(PATH, &made).await?.expect(200)?, made, "after an update");
    let patch = json!({"spec": {"size": 1}});
    ensure_eq!(context.merge(PATH, patch).await?.expect(200)?, made, "after a patch");
    context.create("widgets", widget("b", 1)).await?;
    watch.expect("ADDED", "b").await?;
    Ok(())
}

async fn nulls_and_lists_are_kept_as_they_are(context: Context) -> Outcome {
    serve(&context).await?;
    let spec = json!({"size": 1, "null": null, "list": [1, null, {"x": null}], "deep": {"null": null}, "none": {}});
    let mut object = widget("a", 1);
    object["spec"] = spec.clone();
    ensure_eq!(context.create("widgets", object).await?["spec"], spec, "the spec");
    Ok(())
}

/// B63. What becomes of nulls in objects in lists differs: RFC 7386 keeps them, a real server removes them.
async fn a_merge_patch_takes_lists_whole(context: Context) -> Outcome {
    serve(&context).await?;
    context.create("widgets", widget("a", 1)).await?;
    let patches = [
        (json!({"list": [1, null, 2]}), "/list", json!([1, null, 2])),
        (json!({"list": [3]}), "/list", json!([3])),
        (json!({"list": [{"a": 1}, []]}), "/list", json!([{"a": 1}, []])),
        (json!({"list": []}), "/list", json!([])),
        (json!({"n": {"x": null, "y": 1}}), "/n", json!({"y": 1})),
        (json!({"n": {"y": null}}), "/n", json!({})),
    ];
    for (patch, place, expected) in patches {
        let patched = context.merge(PATH, json!({"spec": patch})).await?.expect(200)?;
        ensure_eq!(patched["spec"].pointer(place), Some(&expected), "{place} after {patch}");
    }
    let patched = context.merge(PATH, json!({"spec": {"list": null}})).await?.expect(200)?;
    ensure!(patched["spec"].get("list").is_none(), "the list is still there: {patched}");
    Ok(())
}

/// The rows of the table in RFC 7386 that change the type of a member, below `spec.t`.
async fn a_merge_patch_replaces_what_is_of_another_type(context: Context) -> Outcome {
    serve(&context).await?;
    let rows: [(Value, Value, Value); 8] = [
        (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
        (json!({"a": "c"}), json!({"a": ["b"]}), json!({"a": ["b"]})),
        (json!({"a": {"b": "c"}}), json!({"a": {"b": "d", "c": null}}), json!({"a": {"b": "d"}})),
        (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
        (json!(["a", "b"]), json!(["c", "d"]), json!(["c", "d"])),
        (json!({"a": "b"}), json!(["c"]), json!(["c"])),
        (json!([1, 2]), json!({"a": "b", "c": null}), json!({"a": "b"})),
        (json!({"a": "foo"}), json!("bar"), json!("bar")),
    ];
    for (index, (target, patch, expected)) in rows.into_iter().enumerate() {
        let name = format!("a{index}");
        let mut object = widget(&name, 1);
        object["spec"]["t"] = target;
        context.create("widgets", object).await?;
        let answer =
            context.merge(&format!("widgets/{name}"), json!({"spec": {"t": patch}})).await?;
        ensure_eq!(answer.expect(200)?["spec"]["t"], expected, "after {patch}");
    }
    Ok(())
}

async fn finalizers_may_have_short_names(context: Context) -> Outcome {
    serve(&context).await?;
    let mut object = widget("a", 1);
    object["metadata"]["finalizers"] = json!(["short"]);
    ensure_eq!(
        context.create("widgets", object).await?["metadata"]["finalizers"],
        json!(["short"]),
        "they"
    );
    Ok(())
}

/// B81.
async fn finalizers_hold_them(context: Context) -> Outcome {
    serve(&context).await?;
    let mut object = widget("a", 1);
    object["metadata"]["finalizers"] = json!([FINALIZER]);
    let made = context.create("widgets", object).await?;
    let mut watch = context.watch(&format!("widgets?resourceVersion={}", made.version())).await?;
    let marked = context.delete(PATH).await?.expect(200)?;
    ensure_eq!(marked.at("/kind"), "Widget", "the kind of the answer");
    ensure_eq!(marked["metadata"]["generation"], 2, "the generation");
    context.merge(PATH, json!({"metadata": {"finalizers": null}})).await?.expect(200)?;
    context.get(PATH).await?.refused(404, "NotFound")?;
    watch.expect("MODIFIED", "a").await?;
    watch.expect("DELETED", "a").await?;
    Ok(())
}

async fn a_collection_of_them_goes(context: Context) -> Outcome {
    serve(&context).await?;
    for (name, size) in [("a", 1), ("b", 2), ("c", 1)] {
        context.create("widgets", widget(name, size)).await?;
    }
    context.delete("widgets?fieldSelector=spec.size%3D1").await?.expect(200)?;
    ensure_eq!(context.names("widgets").await?, ["b"], "what is left");
    Ok(())
}

/// B45. Nothing is known of the time before a kind was served.
async fn a_version_before_their_time_is_expired(context: Context) -> Outcome {
    serve(&context).await?;
    let mut watch = context.watch("widgets?resourceVersion=1").await?;
    let event = watch.next().await?.ok_or("the watch ended without a word")?;
    let status = &event.object;
    ensure!(
        event.kind == "ERROR"
            && status["code"] == 410
            && status["reason"] == "Expired"
            && status["kind"] == "Status",
        "expected the ERROR 410 Expired, saw {} {status}",
        event.kind
    );
    ensure!(watch.next().await?.is_none(), "the refused watch goes on");
    Ok(())
}

async fn discovery_names_them(context: Context) -> Outcome {
    serve(&context).await?;
    let found = context.read(&format!("/apis/{GROUP}/v1")).await?;
    let resources = found["resources"].as_array().cloned().unwrap_or_default();
    let mut seen: Vec<String> = resources.iter().map(|resource| resource.at("/name")).collect();
    seen.sort();
    ensure_eq!(seen, ["plains", "widgets", "widgets/scale", "widgets/status"], "the resources");
    let widgets = resources.iter().find(|resource| resource["name"] == "widgets");
    ensure!(
        widgets.is_some_and(|it| it["kind"] == "Widget" && it["namespaced"] == true),
        "saw {found}"
    );
    Ok(())
}
