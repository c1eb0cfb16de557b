//! What patch documents mean: JSON merge patch (RFC 7386) and JSON patch (RFC 6902).

use serde_json::{Value, json};

use crate::check::{Outcome, checks};
use crate::context::At;
use crate::objects::config_map;
use crate::{Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("patch_documents":
        a_merge_patch_sets_replaces_and_removes,
        a_merge_patch_keeps_what_it_does_not_name,
        a_null_for_nothing_changes_nothing,
        nulls_within_new_members_are_not_kept,
        lists_are_taken_whole,
        a_json_patch_carries_out_each_operation,
        a_json_patch_works_on_lists,
        escapes_in_paths_are_understood,
        replacing_what_is_not_there_adds_it,
        a_failing_test_changes_nothing,
        a_later_failure_undoes_all,
        an_operation_on_nothing_is_refused,
    )
}

const PATH: &str = "configmaps/a";

/// A ConfigMap whose annotations are the target of merge patches.
async fn annotated(context: &Context, annotations: Value) -> Result<Value, String> {
    let object = json!({"metadata": {"name": "a", "annotations": annotations}});
    context.create("configmaps", object).await
}

async fn a_merge_patch_sets_replaces_and_removes(context: Context) -> Outcome {
    annotated(&context, json!({"a": "b", "b": "c"})).await?;
    // The flat rows of the table in RFC 7386.
    let rows = [
        (json!({"a": "c"}), json!({"a": "c", "b": "c"})),
        (json!({"d": "e"}), json!({"a": "c", "b": "c", "d": "e"})),
        (json!({"a": null}), json!({"b": "c", "d": "e"})),
        (json!({"b": null, "d": "f"}), json!({"d": "f"})),
    ];
    for (patch, expected) in rows {
        let patch = json!({"metadata": {"annotations": patch}});
        let patched = context.merge(PATH, patch.clone()).await?.expect(200)?;
        ensure_eq!(patched["metadata"]["annotations"], expected, "after {patch}");
    }
    let patch = json!({"metadata": {"annotations": null}});
    let patched = context.merge(PATH, patch).await?.expect(200)?;
    ensure!(patched.pointer("/metadata/annotations").is_none(), "still annotated: {patched}");
    Ok(())
}

async fn a_merge_patch_keeps_what_it_does_not_name(context: Context) -> Outcome {
    let made = annotated(&context, json!({"a": "b"})).await?;
    let patched = context.merge(PATH, json!({"data": {"x": "y"}})).await?.expect(200)?;
    ensure_eq!(patched["metadata"]["annotations"], json!({"a": "b"}), "the annotations");
    ensure_eq!(patched["data"], json!({"x": "y"}), "the data");
    ensure_eq!(patched.uid(), made.uid(), "the uid");
    ensure_eq!(context.read(PATH).await?, patched, "what is stored");
    Ok(())
}

async fn a_null_for_nothing_changes_nothing(context: Context) -> Outcome {
    let made = annotated(&context, json!({"a": "b"})).await?;
    let patch = json!({"metadata": {"annotations": {"c": null}, "labels": {"d": null}}, "data": {"e": null}});
    let patched = context.merge(PATH, patch).await?.expect(200)?;
    ensure_eq!(patched["metadata"]["annotations"], json!({"a": "b"}), "the annotations");
    ensure_eq!(patched.version(), made.version(), "the version");
    Ok(())
}

/// B63.
async fn nulls_within_new_members_are_not_kept(context: Context) -> Outcome {
    context.create("configmaps", json!({"metadata": {"name": "a"}})).await?;
    let patch = json!({"metadata": {"annotations": {"x": null, "y": "1"}}});
    let patched = context.merge(PATH, patch).await?.expect(200)?;
    ensure_eq!(patched["metadata"]["annotations"], json!({"y": "1"}), "the annotations");
    Ok(())
}

async fn lists_are_taken_whole(context: Context) -> Outcome {
    context.create("configmaps", config_map("a")).await?;
    for list in [json!(["lab.test/a", "lab.test/b"]), json!(["lab.test/c"])] {
        let patch = json!({"metadata": {"finalizers": list}});
        let patched = context.merge(PATH, patch).await?.expect(200)?;
        ensure_eq!(patched["metadata"]["finalizers"], list, "the list");
    }
    Ok(())
}

async fn a_json_patch_carries_out_each_operation(context: Context) -> Outcome {
    context.create("configmaps", config_map("a")).await?;
    let patch = json!([
        {"op": "test", "path": "/data/k", "value": "v"},
        {"op": "add", "path": "/data", "value": {"a": "1"}},
        {"op": "replace", "path": "/data/a", "value": "2"},
        {"op": "copy", "from": "/data/a", "path": "/data/b"},
        {"op": "move", "from": "/data/a", "path": "/data/c"},
        {"op": "add", "path": "/data/d", "value": "3"},
        {"op": "remove", "path": "/data/b"},
    ]);
    let patched = context.json_patch(PATH, patch).await?.expect(200)?;
    ensure_eq!(patched["data"], json!({"c": "2", "d": "3"}), "the data");
    Ok(())
}

async fn a_json_patch_works_on_lists(context: Context) -> Outcome {
    context.create("configmaps", config_map("a")).await?;
    let list = "/metadata/finalizers";
    let patch = json!([
        {"op": "add", "path": list, "value": ["lab.test/a"]},
        {"op": "add", "path": format!("{list}/-"), "value": "lab.test/b"},
        {"op": "add", "path": format!("{list}/0"), "value": "lab.test/c"},
        {"op": "remove", "path": format!("{list}/1")},
    ]);
    let patched = context.json_patch(PATH, patch).await?.expect(200)?;
    ensure_eq!(patched["metadata"]["finalizers"], json!(["lab.test/c", "lab.test/b"]), "the list");
    for place in ["9", "x"] {
        let path = format!("{list}/{place}");
        let patch = json!([{"op": "add", "path": path, "value": "lab.test/x"}]);
        context.json_patch(PATH, patch).await?.refused(422, "Invalid")?;
    }
    Ok(())
}

async fn escapes_in_paths_are_understood(context: Context) -> Outcome {
    annotated(&context, json!({"a": "b"})).await?;
    let patch = json!([{"op": "add", "path": "/metadata/annotations/lab.test~1x", "value": "y"}]);
    let patched = context.json_patch(PATH, patch).await?.expect(200)?;
    let expected = json!({"a": "b", "lab.test/x": "y"});
    ensure_eq!(patched["metadata"]["annotations"], expected, "the annotations");
    Ok(())
}

/// Not as the RFC has it, but clients rely on it.
async fn replacing_what_is_not_there_adds_it(context: Context) -> Outcome {
    context.create("configmaps", config_map("a")).await?;
    let patch = json!([{"op": "replace", "path": "/data/new", "value": "x"}]);
    let patched = context.json_patch(PATH, patch).await?.expect(200)?;
    ensure_eq!(patched["data"], json!({"k": "v", "new": "x"}), "the data");
    Ok(())
}

async fn a_failing_test_changes_nothing(context: Context) -> Outcome {
    let made = context.create("configmaps", config_map("a")).await?;
    for place in ["/data/k", "/data/nothing", "/metadata/resourceVersion"] {
        let patch = json!([
            {"op": "test", "path": place, "value": "other"},
            {"op": "replace", "path": "/data/k", "value": "2"},
        ]);
        context.json_patch(PATH, patch).await?.refused(422, "Invalid")?;
    }
    ensure_eq!(context.read(PATH).await?, made, "what is stored");
    Ok(())
}

async fn a_later_failure_undoes_all(context: Context) -> Outcome {
    let made = context.create("configmaps", config_map("a")).await?;
    let patch = json!([
        {"op": "replace", "path": "/data/k", "value": "2"},
        {"op": "remove", "path": "/data/nothing"},
    ]);
    context.json_patch(PATH, patch).await?.refused(422, "Invalid")?;
    ensure_eq!(context.read(PATH).await?, made, "what is stored");
    Ok(())
}

async fn an_operation_on_nothing_is_refused(context: Context) -> Outcome {
    context.create("configmaps", config_map("a")).await?;
    let operations = [
        json!({"op": "remove", "path": "/data/nothing"}),
        json!({"op": "add", "path": "/no/such/parent", "value": "x"}),
        json!({"op": "move", "from": "/data/nothing", "path": "/data/x"}),
    ];
    for operation in operations {
        let answer = context.json_patch(PATH, json!([operation])).await?;
        answer.refused(422, "Invalid").map_err(|error| format!("{operation}: {error}"))?;
    }
    Ok(())
}
