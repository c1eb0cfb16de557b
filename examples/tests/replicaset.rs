//! The ReplicaSet controller does what Kubernetes' own does.

mod support;

use std::collections::HashSet;
use std::time::Duration;

use k8s_openapi::api::events::v1::Event;
use kubewright::client::{Client, Verb, WatchEvent};
use kubewright::meta::{DeleteOptions, Object, Reason, StatusError, WatchOptions};
use kubewright::testing::{DevServer, Fault};
use kubewright_examples::{Clock, Controllers, Settings};
use serde_json::json;
use support::{apis, create, get, merge, names, pod, replica_set, until, until_ready};

async fn start() -> (DevServer, Client, Controllers) {
    let server = DevServer::start().await.unwrap();
    let client = server.client();
    let controllers =
        Controllers::start(&client, Settings { clock: Clock::tokio(), ..Settings::default() });
    (server, client, controllers)
}

#[tokio::test(start_paused = true)]
async fn it_scales_up_and_down_and_replaces() {
    let (_server, client, controllers) = start().await;
    let (sets, pods) = apis(&client);
    create(&sets, &replica_set("web", 3, json!({}))).await;
    let three = until_ready(&pods, 3).await;
    for pod in &three {
        assert!(pod.name().starts_with("web-"), "{}", pod.name());
        let owner = &pod.owner_references()[0];
        assert_eq!((owner.kind.as_str(), owner.name.as_str()), ("ReplicaSet", "web"));
        assert_eq!((owner.controller, owner.block_owner_deletion), (Some(true), Some(true)));
    }
    pods.delete(three[0].name(), &DeleteOptions::default()).await.unwrap();
    until(&pods, |pods| pods.len() == 3 && pods.iter().all(|pod| pod.name() != three[0].name()))
        .await;
    merge(&sets, "web", json!({"spec": {"replicas": 12}})).await;
    until_ready(&pods, 12).await;
    merge(&sets, "web", json!({"spec": {"replicas": 0}})).await;
    until(&pods, |pods| pods.is_empty()).await;
    controllers.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_status_follows_the_pods() {
    let (_server, client, controllers) = start().await;
    let (sets, pods) = apis(&client);
    let set = replica_set(
        "web",
        2,
        json!({"spec": {
            "minReadySeconds": 30,
            "template": {"metadata": {"labels": {"tier": "front"}}},
        }}),
    );
    let created = create(&sets, &set).await;
    let counts = |set: &k8s_openapi::api::apps::v1::ReplicaSet| {
        let status = set.status.clone().unwrap_or_default();
        (
            status.replicas,
            status.fully_labeled_replicas,
            status.ready_replicas,
            status.available_replicas,
        )
    };
    // Ready before they are available: that takes the 30 seconds.
    until(&sets, |sets| {
        let (replicas, labelled, ready, available) = counts(&sets[0]);
        (replicas, labelled, ready) == (2, Some(2), Some(2)) && available.unwrap_or(0) == 0
    })
    .await;
    let started = tokio::time::Instant::now();
    let sets_now = until(&sets, |sets| counts(&sets[0]).3 == Some(2)).await;
    assert!(started.elapsed() >= Duration::from_secs(28), "{:?}", started.elapsed());
    let status = sets_now[0].status.clone().unwrap();
    assert_eq!(status.observed_generation, created.metadata.generation);
    // A pod that lost a label of the template is no longer fully labelled, but still the set's.
    let one = until_ready(&pods, 2).await.remove(0);
    merge(&pods, one.name(), json!({"metadata": {"labels": {"tier": null}}})).await;
    until(&sets, |sets| counts(&sets[0]).1 == Some(1)).await;
    assert_eq!(counts(&get(&sets, "web").await).0, 2);
    controllers.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_unchanged_status_is_not_written() {
    let (_server, client, controllers) = start().await;
    let (sets, pods) = apis(&client);
    create(&sets, &replica_set("web", 2, json!({}))).await;
    let ready = until_ready(&pods, 2).await;
    until(&sets, |sets| sets[0].status.as_ref().and_then(|s| s.available_replicas) == Some(2))
        .await;
    let before = controllers.replicaset_client().calls();
    // Changes of pods that do not change the counts.
    for n in 0..5 {
        merge(&pods, ready[0].name(), json!({"metadata": {"annotations": {"n": n.to_string()}}}))
            .await;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert_eq!((controllers.replicaset_client().calls() - before).of(Verb::Replace), 0);
    controllers.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_status_written_late_undoes_nothing() {
    let (server, client, controllers) = start().await;
    let (sets, pods) = apis(&client);
    let slow = Fault::on("update", "replicasets/status").delay(Duration::from_secs(5));
    let slow = server.faults().inject(slow).unwrap();
    create(&sets, &replica_set("web", 1, json!({}))).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(slow.hits(), 1);
    // The status that is on its way meets a conflict now.
    let mine = merge(&sets, "web", json!({"metadata": {"labels": {"mine": "yes"}}})).await;
    let options = WatchOptions::from_version(mine.resource_version());
    let mut watch = sets.watch(&options).await.unwrap();
    loop {
        let Some(Ok(WatchEvent::Modified(set))) = watch.next().await else {
            panic!("the set only changes");
        };
        assert_eq!(set.labels().get("mine").map(String::as_str), Some("yes"));
        if set.status.is_some_and(|status| status.ready_replicas == Some(1)) {
            break;
        }
    }
    until_ready(&pods, 1).await;
    controllers.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn it_adopts_orphans_and_releases_what_no_longer_matches() {
    let (_server, client, controllers) = start().await;
    let (sets, pods) = apis(&client);
    create(&pods, &pod("orphan", json!({}))).await;
    create(&pods, &pod("other", json!({"metadata": {"labels": {"app": "else"}}}))).await;
    let set = create(&sets, &replica_set("web", 2, json!({}))).await;
    // One is adopted, so only one more is made.
    let four = until(&pods, |pods| {
        pods.iter().filter(|pod| !pod.owner_references().is_empty()).count() == 2
    })
    .await;
    assert_eq!(four.len(), 3);
    let adopted = get(&pods, "orphan").await;
    assert_eq!(adopted.owner_references()[0].uid, set.uid());
    assert!(get(&pods, "other").await.owner_references().is_empty());

    merge(&pods, "orphan", json!({"metadata": {"labels": {"app": "debug"}}})).await;
    let now = until(&pods, |pods| {
        let owned = pods.iter().filter(|pod| !pod.owner_references().is_empty()).count();
        pods.len() == 4 && owned == 2
    })
    .await;
    let released = now.iter().find(|pod| pod.name() == "orphan").unwrap();
    assert!(released.owner_references().is_empty());
    controllers.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_set_that_is_being_deleted_neither_creates_nor_adopts() {
    let (_server, client, controllers) = start().await;
    let (sets, pods) = apis(&client);
    let set = replica_set("web", 0, json!({"metadata": {"finalizers": ["lab.test/hold"]}}));
    create(&sets, &set).await;
    sets.delete("web", &DeleteOptions::default()).await.unwrap();
    merge(&sets, "web", json!({"spec": {"replicas": 3}})).await;
    create(&pods, &pod("orphan", json!({}))).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    let left = until(&pods, |_| true).await;
    assert_eq!(names(&left), ["orphan"]);
    assert!(left[0].owner_references().is_empty());
    controllers.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn lost_answers_make_neither_too_many_nor_too_few() {
    let (server, client, controllers) = start().await;
    let (sets, pods) = apis(&client);
    // Stored, but the answer is lost: as when the server is killed between the two.
    server.faults().inject(Fault::on("create", "pods").times(4).after(3).lose_answer()).unwrap();
    create(&sets, &replica_set("web", 20, json!({}))).await;
    until_ready(&pods, 20).await;
    // It lasts: nothing was miscounted.
    tokio::time::sleep(Duration::from_secs(600)).await;
    let now = until_ready(&pods, 20).await;
    assert_eq!(now.len(), 20);
    controllers.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_refused_create_is_told_and_tried_again_slowly() {
    let (server, client, controllers) = start().await;
    let (sets, pods) = apis(&client);
    let refusal = StatusError::of(Reason::Forbidden, "exceeded quota: lab");
    let fault = server.faults().inject(Fault::on("create", "pods").answer(refusal)).unwrap();
    create(&sets, &replica_set("web", 50, json!({}))).await;
    let failed = until(&sets, |sets| {
        let status = sets[0].status.clone().unwrap_or_default();
        status.conditions.unwrap_or_default().iter().any(|condition| {
            condition.type_.as_deref() == Some("ReplicaFailure")
                && condition.status.as_deref() == Some("True")
                && condition.reason.as_deref() == Some("FailedCreate")
                && condition.message.as_deref().is_some_and(|text| text.contains("exceeded quota"))
        })
    })
    .await;
    assert_eq!(failed[0].status.clone().unwrap().replicas, 0);
    tokio::time::sleep(Duration::from_secs(60)).await;
    // One call a try, with back-off: not fifty, and not thousands.
    assert!(fault.hits() < 25, "{} creates", fault.hits());
    let events = client.in_namespace::<Event>("default");
    until(&events, |events| {
        events.iter().any(|event| event.reason.as_deref() == Some("FailedCreate"))
    })
    .await;
    fault.remove();
    until_ready(&pods, 50).await;
    until(&sets, |sets| sets[0].status.clone().unwrap().conditions.unwrap_or_default().is_empty())
        .await;
    controllers.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_costs_least_goes_first() {
    let (_server, client, controllers) = start().await;
    let (sets, pods) = apis(&client);
    create(&sets, &replica_set("web", 4, json!({}))).await;
    let four = until_ready(&pods, 4).await;
    let cost = "controller.kubernetes.io/pod-deletion-cost";
    for (pod, cost_of) in four.iter().zip(["10", "-1", "5", "-7"]) {
        merge(&pods, pod.name(), json!({"metadata": {"annotations": {cost: cost_of}}})).await;
    }
    merge(&sets, "web", json!({"spec": {"replicas": 2}})).await;
    let left = until_ready(&pods, 2).await;
    let expected: HashSet<_> = [four[0].name(), four[2].name()].into();
    assert_eq!(left.iter().map(|pod| pod.name()).collect::<HashSet<_>>(), expected);
    controllers.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_thousand_pods_take_few_more_than_a_thousand_calls() {
    let (_server, client, controllers) = start().await;
    let (sets, pods) = apis(&client);
    create(&sets, &replica_set("web", 1_000, json!({}))).await;
    until(&sets, |sets| sets[0].status.as_ref().and_then(|s| s.available_replicas) == Some(1_000))
        .await;
    until_ready(&pods, 1_000).await;
    let calls = controllers.replicaset_client().calls();
    assert!(calls.total() <= 1_200, "{calls}");
    controllers.shutdown().await.unwrap();
}
