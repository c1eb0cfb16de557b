//! The whole crate against a development API server in the same process.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::apps::v1::{ReplicaSet, ReplicaSetSpec};
use k8s_openapi::api::core::v1::{ConfigMap, Container, Node, Pod, PodSpec, PodTemplateSpec};
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kubewright_cache::{CachedObject, SharedInformerFactory};
use kubewright_client::{Api, Client};
use kubewright_controller::{
    Action, BoxError, Controller, ControllerRefManager, EventRecorder, add_finalizer,
    controller_of, is_controlled_by, object_reference, owner_reference_of, remove_finalizer,
};
use kubewright_devserver::DevServer;
use kubewright_meta::{
    CreateOptions, DeleteOptions, GetOptions, Kind, ListOptions, Object, ObjectKey, ObjectMeta,
    Patch, PatchOptions, Selector,
};
use serde_json::json;
use tokio::sync::oneshot;

const SHOP: &str = "default";

fn client() -> Client {
    Client::from_service(DevServer::new().service())
}

fn labels(app: &str) -> BTreeMap<String, String> {
    [("app".to_owned(), app.to_owned())].into()
}

fn meta(name: &str, app: &str) -> ObjectMeta {
    ObjectMeta { name: Some(name.into()), labels: Some(labels(app)), ..ObjectMeta::default() }
}

fn pod_spec() -> PodSpec {
    let container = Container {
        name: "main".into(),
        image: Some("example.com/web:1".into()),
        ..Container::default()
    };
    PodSpec { containers: vec![container], ..PodSpec::default() }
}

fn pod(name: &str, app: &str) -> Pod {
    Pod { metadata: meta(name, app), spec: Some(pod_spec()), ..Pod::default() }
}

fn replica_set(name: &str, replicas: i32) -> ReplicaSet {
    ReplicaSet {
        metadata: meta(name, name),
        spec: ReplicaSetSpec {
            replicas: Some(replicas),
            selector: LabelSelector {
                match_labels: Some(labels(name)),
                ..LabelSelector::default()
            },
            template: Some(PodTemplateSpec {
                metadata: Some(ObjectMeta { labels: Some(labels(name)), ..ObjectMeta::default() }),
                spec: Some(pod_spec()),
            }),
            ..ReplicaSetSpec::default()
        },
        ..ReplicaSet::default()
    }
}

async fn create<K: Object>(api: &Api<K>, object: &K) -> K {
    api.create(object, &CreateOptions::default()).await.unwrap()
}

async fn get<K: Object>(api: &Api<K>, name: &str) -> K {
    api.get(name, &GetOptions::default()).await.unwrap()
}

fn cached<K: Object>(object: &K) -> CachedObject<K> {
    CachedObject::from_object(object).unwrap()
}

struct Shop {
    client: Client,
    pods: Api<Pod>,
    sets: Api<ReplicaSet>,
    web: ReplicaSet,
}

impl Shop {
    async fn new() -> Self {
        let client = client();
        let sets = client.in_namespace::<ReplicaSet>(SHOP);
        let web = create(&sets, &replica_set("web", 2)).await;
        Self { pods: client.in_namespace::<Pod>(SHOP), sets, web, client }
    }

    fn manager(&self) -> ControllerRefManager<Pod> {
        ControllerRefManager::new(&self.client, &self.web, &Kind::of(), &Kind::of())
    }

    async fn claim(&self, children: &[&Pod]) -> Result<Vec<String>, kubewright_controller::Error> {
        let selector = Selector::from_labels(&labels("web")).unwrap();
        let children = children.iter().map(|child| cached(*child));
        let claimed = self.manager().claim(children, &selector).await?;
        Ok(claimed.iter().map(|child| child.name().to_owned()).collect())
    }

    async fn owned(&self, name: &str, app: &str) -> Pod {
        let mut pod = pod(name, app);
        pod.metadata.owner_references = Some(vec![owner_reference_of(&self.web, &Kind::of())]);
        create(&self.pods, &pod).await
    }
}

#[tokio::test(start_paused = true)]
async fn children_are_kept_adopted_and_released() {
    let shop = Shop::new().await;
    let kept = shop.owned("kept", "web").await;
    let released = shop.owned("released", "db").await;
    let orphan = create(&shop.pods, &pod("orphan", "web")).await;
    let second = create(&shop.pods, &pod("second", "web")).await;
    let stranger = create(&shop.pods, &pod("stranger", "db")).await;

    let before = shop.client.calls();
    let claimed = shop.claim(&[&kept, &released, &orphan, &second, &stranger]).await.unwrap();
    assert_eq!(claimed, ["kept", "orphan", "second"]);
    assert_eq!((shop.client.calls() - before).to_string(), "1 get, 3 patch");

    let adopted = get(&shop.pods, "orphan").await;
    assert!(is_controlled_by(adopted.owner_references(), shop.web.uid()));
    let released = get(&shop.pods, "released").await;
    assert!(released.owner_references().is_empty());
    let stranger_now = get(&shop.pods, "stranger").await;
    assert_eq!(stranger_now.resource_version(), stranger.resource_version());
}

#[tokio::test(start_paused = true)]
async fn a_stale_cache_loses_nobodys_reference() {
    let shop = Shop::new().await;
    let other = create(&shop.sets, &replica_set("other", 1)).await;
    let stale = create(&shop.pods, &pod("wanted", "web")).await;
    let fine = create(&shop.pods, &pod("fine", "web")).await;
    let owners =
        json!({"metadata": {"ownerReferences": [owner_reference_of(&other, &Kind::of())]}});
    let patch = Patch::merge(owners).unwrap();
    shop.pods.patch("wanted", &patch, &PatchOptions::default()).await.unwrap();

    let error = shop.claim(&[&stale, &fine]).await.unwrap_err();
    assert!(error.is_conflict(), "{error}");
    let text = error.to_string();
    assert!(
        text.starts_with("adopt pods/v1 default/wanted for replicasets.apps/v1 default/web: "),
        "{text}"
    );
    let now = get(&shop.pods, "wanted").await;
    assert_eq!(controller_of(now.owner_references()).unwrap().uid, other.uid());
    // The others were seen to all the same.
    let fine = get(&shop.pods, "fine").await;
    assert!(is_controlled_by(fine.owner_references(), shop.web.uid()));
}

#[tokio::test(start_paused = true)]
async fn children_that_are_gone_are_left_out_quietly() {
    let shop = Shop::new().await;
    let gone = create(&shop.pods, &pod("gone", "web")).await;
    let gone_owned = shop.owned("gone-owned", "db").await;
    let now = DeleteOptions { grace_period: Some(Duration::ZERO), ..DeleteOptions::default() };
    for name in ["gone", "gone-owned"] {
        shop.pods.delete(name, &now).await.unwrap();
    }
    assert!(shop.claim(&[&gone, &gone_owned]).await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_refused_adoption_is_no_child_gone() {
    let shop = Shop::new().await;
    let mut orphan = create(&shop.pods, &pod("orphan", "web")).await;
    let mut nameless = owner_reference_of(&shop.web, &Kind::of());
    (nameless.uid, nameless.name, nameless.controller) = ("other".into(), String::new(), None);
    orphan.metadata.owner_references = Some(vec![nameless]);
    let error = shop.claim(&[&orphan]).await.unwrap_err();
    assert!(
        error.client_error().unwrap().is_invalid() && error.to_string().contains("ownerReferences"),
        "{error}"
    );

    // Another object by the same name, as far as the server can tell.
    orphan.metadata.owner_references = None;
    orphan.metadata.uid = Some("another".into());
    assert!(shop.claim(&[&orphan]).await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_is_no_longer_itself_adopts_nothing() {
    let shop = Shop::new().await;
    let orphans =
        [create(&shop.pods, &pod("a", "web")).await, create(&shop.pods, &pod("b", "web")).await];
    shop.sets.delete("web", &DeleteOptions::default()).await.unwrap();
    let before = shop.client.calls();
    let error = shop.claim(&[&orphans[0], &orphans[1]]).await.unwrap_err();
    assert!(error.is_owner_gone(), "{error}");
    assert_eq!((shop.client.calls() - before).to_string(), "1 get");

    create(&shop.sets, &replica_set("web", 2)).await;
    let error = shop.claim(&[&orphans[0]]).await.unwrap_err();
    assert!(error.is_owner_gone() && error.to_string().contains("created again"), "{error}");
    assert!(get(&shop.pods, "a").await.owner_references().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_owner_marked_for_deletion_adopts_nothing() {
    let shop = Shop::new().await;
    let orphan = create(&shop.pods, &pod("a", "web")).await;
    add_finalizer(&shop.sets, &shop.web, "example.com/hold").await.unwrap();
    shop.sets.delete("web", &DeleteOptions::default()).await.unwrap();
    let error = shop.claim(&[&orphan]).await.unwrap_err();
    assert!(error.is_owner_gone() && error.to_string().contains("being deleted"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn finalizers_come_and_go() {
    let client = client();
    let maps = client.in_namespace::<ConfigMap>(SHOP);
    let map = ConfigMap { metadata: meta("prices", "web"), ..ConfigMap::default() };
    let fresh = create(&maps, &map).await;
    let held = add_finalizer(&maps, &fresh, "example.com/a").await.unwrap();
    let both = add_finalizer(&maps, &held, "example.com/b").await.unwrap();
    assert_eq!(both.finalizers(), ["example.com/a", "example.com/b"]);
    let same = add_finalizer(&maps, &both, "example.com/b").await.unwrap();
    assert_eq!(same.resource_version(), both.resource_version());

    let stale = remove_finalizer(&maps, &held, "example.com/a").await.unwrap_err();
    assert!(stale.is_conflict(), "{stale}");

    maps.delete("prices", &DeleteOptions::default()).await.unwrap();
    let going = get(&maps, "prices").await;
    let one = remove_finalizer(&maps, &going, "example.com/a").await.unwrap().unwrap();
    assert_eq!(one.finalizers(), ["example.com/b"]);
    remove_finalizer(&maps, &one, "example.com/b").await.unwrap();
    assert!(maps.get("prices", &GetOptions::default()).await.unwrap_err().is_not_found());
    assert!(remove_finalizer(&maps, &one, "example.com/b").await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn events_reach_the_server() {
    let shop = Shop::new().await;
    let node = Node { metadata: meta("node-1", "node"), ..Node::default() };
    let node = create(&shop.client.cluster::<Node>(), &node).await;
    let recorder = EventRecorder::new(&shop.client, "example-controller");
    for _ in 0..2 {
        let regarding = object_reference(&node, &Kind::of());
        recorder.warning(&regarding, "NodeFull", "Scheduling", "no room on it");
    }
    let regarding = object_reference(&shop.web, &Kind::of());
    recorder.normal(&regarding, "SuccessfulCreate", "Creating", "created pod web-1");
    recorder.flush().await;
    assert_eq!((recorder.stats().sent, recorder.stats().failed), (3, 0));

    let events = shop.client.in_namespace::<Event>("default");
    let events = events.list(&ListOptions::default()).await.unwrap();
    let find = |reason: &str| {
        events.items.iter().find(|event| event.reason.as_deref() == Some(reason)).unwrap()
    };
    let full = find("NodeFull");
    assert_eq!(full.series.as_ref().unwrap().count, 2);
    assert_eq!(full.regarding.as_ref().unwrap().namespace, None);
    assert!(full.name().starts_with("node-1."), "{}", full.name());
    let created = find("SuccessfulCreate");
    assert_eq!(created.series, None);
    assert_eq!(created.regarding.as_ref().unwrap().uid.as_deref(), Some(shop.web.uid()));
    assert_eq!(created.note.as_deref(), Some("created pod web-1"));
    recorder.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_controller_keeps_pods_at_their_number() {
    let shop = Shop::new().await;
    let factory = SharedInformerFactory::new(&shop.client);
    let (sets, pods) = (factory.informer::<ReplicaSet>(), factory.informer::<Pod>());
    let controller = Controller::new("replicaset", &sets)
        .owns(&pods)
        .batch(Duration::from_millis(100))
        .workers(2);
    let stats = controller.stats();
    let (lister, pod_lister, client) = (sets.lister(), pods.lister(), shop.client.clone());
    let reconcile = move |key: ObjectKey| {
        let (lister, pod_lister, client) = (lister.clone(), pod_lister.clone(), client.clone());
        async move {
            let Some(set) = lister.get(&key) else {
                return Ok(Action::done());
            };
            let set = set.get()?;
            let spec = &set.spec;
            let selector = Selector::try_from(&spec.selector)?;
            let namespace = key.namespace().ok_or("no namespace")?;
            let present = pod_lister.in_namespace(namespace).list(&Selector::everything());
            let manager = ControllerRefManager::new(&client, &*set, &Kind::of(), &Kind::of());
            let have = manager.claim(present, &selector).await?.len();
            let pods = client.in_namespace::<Pod>(namespace);
            for number in have..usize::try_from(spec.replicas.unwrap_or(1))? {
                let mut pod = pod(&format!("{}-{number}", key.name()), "web");
                pod.metadata.owner_references = Some(vec![owner_reference_of(&*set, &Kind::of())]);
                pods.create(&pod, &CreateOptions::default()).await?;
            }
            Ok::<_, BoxError>(Action::done())
        }
    };
    let (stop, stopped) = oneshot::channel::<()>();
    let run = tokio::spawn(controller.run(async { drop(stopped.await) }, reconcile));
    factory.start();

    let names = |pods: Vec<Pod>| pods.iter().map(|pod| pod.name().to_owned()).collect::<Vec<_>>();
    tokio::time::sleep(Duration::from_secs(5)).await;
    let list = shop.pods.list(&ListOptions::default()).await.unwrap();
    assert_eq!(names(list.items), ["web-0", "web-1"]);

    let now = DeleteOptions { grace_period: Some(Duration::ZERO), ..DeleteOptions::default() };
    shop.pods.delete("web-1", &now).await.unwrap();
    tokio::time::sleep(Duration::from_secs(5)).await;
    let list = shop.pods.list(&ListOptions::default()).await.unwrap();
    assert_eq!(names(list.items), ["web-0", "web-1"]);
    assert_eq!(stats.errors(), 0, "{stats:?}");

    drop(stop);
    run.await.unwrap().unwrap();
    create(&shop.sets, &replica_set("late", 1)).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let status = sets.status();
    assert_eq!((status.objects, status.handlers.len()), (2, 0), "{status:?}");
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn informers_that_never_start_or_were_stopped_are_named() {
    let factory = SharedInformerFactory::new(&client());
    let sets = factory.informer::<ReplicaSet>();
    let reconcile = |_| async { Ok::<_, BoxError>(Action::done()) };
    let soon = tokio::time::sleep(Duration::from_secs(1));
    let error = Controller::new("test", &sets).run(soon, reconcile).await.unwrap_err();
    assert!(error.is_not_synced());
    assert!(error.to_string().contains("replicasets.apps/v1"), "{error}");

    factory.start();
    factory.shutdown().await;
    let never = std::future::pending();
    let error = Controller::new("test", &sets).run(never, reconcile).await.unwrap_err();
    assert!(error.to_string().contains("shut down"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_event_that_cannot_even_be_sent_is_not_tried_again() {
    let recorder = EventRecorder::new(&client(), "example-controller");
    let mut regarding = object_reference(&replica_set("web", 1), &Kind::of());
    regarding.namespace = Some("no/such".into());
    recorder.normal(&regarding, "Scaled", "Scaling", "to 1");
    let started = tokio::time::Instant::now();
    recorder.flush().await;
    assert_eq!((recorder.stats().failed, started.elapsed()), (1, Duration::ZERO));
    recorder.shutdown().await;
}
