use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};

use super::rank::choose;

const NOW: i64 = 1_800_000_000;

fn at(seconds_ago: i64) -> String {
    Timestamp::from_second(NOW - seconds_ago).unwrap().to_string()
}

fn pod(name: &str, changes: Value) -> Pod {
    let mut pod = json!({
        "metadata": {"name": name, "creationTimestamp": at(1000)},
        "spec": {"nodeName": "n1", "containers": []},
        "status": {"phase": "Running", "conditions": [
            {"type": "Ready", "status": "True", "lastTransitionTime": at(900)}]},
    });
    json_patch::merge(&mut pod, &changes);
    serde_json::from_value(pod).unwrap()
}

fn first_of(pods: &[Pod], related: &[Pod]) -> String {
    let refs: Vec<&Pod> = pods.iter().collect();
    let related: Vec<&Pod> = related.iter().collect();
    let now = Timestamp::from_second(NOW).unwrap();
    let chosen = choose(&refs, &related, 1, now);
    chosen[0].metadata.name.clone().unwrap()
}

/// In each pair the second loses less, and goes first, wherever it stands.
#[test]
fn each_rule_decides_when_those_before_are_even() {
    let plain = || pod("stays", json!({}));
    let not_ready = json!({"status": {"conditions": []}});
    let pairs = [
        (plain(), pod("goes", json!({"spec": {"nodeName": null}}))),
        (plain(), pod("goes", json!({"status": {"phase": "Pending"}}))),
        (plain(), pod("goes", not_ready)),
        (
            plain(),
            pod(
                "goes",
                json!({"metadata": {"annotations": {
                "controller.kubernetes.io/pod-deletion-cost": "-5"}}}),
            ),
        ),
        (
            plain(),
            pod(
                "goes",
                json!({"status": {"conditions": [
                {"type": "Ready", "status": "True", "lastTransitionTime": at(10)}]}}),
            ),
        ),
        (
            plain(),
            pod(
                "goes",
                json!({"status": {"containerStatuses": [
                {"name": "c", "image": "i", "imageID": "", "ready": true, "restartCount": 3}]}}),
            ),
        ),
        (plain(), pod("goes", json!({"metadata": {"creationTimestamp": at(10)}}))),
    ];
    for (stays, goes) in pairs {
        let both = [stays.clone(), goes.clone()];
        assert_eq!(first_of(&both, &both), "goes", "{goes:?}");
        let both = [goes, stays];
        assert_eq!(first_of(&both, &both), "goes");
    }
}

#[test]
fn an_earlier_rule_beats_a_later_one() {
    // Not assigned, though costly to lose; against assigned, cheap and young.
    let unassigned = pod(
        "goes",
        json!({"spec": {"nodeName": null}, "metadata": {"annotations": {
            "controller.kubernetes.io/pod-deletion-cost": "100"}}}),
    );
    let cheap = pod(
        "stays",
        json!({"metadata": {"creationTimestamp": at(1), "annotations": {
            "controller.kubernetes.io/pod-deletion-cost": "-100"}}}),
    );
    let both = [cheap, unassigned];
    assert_eq!(first_of(&both, &both), "goes");
}

#[test]
fn pods_on_crowded_nodes_go_first_and_related_pods_count() {
    let pods = [pod("stays", json!({})), pod("goes", json!({"spec": {"nodeName": "n2"}}))];
    let other = pod("other-set", json!({"spec": {"nodeName": "n2"}}));
    let related = [pods[0].clone(), pods[1].clone(), other];
    assert_eq!(first_of(&pods, &related), "goes");
    // A pod that has ended crowds nobody.
    let ended = pod("ended", json!({"spec": {"nodeName": "n1"}, "status": {"phase": "Failed"}}));
    let related = [pods[0].clone(), pods[1].clone(), related[2].clone(), ended.clone(), ended];
    assert_eq!(first_of(&pods, &related), "goes");
}

#[test]
fn ages_count_in_doublings() {
    // 1000 s and 900 s fall in the same doubling: even, so the order given stays.
    let older = pod("older", json!({"metadata": {"creationTimestamp": at(1000)}}));
    let younger = pod("younger", json!({"metadata": {"creationTimestamp": at(900)}}));
    assert_eq!(first_of(&[older.clone(), younger.clone()], &[]), "older");
    assert_eq!(first_of(&[younger, older], &[]), "younger");
}

#[test]
fn availability_waits_for_min_ready_seconds() {
    let ready = pod("p", json!({}));
    let now = Timestamp::from_second(NOW).unwrap();
    let wait = |seconds| super::pod::available_in(&ready, Duration::from_secs(seconds), now);
    assert_eq!(wait(0), Some(Duration::ZERO));
    assert_eq!(wait(900), Some(Duration::ZERO));
    assert_eq!(wait(960), Some(Duration::from_secs(60)));
    let not_ready = pod("p", json!({"status": {"conditions": []}}));
    assert_eq!(super::pod::available_in(&not_ready, Duration::ZERO, now), None);
}
