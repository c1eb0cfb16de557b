use proptest::prelude::*;
use serde_json::{Value, json};

use crate::RawObject;
use crate::test_support::{object, text};

const POD: &str = r#"{"metadata":{"name":"a","annotations":{"example.com/owner":"me","back\\slash":"b"}},
    "spec":{"nodeName":"n","replicas":3,"none":null,"containers":[{"image":"one"},{"image":"two"}],"x":1,"x":2}}"#;

#[test]
fn fields_are_found_by_path() {
    let pod = RawObject::from_json(POD).unwrap();
    let field = |path: &str| pod.field(path).unwrap();
    assert_eq!(field("spec.nodeName"), Some(json!("n")));
    assert_eq!(field("spec.containers.1.image"), Some(json!("two")));
    assert_eq!(field("spec.containers.0"), Some(json!({"image": "one"})));
    assert_eq!(field(r"metadata.annotations.example\.com/owner"), Some(json!("me")));
    assert_eq!(field(r"metadata.annotations.back\\slash"), Some(json!("b")));
    assert_eq!(field("spec.none"), Some(Value::Null));
    assert_eq!(field("spec.x"), Some(json!(2)));
    for absent in [
        "status",
        "spec.containers.2",
        "spec.containers.x",
        "spec.nodeName.x",
        "spec.none.x",
        "spec.node",
    ] {
        assert_eq!(field(absent), None, "{absent}");
    }
    assert_eq!(pod.field_as::<u8>("spec.replicas").unwrap(), Some(3));
    assert_eq!(pod.field_bytes("spec.containers.1").unwrap(), Some(&br#"{"image":"two"}"#[..]));
    let error = pod.field_as::<Vec<u8>>("spec.containers").unwrap_err();
    assert_eq!((error.field(), error.is_decode()), (Some("spec.containers[0]"), true));
}

#[test]
fn paths_that_make_no_sense_are_errors() {
    let pod = RawObject::from_json(POD).unwrap();
    for path in ["", ".", "spec.", ".spec", "a..b", r"a\", r"a\b"] {
        let error = pod.field(path).unwrap_err();
        assert!(error.to_string().starts_with(&format!("field path {path:?}: ")), "{error}");
        assert!(pod.without_fields(&[path]).is_err());
    }
}

#[test]
fn fields_are_removed_by_path() {
    let pod = RawObject::from_json(r#"{"metadata":{"name":"a","labels":{"x":"1","y":"2"}},"spec":{"a":1,"b":{"c":2}},"status":{}}"#).unwrap();
    let cases: [(&[&str], &str); 7] = [
        (
            &["status"],
            r#"{"metadata":{"name":"a","labels":{"x":"1","y":"2"}},"spec":{"a":1,"b":{"c":2}}}"#,
        ),
        (
            &["metadata.labels.x", "spec.b.c"],
            r#"{"metadata":{"name":"a","labels":{"y":"2"}},"spec":{"a":1,"b":{}},"status":{}}"#,
        ),
        (
            &["spec.a", "spec.b"],
            r#"{"metadata":{"name":"a","labels":{"x":"1","y":"2"}},"spec":{},"status":{}}"#,
        ),
        (&["metadata", "spec.b.c", "spec.b"], r#"{"spec":{"a":1},"status":{}}"#),
        (&["spec", "status"], r#"{"metadata":{"name":"a","labels":{"x":"1","y":"2"}}}"#),
        (
            &["spec.a", "status", "metadata.name"],
            r#"{"metadata":{"labels":{"x":"1","y":"2"}},"spec":{"b":{"c":2}}}"#,
        ),
        (&["gone", "spec.a.b", "metadata.gone"], std::str::from_utf8(pod.bytes()).unwrap()),
    ];
    for (paths, expected) in cases {
        let left = pod.without_fields(paths).unwrap();
        assert_eq!(left.bytes(), expected, "{paths:?}");
    }
    assert_eq!(
        pod.without_fields(&["metadata.labels.x"]).unwrap().label("y").as_deref(),
        Some("2")
    );
}

fn escape(key: &str) -> String {
    key.replace('\\', r"\\").replace('.', r"\.")
}

proptest! {
    #[test]
    fn any_field_is_found_and_removed(a in object(), b in object(), key in text(), pretty: bool) {
        prop_assume!(!key.is_empty());
        let value = json!({"a": a, "spec": {key.as_str(): b, "z": a}});
        let raw = RawObject::from_json(crate::test_support::write(&value, pretty)).unwrap();
        let path = format!("spec.{}", escape(&key));
        prop_assert_eq!(raw.field(&path).unwrap(), value["spec"].get(&key).cloned());
        let mut without = value.clone();
        without["spec"].as_object_mut().unwrap().remove(&key);
        without.as_object_mut().unwrap().remove("a");
        let left = raw.without_fields(&["a", &path]).unwrap();
        prop_assert_eq!(serde_json::from_slice::<Value>(left.bytes()).unwrap(), without);
    }
}
