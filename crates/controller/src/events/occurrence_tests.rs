use k8s_openapi::api::core::v1::{Node, Pod};
use serde_json::json;

use super::*;

fn pod_reference(name: &str) -> ObjectReference {
    let metadata = ObjectMeta {
        name: Some(name.into()),
        namespace: Some("shop".into()),
        uid: Some("u1".into()),
        resource_version: Some("7".into()),
        ..ObjectMeta::default()
    };
    object_reference(&Pod { metadata, ..Pod::default() }, &Kind::of())
}

fn occurrence(regarding: ObjectReference) -> Occurrence {
    Occurrence {
        event_type: EventType::Warning,
        regarding,
        related: None,
        reason: "FailedCreate".into(),
        action: "Creating".into(),
        note: "no room".into(),
    }
}

fn event(occurrence: Occurrence) -> Event {
    let at: Timestamp = "2024-05-06T07:08:09.123456789Z".parse().unwrap();
    Reporter::new("replicaset-controller", "host-1").event(occurrence, at, 0xabc)
}

#[test]
fn all_that_the_api_server_requires_is_there() {
    assert_eq!(
        serde_json::to_value(event(occurrence(pod_reference("web-1")))).unwrap(),
        json!({
            "apiVersion": "events.k8s.io/v1", "kind": "Event",
            "metadata": {"name": "web-1.abc", "namespace": "shop"},
            "type": "Warning", "reason": "FailedCreate", "action": "Creating", "note": "no room",
            "regarding": {
                "apiVersion": "v1", "kind": "Pod", "namespace": "shop", "name": "web-1",
                "uid": "u1", "resourceVersion": "7",
            },
            "reportingController": "replicaset-controller",
            "reportingInstance": "replicaset-controller-host-1",
            "eventTime": "2024-05-06T07:08:09.123456Z",
        })
    );
}

#[test]
fn events_about_cluster_wide_objects_live_in_default() {
    let metadata = ObjectMeta { name: Some("node-1".into()), ..ObjectMeta::default() };
    let node = object_reference(&Node { metadata, ..Node::default() }, &Kind::of());
    let event = event(occurrence(node));
    assert_eq!(event.metadata.namespace.as_deref(), Some("default"));
    assert_eq!(event.regarding.unwrap().namespace, None);
}

#[test]
fn a_name_that_would_not_be_valid_becomes_a_uuid() {
    for name in ["a".repeat(250), "system:node:1".to_owned(), String::new()] {
        let name = event(occurrence(pod_reference(&name))).metadata.name.unwrap();
        assert_eq!(name.len(), 36, "{name}");
        assert!(check_dns_subdomain(&name).is_ok(), "{name}");
        let groups: Vec<&str> = name.split('-').collect();
        assert_eq!(groups.iter().map(|group| group.len()).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
        assert!(groups[2].starts_with('4'), "{name}");
        assert!(groups[3].starts_with(['8', '9', 'a', 'b']), "{name}");
    }
}

#[test]
fn texts_are_cut_at_a_character() {
    let mut long = occurrence(pod_reference("web-1"));
    long.note = "é".repeat(600);
    long.reason = "x".repeat(200);
    let event = event(long);
    assert_eq!(event.note.unwrap(), "é".repeat(512));
    assert_eq!(event.reason.unwrap().len(), 128);
    let mut odd = format!("x{}", "é".repeat(600));
    cut(&mut odd, MAX_NOTE);
    assert_eq!(odd.len(), 1023);
}
