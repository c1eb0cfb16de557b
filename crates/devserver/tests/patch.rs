//! The two patches that are supported, and the refusals of the others.

mod lab;

use lab::*;
use serde_json::{Value, json};

/// B63 and the appendix of RFC 7386.
#[tokio::test]
async fn b63_merge_patches_replace_arrays_whole_and_remove_by_null() {
    let lab = Lab::new();
    let cases = [
        (json!({"a": 1}), json!({"list": [1, null, 2]}), json!({"a": 1, "list": [1, null, 2]})),
        (json!({"a": 1}), json!({"list": [{"x": null}]}), json!({"a": 1, "list": [{"x": null}]})),
        (json!({"a": 1}), json!({"n": {"x": null, "y": 1}}), json!({"a": 1, "n": {"y": 1}})),
        (json!({"a": 1}), json!({"a": null}), json!({})),
        (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
        (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
        (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
        (json!({"a": "c"}), json!({"a": ["b"]}), json!({"a": ["b"]})),
        (json!({"a": {"b": "c"}}), json!({"a": {"b": "d", "c": null}}), json!({"a": {"b": "d"}})),
        (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
        (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
        (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
    ];
    for (index, (target, patch, wanted)) in cases.into_iter().enumerate() {
        let name = format!("p{index}");
        lab.post(PLAINS, json!({"metadata": {"name": name}, "spec": target})).await.ok();
        let seen = lab.merge(&format!("{PLAINS}/{name}"), json!({"spec": patch})).await.ok();
        assert_eq!(seen["spec"], wanted, "case {index}");
    }
}

#[tokio::test]
async fn json_patches_do_all_six_operations() {
    let lab = Lab::new();
    lab.post(PLAINS, json!({"metadata": {"name": "p"}, "spec": {"a": [1, 2], "b": {"c": 3}}}))
        .await
        .ok();
    let patch = json!([
        {"op": "test", "path": "/spec/b/c", "value": 3},
        {"op": "test", "path": "/spec/absent", "value": null},
        {"op": "add", "path": "/spec/a/-", "value": 9},
        {"op": "remove", "path": "/spec/a/0"},
        {"op": "copy", "from": "/spec/b", "path": "/spec/d"},
        {"op": "move", "from": "/spec/b/c", "path": "/spec/e~1f"},
        {"op": "replace", "path": "/spec/d/c", "value": 4},
        {"op": "replace", "path": "/spec/new", "value": 5},
    ]);
    let seen = lab.json_patch(&format!("{PLAINS}/p"), patch).await.ok();
    assert_eq!(seen["spec"], json!({"a": [2, 9], "b": {}, "d": {"c": 4}, "e/f": 3, "new": 5}));
}

#[tokio::test]
async fn a_failing_patch_changes_nothing_and_says_why() {
    let lab = Lab::new();
    let made = lab.config_map("a").await;
    let path = format!("{CONFIG_MAPS}/a");
    let test = json!([
        {"op": "replace", "path": "/data/a", "value": "2"},
        {"op": "test", "path": "/data/a", "value": "1"},
    ]);
    let message = lab.json_patch(&path, test).await.refused(422, "Invalid");
    assert!(
        message.starts_with("the server rejected our request due to an error in our request"),
        "{message}"
    );
    assert!(message.contains("operation 1"), "{message}");
    let gone = json!([{"op": "remove", "path": "/data/nope"}]);
    lab.json_patch(&path, gone).await.refused(422, "Invalid");
    assert_eq!(lab.get(&path).await.ok(), made);
    lab.json_patch(&format!("{CONFIG_MAPS}/b"), json!([])).await.refused(404, "NotFound");
    lab.merge(&path, json!({"metadata": {"labels": {"a": ["x"]}}})).await.refused(422, "Invalid");
}

#[tokio::test]
async fn malformed_and_unsupported_patches_are_told_apart() {
    let lab = Lab::new();
    lab.config_map("a").await;
    let path = format!("{CONFIG_MAPS}/a");
    let send = async |content_type: &str, body: &'static str| {
        lab.raw("PATCH", &path, &[("content-type", content_type)], body).await
    };
    for body in ["{", "[]", "1", "null"] {
        send("application/merge-patch+json", body).await.refused(400, "BadRequest");
    }
    let json_patch = "application/json-patch+json; charset=utf-8";
    for body in ["{}", "[", "[1]"] {
        send(json_patch, body).await.refused(400, "BadRequest");
    }
    for body in ["[{\"op\": \"fly\", \"path\": \"/a\"}]", "[{\"op\": \"add\"}]"] {
        send(json_patch, body).await.refused(422, "Invalid");
    }
    for content_type in ["application/strategic-merge-patch+json", "application/apply-patch+yaml"] {
        let message = send(content_type, "{}").await.refused(415, "UnsupportedMediaType");
        assert!(
            message.contains(content_type) && message.contains("application/merge-patch+json"),
            "{message}"
        );
    }
    send("application/json", "{}").await.refused(415, "UnsupportedMediaType");
    lab.merge(&format!("{path}?force=true"), json!({})).await.refused(422, "Invalid");
}

#[tokio::test]
async fn a_hostile_patch_is_refused_before_it_grows() {
    let lab = Lab::new();
    lab.post(PLAINS, json!({"metadata": {"name": "p"}, "spec": {"a": "0123456789"}})).await.ok();
    let path = format!("{PLAINS}/p");
    // Each operation doubles the document.
    let doubling: Vec<Value> = (0..64)
        .map(|n| json!({"op": "copy", "from": "/spec", "path": format!("/spec/x{n}")}))
        .collect();
    let answer = lab.json_patch(&path, doubling.into()).await;
    assert!([413, 422].contains(&answer.code), "{answer:?}");
    let deepening: Vec<Value> =
        (0..500).map(|_| json!({"op": "copy", "from": "/spec", "path": "/spec/a"})).collect();
    assert!([413, 422].contains(&lab.json_patch(&path, deepening.into()).await.code));
    let many: Vec<Value> =
        (0..10_001).map(|_| json!({"op": "test", "path": "/kind", "value": "Plain"})).collect();
    lab.json_patch(&path, many.into()).await.refused(413, "RequestEntityTooLarge");
    assert_eq!(lab.get(&path).await.ok()["spec"], json!({"a": "0123456789"}));
}
