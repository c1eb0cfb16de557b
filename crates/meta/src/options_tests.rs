use super::*;

#[test]
fn defaults_send_nothing_but_what_the_verb_needs() {
    assert!(ListOptions::default().params().is_empty());
    assert!(GetOptions::default().params().is_empty());
    assert!(PatchOptions::default().params().is_empty());
    assert_eq!(
        WatchOptions::default().params(),
        [("watch", "true".into()), ("allowWatchBookmarks", "true".into())]
    );
    let body = serde_json::to_value(DeleteOptions::default().body()).unwrap();
    assert_eq!(body, serde_json::json!({"apiVersion": "v1", "kind": "DeleteOptions"}));
}

#[test]
fn every_option_is_sent() {
    let list = ListOptions {
        labels: "app=web".parse().unwrap(),
        fields: "spec.nodeName=n1".parse().unwrap(),
        limit: Some(500),
        continue_token: Some("t".into()),
        resource_version: Some("7".into()),
        resource_version_match: Some(ResourceVersionMatch::Exact),
        timeout: Some(Duration::from_millis(1500)),
    };
    let text: Vec<_> = list.params().iter().map(|(k, v)| format!("{k}={v}")).collect();
    assert_eq!(
        text,
        [
            "labelSelector=app=web",
            "fieldSelector=spec.nodeName=n1",
            "limit=500",
            "continue=t",
            "resourceVersion=7",
            "resourceVersionMatch=Exact",
            "timeoutSeconds=2"
        ]
    );
    let delete = DeleteOptions {
        dry_run: true,
        grace_period: Some(Duration::ZERO),
        preconditions: Some(Preconditions {
            uid: Some("u".into()),
            resource_version: Some("1".into()),
        }),
        propagation: Some(PropagationPolicy::Foreground),
    };
    assert_eq!(
        serde_json::to_value(delete.body()).unwrap(),
        serde_json::json!({
            "apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0,
            "preconditions": {"uid": "u", "resourceVersion": "1"},
            "propagationPolicy": "Foreground", "dryRun": ["All"],
        })
    );
}

#[test]
fn a_selector_of_nothing_never_becomes_everything() {
    let params = ListOptions::with_labels(Selector::nothing()).params();
    let (_, text) = params.iter().find(|(name, _)| *name == "labelSelector").unwrap();
    let parsed: Selector = text.parse().unwrap();
    assert!(!parsed.matches(&std::collections::BTreeMap::<String, String>::new()));
}

#[test]
fn the_longest_duration_is_a_number_that_servers_can_read() {
    for longest in [Duration::MAX, Duration::from_secs(u64::MAX)] {
        let delete = DeleteOptions { grace_period: Some(longest), ..DeleteOptions::default() };
        let body = serde_json::to_value(delete.body()).unwrap();
        assert_eq!(body["gracePeriodSeconds"], i64::MAX);
        let list = ListOptions { timeout: Some(longest), ..ListOptions::default() };
        assert_eq!(list.params(), [("timeoutSeconds", i64::MAX.to_string().into())]);
    }
}
