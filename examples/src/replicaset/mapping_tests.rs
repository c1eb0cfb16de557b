use std::time::Duration;

use k8s_openapi::api::apps::v1::ReplicaSet;
use k8s_openapi::api::core::v1::Pod;
use kubewright::cache::{Event, SharedInformerFactory};
use kubewright::controller::owner_reference_of;
use kubewright::meta::{CreateOptions, DeleteOptions, Kind, Object};
use kubewright::testing::DevServer;
use serde_json::json;

use super::ReplicaSetController;
use crate::Clock;

#[tokio::test(start_paused = true)]
async fn a_pod_that_takes_anothers_name_settles_both_expectations() {
    let client = DevServer::start().await.unwrap().client();
    let factory = SharedInformerFactory::new(&client);
    let this = ReplicaSetController::new(&client, &factory, 1, Clock::tokio()).this;
    let (sets, pods) =
        (client.in_namespace::<ReplicaSet>("default"), client.in_namespace::<Pod>("default"));
    let labels = json!({"app": "web"});
    let spec = json!({"containers": [{"name": "web", "image": "registry.example/web:1"}]});
    let set = json!({
        "metadata": {"name": "web"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    });
    let set: ReplicaSet = serde_json::from_value(set).unwrap();
    let set = sets.create(&set, &CreateOptions::default()).await.unwrap();
    let pod = json!({
        "metadata": {
            "name": "pod", "labels": labels,
            "ownerReferences": [owner_reference_of(&set, &Kind::of())],
        },
        "spec": spec,
    });
    let pod: Pod = serde_json::from_value(pod).unwrap();
    let first = pods.create(&pod, &CreateOptions::default()).await.unwrap();
    factory.start();
    factory.wait_for_sync().await.unwrap();
    let old = this.pods.lister().get(&first.key()).unwrap();
    pods.delete("pod", &DeleteOptions::default()).await.unwrap();
    pods.create(&pod, &CreateOptions::default()).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let new = this.pods.lister().get(&first.key()).unwrap();
    assert_ne!(old.uid(), new.uid());

    // As a relist tells it that saw neither the end of the one nor the beginning of the other.
    let event = Event::Updated { old, new };
    let key = set.key();
    this.expectations.expect_deletions(&key, [first.key()]);
    assert!(!this.expectations.satisfied(&key));
    assert_eq!(this.pod_changed(&event), [key.clone(), key.clone()]);
    assert!(this.expectations.satisfied(&key));
    this.expectations.expect_creations(&key, 1);
    assert!(!this.expectations.satisfied(&key));
    this.pod_changed(&event);
    assert!(this.expectations.satisfied(&key));
    factory.shutdown().await;
}
