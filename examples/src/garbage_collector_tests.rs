use k8s_openapi::api::core::v1::ConfigMap;
use kubewright::meta::{CreateOptions, GroupVersionKind};
use kubewright::testing::DevServer;

use super::*;

#[tokio::test(start_paused = true)]
async fn what_changed_since_it_was_looked_at_is_not_deleted() {
    let client = DevServer::start().await.unwrap().client();
    let factory = SharedInformerFactory::new(&client);
    let kind = GroupVersionKind::new("", "v1", "ConfigMap");
    let kind = Kind::<Unstructured>::dynamic(kind, "configmaps", Scope::Namespaced);
    let informer = factory.informer_of(kind.clone(), InformerOptions::default()).unwrap();
    let collector = Collector {
        client: client.clone(),
        kinds: vec![kind],
        informers: vec![informer.clone()],
        by_type: HashMap::new(),
        queue: RateLimitingQueue::default(),
    };
    let maps = client.in_namespace::<ConfigMap>("default");
    let map: ConfigMap = serde_json::from_value(json!({"metadata": {"name": "map"}})).unwrap();
    let map = maps.create(&map, &CreateOptions::default()).await.unwrap();
    factory.start();
    factory.wait_for_sync().await.unwrap();
    let seen = informer.lister().get(&map.key()).unwrap();

    // Somebody adopts it, and the collector does not know yet.
    let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "1"});
    let adopted = Patch::merge(json!({"metadata": {"ownerReferences": [owner]}})).unwrap();
    let adopted = maps.patch("map", &adopted, &PatchOptions::default()).await.unwrap();
    collector.delete(0, &seen, PropagationPolicy::Background).await.unwrap();
    let still = maps.get("map", &GetOptions::default()).await.unwrap();
    assert_eq!(still.resource_version(), adopted.resource_version());

    tokio::time::sleep(Duration::from_secs(1)).await;
    let seen = informer.lister().get(&map.key()).unwrap();
    collector.delete(0, &seen, PropagationPolicy::Background).await.unwrap();
    assert!(maps.get("map", &GetOptions::default()).await.unwrap_err().is_not_found());
    factory.shutdown().await;
}
