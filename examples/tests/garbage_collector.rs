//! The garbage collector: background, foreground, orphan, and owners that are not who they seem.

mod support;

use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright::client::{Api, Client};
use kubewright::meta::{DeleteOptions, Object, PropagationPolicy, Reason, StatusError};
use kubewright::testing::{DevServer, Fault};
use kubewright_examples::{Controllers, Settings};
use serde_json::{Value, json};
use support::{create, names, until};

async fn start() -> (Client, Controllers, Api<ConfigMap>) {
    let client = DevServer::start().await.unwrap().client();
    let controllers = Controllers::start(&client, Settings::default());
    let maps = client.in_namespace("default");
    (client, controllers, maps)
}

fn map(name: &str, owners: &[&ConfigMap], blocks: bool) -> ConfigMap {
    let owner = |owner: &&ConfigMap| -> Value {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "name": owner.name(), "uid": owner.uid(),
            "blockOwnerDeletion": blocks,
        })
    };
    let owners: Vec<Value> = owners.iter().map(owner).collect();
    serde_json::from_value(json!({"metadata": {"name": name, "ownerReferences": owners}})).unwrap()
}

#[tokio::test(start_paused = true)]
async fn in_the_background_what_is_owned_goes_with_its_last_owner() {
    let (_client, controllers, maps) = start().await;
    let one = create(&maps, &map("one", &[], false)).await;
    let two = create(&maps, &map("two", &[], false)).await;
    let child = create(&maps, &map("child", &[&one, &two], false)).await;
    create(&maps, &map("grandchild", &[&child], false)).await;
    maps.delete("one", &DeleteOptions::default()).await.unwrap();
    // It has another owner: it stays, without the reference to the one that is gone.
    let left = until(&maps, |maps| {
        maps.iter().any(|map| map.name() == "child" && map.owner_references().len() == 1)
    })
    .await;
    assert_eq!(names(&left), ["child", "grandchild", "two"]);
    maps.delete("two", &DeleteOptions::default()).await.unwrap();
    until(&maps, |maps| maps.is_empty()).await;
    controllers.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_owner_with_another_uid_is_no_owner() {
    let (_client, controllers, maps) = start().await;
    let mut owner = create(&maps, &map("owner", &[], false)).await;
    create(&maps, &map("stays", &[&owner], false)).await;
    owner.metadata.uid = Some("00000000-0000-0000-0000-000000000000".into());
    create(&maps, &map("goes", &[&owner], false)).await;
    let left = until(&maps, |maps| maps.iter().all(|map| map.name() != "goes")).await;
    assert_eq!(names(&left), ["owner", "stays"]);
    controllers.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn in_the_foreground_the_owner_waits_for_those_that_block_it() {
    let (_client, controllers, maps) = start().await;
    let owner = create(&maps, &map("owner", &[], true)).await;
    let mut held = map("held", &[&owner], true);
    held.metadata.finalizers = Some(vec!["lab.test/hold".into()]);
    create(&maps, &held).await;
    create(&maps, &map("free", &[&owner], true)).await;
    let options = DeleteOptions::with_propagation(PropagationPolicy::Foreground);
    maps.delete("owner", &options).await.unwrap();
    // The free one goes; the held one is marked; the owner waits for it.
    let left =
        until(&maps, |maps| maps.len() == 2 && maps.iter().all(Object::is_being_deleted)).await;
    assert_eq!(names(&left), ["held", "owner"]);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(until(&maps, |_| true).await.len(), 2);
    support::merge(&maps, "held", json!({"metadata": {"finalizers": null}})).await;
    until(&maps, |maps| maps.is_empty()).await;
    controllers.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn in_the_foreground_the_owner_does_not_wait_for_those_with_another_owner() {
    let (_client, controllers, maps) = start().await;
    let owner = create(&maps, &map("owner", &[], true)).await;
    let two = create(&maps, &map("two", &[], true)).await;
    create(&maps, &map("child", &[&owner, &two], true)).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let options = DeleteOptions::with_propagation(PropagationPolicy::Foreground);
    maps.delete("owner", &options).await.unwrap();
    let left = until(&maps, |maps| maps.iter().all(|map| map.name() != "owner")).await;
    assert_eq!(names(&left), ["child", "two"]);
    assert_eq!(left[0].owner_references().len(), 1);
    controllers.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_cannot_be_listed_does_not_hold_the_shutdown_up() {
    let server = DevServer::start().await.unwrap();
    let refusal = StatusError::of(Reason::Forbidden, "not for you");
    let fault = Fault::on("list", "secrets").times(u32::MAX).answer(refusal);
    let fault = server.faults().inject(fault).unwrap();
    let controllers = Controllers::start(&server.client(), Settings::default());
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(fault.hits() > 0);
    let shutdown = tokio::time::timeout(Duration::from_secs(3600), controllers.shutdown());
    shutdown.await.expect("it hangs").unwrap();
}

#[tokio::test(start_paused = true)]
async fn orphans_stay_without_their_reference() {
    let (_client, controllers, maps) = start().await;
    let owner = create(&maps, &map("owner", &[], false)).await;
    create(&maps, &map("a", &[&owner], false)).await;
    create(&maps, &map("b", &[&owner], true)).await;
    // The collector must have heard of both: it orphans those it knows.
    tokio::time::sleep(Duration::from_secs(5)).await;
    let options = DeleteOptions::with_propagation(PropagationPolicy::Orphan);
    maps.delete("owner", &options).await.unwrap();
    let left = until(&maps, |maps| maps.iter().all(|map| map.name() != "owner")).await;
    assert_eq!(names(&left), ["a", "b"]);
    assert!(left.iter().all(|map| map.owner_references().is_empty()));
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(until(&maps, |_| true).await.len(), 2);
    controllers.shutdown().await.unwrap();
}
