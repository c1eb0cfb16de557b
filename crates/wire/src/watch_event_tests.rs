use kubewright_meta::ObjectKey;
use proptest::prelude::*;

use super::*;
use crate::test_support::{spoil, spoils};

fn parse(frame: &str) -> Result<RawWatchEvent, Error> {
    RawWatchEvent::parse(frame, true)
}

#[test]
fn events_about_objects_are_read() {
    for name in ["ADDED", "MODIFIED", "DELETED"] {
        let frame = format!(
            r#" {{"type":"{name}","object":{{"metadata":{{"name":"a","resourceVersion":"7","managedFields":[]}}}},"new":[1]}}"#
        );
        let event = parse(&frame).unwrap();
        let fits = matches!(
            (name, &event),
            ("ADDED", RawWatchEvent::Added(_))
                | ("MODIFIED", RawWatchEvent::Modified(_))
                | ("DELETED", RawWatchEvent::Deleted(_))
        );
        assert!(fits, "{event:?}");
        assert_eq!(
            event.object().unwrap().bytes(),
            r#"{"metadata":{"name":"a","resourceVersion":"7"}}"#
        );
        assert_eq!(event.resource_version(), Some("7"));
        let kept = RawWatchEvent::parse(&frame, false).unwrap();
        assert!(kept.object().unwrap().field("metadata.managedFields").unwrap().is_some());
    }
    // The object may come first.
    let event = parse(r#"{"object":{"metadata":{"name":"a"}},"type":"ADDED"}"#).unwrap();
    assert_eq!(event.object().unwrap().name(), "a");
}

#[test]
fn bookmarks_need_only_a_version() {
    let bookmark = |object: &str| parse(&format!(r#"{{"type":"BOOKMARK","object":{object}}}"#));
    let cases = [
        (
            r#"{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"500","creationTimestamp":null}}"#,
            false,
        ),
        (
            r#"{"metadata":{"resourceVersion":"500","annotations":{"k8s.io/initial-events-end":"true"}},"spec":{"containers":null}}"#,
            true,
        ),
        (
            r#"{"metadata":{"resourceVersion":"500","annotations":{"k8s.io/initial-events-end":"false"}}}"#,
            false,
        ),
    ];
    for (object, ends) in cases {
        let event = bookmark(object).unwrap();
        assert_eq!(event.resource_version(), Some("500"));
        assert!(event.object().is_none());
        assert!(
            matches!(event, RawWatchEvent::Bookmark { initial_events_end, .. } if initial_events_end == ends)
        );
    }
    assert!(bookmark(r#"{"kind":"Pod","metadata":{}}"#).unwrap_err().is_malformed());
}

#[test]
fn errors_are_refusals_whatever_they_carry() {
    let event = parse(r#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}}"#).unwrap();
    assert!(matches!(&event, RawWatchEvent::Error(status) if status.is_expired()));
    assert_eq!(event.resource_version(), None);
    for object in ["{}", "null", "[1]", r#"{"a":tru}"#] {
        let event = parse(&format!(r#"{{"type":"ERROR","object":{object}}}"#)).unwrap();
        assert!(
            matches!(event, RawWatchEvent::Error(status) if status.code() == 500 || object == "{}")
        );
    }
}

#[test]
fn bad_frames_are_errors_that_name_the_object() {
    let error = parse(
        r#"{"type":"ADDED","object":{"metadata":{"namespace":"ns","name":"a","labels":[]}}}"#,
    )
    .unwrap_err();
    assert!(error.is_malformed());
    assert_eq!(error.object_key(), Some(&ObjectKey::namespaced("ns", "a")));
    let error = parse(r#"{"type":"RENAMED","object":{"metadata":{"name":"a"}}}"#).unwrap_err();
    assert!(error.is_unknown_event());
    assert_eq!(error.to_string(), "unknown watch event type \"RENAMED\" a");
    for frame in [
        "{}",
        r#"{"type":"ADDED"}"#,
        r#"{"object":{}}"#,
        r#"{"type":1,"object":{}}"#,
        "[]",
        "",
        r#"{"type":"ADDED","object":7}"#,
    ] {
        assert!(parse(frame).unwrap_err().is_malformed(), "{frame}");
    }
    let table =
        r#"{"type":"ADDED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{}}}"#;
    assert!(parse(table).unwrap_err().is_unexpected_kind());
}

proptest! {
    #[test]
    fn spoiled_frames_never_panic(spoils in spoils(), strip: bool) {
        let frame = r#"{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"a","labels":{"a":"\u00e9"},"managedFields":[{}]}}}"#;
        let bytes = spoil(frame, &spoils);
        if let Ok(RawWatchEvent::Added(object)) = RawWatchEvent::parse(&bytes, strip) {
            prop_assert!(serde_json::from_slice::<serde_json::Value>(object.bytes()).is_ok());
        }
    }
}
