//! Watches: order, selectors, bookmarks, versions, ends.

mod lab;

use std::time::Duration;

use http_body_util::BodyExt;
use kubewright_devserver::DevServer;
use lab::*;
use serde_json::{Value, json};

#[tokio::test]
async fn changes_come_in_order_with_rising_versions() {
    let lab = Lab::new();
    let start = lab.server.resource_version();
    let mut watch = lab.watch(&format!("{CONFIG_MAPS}?watch=true&resourceVersion={start}")).await;
    lab.config_map("a").await;
    lab.merge(&format!("{CONFIG_MAPS}/a"), json!({"data": {"a": "2"}})).await.ok();
    lab.config_map("b").await;
    lab.delete(&format!("{CONFIG_MAPS}/a")).await.ok();
    let mut last = start.parse::<u64>().unwrap();
    for (kind, name) in [("ADDED", "a"), ("MODIFIED", "a"), ("ADDED", "b"), ("DELETED", "a")] {
        let event = watch.next().await.unwrap();
        assert_eq!(
            (&event["type"], &event["object"]["metadata"]["name"]),
            (&json!(kind), &json!(name))
        );
        assert_eq!(event["object"]["kind"], "ConfigMap");
        assert!(version(&event["object"]) > last);
        last = version(&event["object"]);
    }
    assert_eq!(last.to_string(), lab.server.resource_version());
}

#[tokio::test]
async fn without_a_version_what_exists_is_announced_first() {
    let lab = Lab::new();
    lab.config_map("a").await;
    lab.merge(&format!("{CONFIG_MAPS}/a"), json!({"data": {"a": "2"}})).await.ok();
    lab.config_map("b").await;
    for query in ["watch=true", "watch=1&resourceVersion=0"] {
        let mut watch = lab.watch(&format!("{CONFIG_MAPS}?{query}")).await;
        watch.expect("ADDED", "a").await;
        watch.expect("ADDED", "b").await;
        let name = format!("c{}", query.len());
        lab.config_map(&name).await;
        watch.expect("ADDED", &name).await;
        lab.delete(&format!("{CONFIG_MAPS}/{name}")).await.ok();
    }
}

/// B47: whatever happened between a list and its watch is shown.
#[tokio::test]
async fn b47_nothing_is_lost_between_list_and_watch() {
    let lab = Lab::new();
    let first = lab.config_map("a").await;
    let listed =
        lab.get(CONFIG_MAPS).await.ok()["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    lab.delete(&format!("{CONFIG_MAPS}/a")).await.ok();
    lab.config_map("b").await;
    let second = lab.config_map("a").await;
    let mut watch = lab.watch(&format!("{CONFIG_MAPS}?watch=true&resourceVersion={listed}")).await;
    let gone = watch.next().await.unwrap();
    assert_eq!(
        (&gone["type"], &gone["object"]["metadata"]["uid"]),
        (&json!("DELETED"), &first["metadata"]["uid"])
    );
    watch.expect("ADDED", "b").await;
    let again = watch.next().await.unwrap();
    assert_eq!((&again["type"], &again["object"]), (&json!("ADDED"), &second));
    assert_ne!(first["metadata"]["uid"], second["metadata"]["uid"]);
}

/// B85: an object that leaves a selector is deleted for the watcher, one that enters is added.
#[tokio::test]
async fn b85_selectors_turn_changes_into_comings_and_goings() {
    let lab = Lab::new();
    let start = lab.server.resource_version();
    let path = |query: &str| format!("{PODS}?watch=true&resourceVersion={start}&{query}");
    let mut running = lab.watch(&path("fieldSelector=status.phase%3DRunning")).await;
    let mut labelled = lab.watch(&path("labelSelector=tier%3Dgold")).await;
    lab.post(PODS, pod("a", Some("n1"))).await.ok();
    let status = format!("{PODS}/a/status");
    lab.merge(&status, json!({"status": {"phase": "Running"}})).await.ok();
    lab.merge(&format!("{PODS}/a"), json!({"metadata": {"labels": {"tier": "gold"}}})).await.ok();
    let left = lab.merge(&status, json!({"status": {"phase": "Failed"}})).await.ok();
    lab.merge(&format!("{PODS}/a"), json!({"metadata": {"labels": {"tier": null}}})).await.ok();
    lab.delete(&format!("{PODS}/a")).await.ok();
    lab.post(PODS, pod("b", Some("n1"))).await.ok();
    lab.merge(&format!("{PODS}/b"), json!({"metadata": {"labels": {"tier": "gold"}}})).await.ok();
    lab.merge(&format!("{PODS}/b/status"), json!({"status": {"phase": "Running"}})).await.ok();

    running.expect("ADDED", "a").await;
    running.expect("MODIFIED", "a").await;
    let event = running.next().await.unwrap();
    assert_eq!(event["type"], "DELETED");
    // The last state that was selected, under the version of the change that ended it.
    assert_eq!(event["object"]["status"]["phase"], "Running");
    assert_eq!(version(&event["object"]), version(&left));
    running.expect("ADDED", "b").await;
    labelled.expect("ADDED", "a").await;
    labelled.expect("MODIFIED", "a").await;
    labelled.expect("DELETED", "a").await;
    labelled.expect("ADDED", "b").await;
}

#[tokio::test]
async fn a_namespaced_watch_sees_its_namespace_only() {
    let lab = Lab::new();
    lab.namespace("lab").await;
    let start = lab.server.resource_version();
    let mut one = lab
        .watch(&format!("/api/v1/namespaces/lab/configmaps?watch=1&resourceVersion={start}"))
        .await;
    let mut all = lab.watch(&format!("/api/v1/configmaps?watch=1&resourceVersion={start}")).await;
    lab.config_map("a").await;
    lab.post("/api/v1/namespaces/lab/configmaps", json!({"metadata": {"name": "b"}})).await.ok();
    one.expect("ADDED", "b").await;
    all.expect("ADDED", "a").await;
    all.expect("ADDED", "b").await;
}

/// B45: a version that is gone is said to be gone, in the way of a real server: 200 and an ERROR event.
#[tokio::test]
async fn b45_a_compacted_version_is_410() {
    let lab = Lab::new();
    let start = lab.server.resource_version();
    lab.config_map("a").await;
    lab.server.compact();
    for resource in ["configmaps", "events", "secrets"] {
        let path =
            format!("/api/v1/namespaces/default/{resource}?watch=true&resourceVersion={start}");
        let mut watch = lab.watch(&path).await;
        let event = watch.next().await.unwrap();
        assert_eq!(event["type"], "ERROR");
        assert_eq!(
            (&event["object"]["kind"], &event["object"]["code"]),
            (&json!("Status"), &json!(410))
        );
        assert_eq!(event["object"]["reason"], "Expired");
        assert!(
            event["object"]["message"].as_str().unwrap().starts_with("too old resource version: ")
        );
        assert!(watch.next().await.is_none());
    }
}

#[tokio::test]
async fn an_open_watch_that_is_up_to_date_survives_a_compaction() {
    let lab = Lab::new();
    let start = lab.server.resource_version();
    let mut watch = lab.watch(&format!("{CONFIG_MAPS}?watch=true&resourceVersion={start}")).await;
    lab.config_map("a").await;
    watch.expect("ADDED", "a").await;
    // A change of another resource moves the global version on.
    lab.namespace("lab").await;
    lab.server.compact();
    lab.config_map("b").await;
    watch.expect("ADDED", "b").await;
}

#[tokio::test]
async fn a_watcher_that_does_not_read_falls_out_of_the_history() {
    let lab = Lab::of(DevServer::builder().history(10));
    let start = lab.server.resource_version();
    let mut watch = lab.watch(&format!("{CONFIG_MAPS}?watch=true&resourceVersion={start}")).await;
    lab.config_map("a").await;
    watch.expect("ADDED", "a").await;
    for index in 0..20 {
        lab.config_map(&format!("b{index}")).await;
    }
    assert_eq!(watch.next().await.unwrap()["object"]["code"], 410);
    assert!(watch.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn bookmarks_come_when_asked_for_and_before_the_end() {
    let lab = Lab::new();
    lab.config_map("a").await;
    let start = lab.server.resource_version();
    let query = format!("watch=true&resourceVersion={start}&timeoutSeconds=150");
    let mut silent = lab.watch(&format!("{CONFIG_MAPS}?{query}")).await;
    let mut watch = lab.watch(&format!("{CONFIG_MAPS}?{query}&allowWatchBookmarks=true")).await;
    let began = tokio::time::Instant::now();
    // Something else moves the version on: that is what bookmarks are for.
    let namespace = lab.namespace("lab").await;
    for at in [60, 120, 148] {
        let event = watch.next().await.unwrap();
        assert_eq!(
            event,
            json!({"type": "BOOKMARK", "object": {
                "kind": "ConfigMap", "apiVersion": "v1",
                "metadata": {"resourceVersion": namespace["metadata"]["resourceVersion"]},
            }})
        );
        assert_eq!(began.elapsed().as_secs(), at);
    }
    assert!(watch.next().await.is_none());
    assert_eq!(began.elapsed().as_secs(), 150);
    assert!(silent.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn without_a_timeout_a_watch_ends_within_an_hour() {
    let lab = Lab::new();
    let start = lab.server.resource_version();
    let mut watch = lab.watch(&format!("{CONFIG_MAPS}?watch=true&resourceVersion={start}")).await;
    let began = tokio::time::Instant::now();
    assert!(watch.next().await.is_none());
    assert!((1800..=3600).contains(&began.elapsed().as_secs()));
}

#[tokio::test]
async fn a_watch_from_the_future_waits_for_it() {
    let lab = Lab::new();
    let future = lab.server.resource_version().parse::<u64>().unwrap() + 2;
    let mut watch = lab.watch(&format!("{CONFIG_MAPS}?watch=true&resourceVersion={future}")).await;
    for name in ["a", "b", "c"] {
        lab.config_map(name).await;
    }
    watch.expect("ADDED", "c").await;
}

#[tokio::test]
async fn streaming_lists_are_refused_as_by_a_server_without_them() {
    let lab = Lab::new();
    let query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let refused = lab.get(&format!("{CONFIG_MAPS}?{query}")).await;
    assert_eq!(
        refused.refused(422, "Invalid"),
        "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"
    );
    lab.get(&format!("{CONFIG_MAPS}?watch=true&resourceVersionMatch=Exact&resourceVersion=1"))
        .await
        .refused(422, "Invalid");
    lab.get(&format!("{CONFIG_MAPS}?watch=true&resourceVersion=x")).await.refused(422, "Invalid");
    let old = lab.get("/api/v1/watch/namespaces/default/pods").await;
    assert!(old.refused(404, "NotFound").contains("?watch=true"));
}

#[tokio::test]
async fn shutting_down_ends_watches_cleanly() {
    let lab = Lab::new();
    let mut watch = lab.watch(&format!("{CONFIG_MAPS}?watch=true")).await;
    let server = lab.server.clone();
    let ended = tokio::spawn(async move { watch.next().await });
    tokio::task::yield_now().await;
    server.shut_down();
    assert_eq!(ended.await.unwrap(), None);
    lab.get(CONFIG_MAPS).await.refused(503, "ServiceUnavailable");
}

#[tokio::test]
async fn many_watchers_of_many_changes_all_see_the_same() {
    let lab = Lab::new();
    let start = lab.server.resource_version();
    let watchers: Vec<_> = {
        let mut watchers = Vec::new();
        for _ in 0..20 {
            let mut watch =
                lab.watch(&format!("{CONFIG_MAPS}?watch=true&resourceVersion={start}")).await;
            watchers.push(tokio::spawn(async move {
                let mut seen = Vec::new();
                while seen.len() < 1000 {
                    let event: Value = watch.next().await.unwrap();
                    seen.push(version(&event["object"]));
                }
                seen
            }));
        }
        watchers
    };
    for index in 0..500 {
        lab.config_map(&format!("m{index}")).await;
        lab.delete(&format!("{CONFIG_MAPS}/m{index}")).await.ok();
    }
    let mut all = Vec::new();
    for watcher in watchers {
        all.push(tokio::time::timeout(Duration::from_secs(60), watcher).await.unwrap().unwrap());
    }
    assert!(all[0].is_sorted());
    assert!(all.iter().all(|seen| *seen == all[0]));
}

/// A reader that is behind gets large objects piece by piece, and all of them.
#[tokio::test]
async fn large_objects_do_not_pile_up() {
    let lab = Lab::new();
    let start = lab.server.resource_version();
    let text = "x".repeat(700_000);
    for n in 0..8 {
        let body = json!({"metadata": {"name": format!("n{n}")}, "data": {"text": text}});
        lab.post(CONFIG_MAPS, body).await.ok();
    }
    let path = format!("{CONFIG_MAPS}?watch=true&resourceVersion={start}");
    let mut body = lab.send("GET", &path, &[], "").await.unwrap().into_body();
    let mut names = Vec::new();
    while names.len() < 8 {
        let piece = body.frame().await.unwrap().unwrap().into_data().unwrap();
        assert!(piece.len() < 2_000_000, "{} bytes at once", piece.len());
        for line in piece.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let event: Value = serde_json::from_slice(line).unwrap();
            names.push(event["object"]["metadata"]["name"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(names, ["n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"]);
}
