//! Injected faults, counts, kinds registered late.

mod lab;

use std::time::Duration;

use http_body_util::BodyExt;
use kubewright_devserver::{CustomKind, Fault};
use kubewright_meta::{GroupVersionKind, Reason, Scope, StatusError};
use lab::*;
use serde_json::json;

#[tokio::test]
async fn a_refusal_meets_the_chosen_requests_only() {
    let lab = Lab::new();
    lab.config_map("a").await;
    let busy = StatusError::of(Reason::TooManyRequests, "slow down");
    let fault = Fault::on("get", "configmaps").after(1).times(2).answer(busy);
    let fault = lab.server.faults().inject(fault).unwrap();
    let path = format!("{CONFIG_MAPS}/a");
    lab.get(&path).await.ok();
    lab.get(CONFIG_MAPS).await.ok();
    for _ in 0..2 {
        lab.get(&path).await.refused(429, "TooManyRequests");
    }
    lab.get(&path).await.ok();
    assert_eq!(fault.hits(), 2);
    fault.remove();
}

#[tokio::test]
async fn a_lost_answer_leaves_the_deed_done_and_a_dropped_request_does_not() {
    let lab = Lab::new();
    let faults = lab.server.faults();
    faults.inject(Fault::on("create", "*").drop_request()).unwrap();
    faults.inject(Fault::on("create", "*").after(1).lose_answer()).unwrap();
    for (name, done) in [("a", false), ("b", true)] {
        let body = json!({"metadata": {"name": name}}).to_string();
        let error = lab.send("POST", CONFIG_MAPS, &[], body).await.err().unwrap();
        assert!(error.is_injected());
        assert_eq!(lab.get(&format!("{CONFIG_MAPS}/{name}")).await.code == 200, done);
    }
}

#[tokio::test]
async fn a_watch_is_cut_in_the_middle_of_an_event() {
    let lab = Lab::new();
    lab.server.faults().inject(Fault::on("watch", "configmaps").cut_after(20)).unwrap();
    lab.config_map("a").await;
    let mut body =
        lab.send("GET", &format!("{CONFIG_MAPS}?watch=true"), &[], "").await.unwrap().into_body();
    assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap().len(), 20);
    assert!(body.frame().await.unwrap().unwrap_err().is_injected());
    assert!(body.frame().await.is_none());
    let mut whole = lab.watch(&format!("{CONFIG_MAPS}?watch=true")).await;
    whole.expect("ADDED", "a").await;
}

#[tokio::test(start_paused = true)]
async fn a_delay_runs_on_tokios_clock() {
    let lab = Lab::new();
    lab.server
        .faults()
        .inject(Fault::on("*", "pods/status").delay(Duration::from_secs(5)))
        .unwrap();
    lab.post(PODS, pod("a", None)).await.ok();
    let began = tokio::time::Instant::now();
    lab.get(&format!("{PODS}/a/status")).await.ok();
    assert_eq!(began.elapsed().as_secs(), 5);
    lab.get(&format!("{PODS}/a/status")).await.ok();
    assert_eq!(began.elapsed().as_secs(), 5);
}

/// A slip of the pen must not make a test pass.
#[tokio::test]
async fn a_fault_that_nothing_can_meet_is_refused() {
    let lab = Lab::new();
    let faults = lab.server.faults();
    for (verb, resource, why) in [
        ("ptach", "pods", "\"ptach\" is no verb of pods, which has create,"),
        ("PATCH", "*", "\"PATCH\" is no verb; there are create,"),
        ("list", "pods/status", "which has get, patch, update;"),
        ("deletecollection", "namespaces", "no verb of namespaces"),
        ("get", "pod", "\"pod\" is not served; there are configmaps,"),
        ("get", "lates", "custom kinds are registered first"),
        ("get", "configmaps/status", "pods/binding, pods/eviction, pods/status"),
        ("get", "pods.apps", "is not served"),
        ("", "", "is not served"),
    ] {
        let error = faults.inject(Fault::on(verb, resource)).unwrap_err();
        assert!(error.is_invalid_fault());
        assert!(error.to_string().contains(why), "{error}");
    }
    // As soon as it is served, it can fail.
    let late = |group| GroupVersionKind::new(group, "v1", "Late");
    let server = &lab.server;
    server.register(CustomKind::new(late("a.test"), "lates", Scope::Cluster));
    faults.inject(Fault::on("get", "lates")).unwrap();
    server.register(CustomKind::new(late("b.test"), "lates", Scope::Cluster));
    let error = faults.inject(Fault::on("get", "lates")).unwrap_err();
    assert!(error.to_string().contains("may be any of lates.a.test, lates.b.test"), "{error}");
    faults.inject(Fault::on("get", "lates.b.test")).unwrap();
}

#[tokio::test]
async fn a_group_may_be_left_out() {
    let lab = Lab::new();
    let faults = lab.server.faults();
    let sets = faults.inject(Fault::on("update", "replicasets/status")).unwrap();
    let widgets = faults.inject(Fault::on("list", "widgets")).unwrap();
    let events = faults.inject(Fault::on("list", "events")).unwrap();
    lab.put(&format!("{REPLICA_SETS}/x/status"), replica_set("x")).await.refused(404, "NotFound");
    lab.get(WIDGETS).await.ok();
    // Without a group is the group without a name, where it has such a resource.
    lab.get("/apis/events.k8s.io/v1/events").await.ok();
    assert_eq!((sets.hits(), widgets.hits(), events.hits()), (1, 1, 0));
    lab.get("/api/v1/events").await.ok();
    assert_eq!(events.hits(), 1);
    assert_eq!(format!("{sets:?}"), "FaultHandle(update replicasets.apps/status, 1 of 1 hits)");
}

#[tokio::test]
async fn requests_are_counted_by_resource_and_verb() {
    let lab = Lab::new();
    lab.post(PODS, pod("a", None)).await.ok();
    lab.get(PODS).await.ok();
    lab.get(&format!("{PODS}/b")).await.refused(404, "NotFound");
    lab.get(&format!("{PODS}/a/status")).await.ok();
    lab.watch(&format!("{PODS}?watch=1")).await;
    lab.post(REPLICA_SETS, replica_set("rs")).await.ok();
    let counts = lab.server.request_counts();
    let shown: Vec<String> = counts
        .iter()
        .map(|count| format!("{} {} {}", count.verb, count.resource, count.count))
        .collect();
    assert_eq!(
        shown,
        [
            "create pods 1",
            "get pods 1",
            "list pods 1",
            "watch pods 1",
            "get pods/status 1",
            "create replicasets.apps 1"
        ]
    );
    lab.server.reset_request_counts();
    assert!(lab.server.request_counts().is_empty());
}

#[tokio::test]
async fn a_kind_can_be_registered_at_any_time() {
    let lab = Lab::new();
    let path = "/apis/late.test/v1/lates";
    lab.get(path).await.refused(404, "NotFound");
    let gvk = GroupVersionKind::new("late.test", "v1", "Late");
    lab.server.register(CustomKind::new(gvk, "lates", Scope::Cluster));
    lab.post(path, json!({"metadata": {"name": "a"}})).await.ok();
    assert_eq!(lab.names(path).await, ["a"]);
    // Another version of the same resource serves the same objects.
    let gvk = GroupVersionKind::new("late.test", "v2", "Late");
    lab.server.register(CustomKind::new(gvk, "lates", Scope::Cluster));
    let second = lab.get("/apis/late.test/v2/lates/a").await.ok();
    assert_eq!(second["apiVersion"], "late.test/v2");
    assert_eq!(lab.get(&format!("{path}/a")).await.ok()["apiVersion"], "late.test/v1");
}

/// B34: names are decoded once, and found again under their encoded form.
#[tokio::test]
async fn b34_names_with_blanks_and_signs() {
    let lab = Lab::new();
    let gvk = GroupVersionKind::new("free.test", "v1", "Free");
    lab.server.register(CustomKind::new(gvk, "frees", Scope::Cluster).any_name());
    let path = "/apis/free.test/v1/frees";
    for (name, segment) in [
        ("two words", "two%20words"),
        ("system:node:a", "system:node:a"),
        ("x?y", "x%3Fy"),
        ("h#1", "h%231"),
        ("ü", "%C3%BC"),
    ] {
        lab.post(path, json!({"metadata": {"name": name}})).await.ok();
        assert_eq!(lab.get(&format!("{path}/{segment}")).await.ok()["metadata"]["name"], name);
        lab.delete(&format!("{path}/{segment}")).await.ok();
    }
    for name in ["a/b", "a%b", ".", ".."] {
        lab.post(path, json!({"metadata": {"name": name}})).await.refused(422, "Invalid");
    }
}
