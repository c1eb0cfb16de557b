//! A type written by hand for a custom resource, and the same resource without a type, through the library's
//! own `Api`, informers and listers.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_cache::{
    CachedObject, Event, InformerOptions, SharedInformer, SharedInformerFactory,
};
use kubewright_meta::{
    CreateOptions, DeleteOptions, GetOptions, GroupVersionKind, Kind, ListOptions, Object,
    ObjectKey, Patch, PatchOptions, ReplaceOptions, Scope, Selector, Unstructured,
};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::Notify;

use crate::check::{Outcome, checks};
use crate::custom::{GROUP, serve, widget};
use crate::{Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("custom_types":
        a_type_by_hand_works_through_an_api,
        unstructured_works_through_an_api,
        a_type_by_hand_works_through_informers,
        unstructured_works_through_informers,
        a_late_handler_sees_what_is_there_as_such,
        an_informer_of_a_selector_sees_comings_and_goings,
    )
}

/// What a user writes for a custom resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Widget {
    metadata: ObjectMeta,
    spec: WidgetSpec,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<WidgetStatus>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct WidgetSpec {
    size: i64,
    #[serde(default)]
    replicas: i32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct WidgetStatus {
    ready: bool,
}

impl k8s_openapi::Resource for Widget {
    const API_VERSION: &'static str = "contract.kubewright.test/v1";
    const GROUP: &'static str = GROUP;
    const KIND: &'static str = "Widget";
    const VERSION: &'static str = "v1";
    const URL_PATH_SEGMENT: &'static str = "widgets";
    type Scope = NamespaceResourceScope;
}

impl k8s_openapi::Metadata for Widget {
    type Ty = ObjectMeta;

    fn metadata(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn metadata_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

impl Widget {
    fn new(name: &str, size: i64) -> Self {
        let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
        Self { metadata, spec: WidgetSpec { size, replicas: 1 }, status: None }
    }
}

async fn a_type_by_hand_works_through_an_api(context: Context) -> Outcome {
    serve(&context).await?;
    let api = context.client().in_namespace::<Widget>(context.namespace());
    let made = api.create(&Widget::new("a", 1), &CreateOptions::default()).await.map_err(text)?;
    ensure_eq!(made.spec, WidgetSpec { size: 1, replicas: 1 }, "the spec");
    ensure_eq!(api.get("a", &GetOptions::default()).await.map_err(text)?, made, "what is stored");
    let mut object = made.clone();
    object.spec.size = 2;
    let written = api.replace(&object, &ReplaceOptions::default()).await.map_err(text)?;
    ensure_eq!(
        (written.spec.size, written.metadata.generation),
        (2, Some(2)),
        "size and generation"
    );
    let stale = api.replace(&object, &ReplaceOptions::default()).await;
    ensure!(
        stale.as_ref().is_err_and(|error| error.is_conflict()),
        "an old version gave {stale:?}"
    );
    let patch = Patch::merge(json!({"status": {"ready": true}})).map_err(text)?;
    let patched = api.patch_status("a", &patch, &PatchOptions::default()).await.map_err(text)?;
    ensure_eq!(patched.status, Some(WidgetStatus { ready: true }), "the status");
    let scale = api.get_scale("a", &GetOptions::default()).await.map_err(text)?;
    ensure_eq!(scale.spec.and_then(|spec| spec.replicas), Some(1), "the replicas of the scale");
    let list = api.list(&ListOptions::default()).await.map_err(text)?;
    ensure_eq!(list.items, [patched], "the list");
    api.delete("a", &DeleteOptions::default()).await.map_err(text)?;
    let gone = api.get("a", &GetOptions::default()).await;
    ensure!(gone.as_ref().is_err_and(|error| error.is_not_found()), "what is gone gave {gone:?}");
    Ok(())
}

async fn unstructured_works_through_an_api(context: Context) -> Outcome {
    serve(&context).await?;
    let api = context.client().api(dynamic_kind()).in_namespace(context.namespace());
    let mut object = Unstructured::new(dynamic_kind().gvk(), "a");
    object.set_field(&["spec", "size"], 1);
    let made = api.create(&object, &CreateOptions::default()).await.map_err(text)?;
    ensure_eq!(made.field(&["spec", "size"]), Some(&json!(1)), "the size");
    let patch = Patch::merge(json!({"spec": {"size": 2}})).map_err(text)?;
    let patched = api.patch("a", &patch, &PatchOptions::default()).await.map_err(text)?;
    let list = api.list(&ListOptions::default()).await.map_err(text)?;
    ensure_eq!(list.items, [patched], "the list");
    api.delete("a", &DeleteOptions::default()).await.map_err(text)?;
    Ok(())
}

async fn a_type_by_hand_works_through_informers(context: Context) -> Outcome {
    serve(&context).await?;
    let sizes =
        |object: &CachedObject<Widget>| object.get().map(|widget| widget.spec.size).map_err(text);
    follows_changes(&context, Kind::of(), sizes).await
}

async fn unstructured_works_through_informers(context: Context) -> Outcome {
    serve(&context).await?;
    let sizes = |object: &CachedObject<Unstructured>| {
        let object = object.get().map_err(text)?;
        Ok(object.field(&["spec", "size"]).and_then(serde_json::Value::as_i64).unwrap_or_default())
    };
    follows_changes(&context, dynamic_kind(), sizes).await
}

/// Creation, change and deletion as a handler is told of them, and as a lister shows them.
async fn follows_changes<K: Object>(
    context: &Context,
    kind: Kind<K>,
    size: impl Fn(&CachedObject<K>) -> Result<i64, String>,
) -> Outcome {
    context.create("widgets", widget("a", 1)).await?;
    let (factory, informer) =
        informer(context, kind, InformerOptions::in_namespace(context.namespace()))?;
    let seen = Seen::of(&informer)?;
    factory.start();
    factory.wait_for_sync().timeout(PATIENCE).await.map_err(text)?;
    seen.expect("initial a").await?;

    context.create("widgets", widget("b", 2)).await?;
    seen.expect("added b").await?;
    context.merge("widgets/b", json!({"spec": {"size": 3}})).await?.expect(200)?;
    seen.expect("updated b").await?;
    let lister = informer.lister();
    let key = |name: &str| ObjectKey::namespaced(context.namespace(), name);
    let held = lister.get(&key("b")).ok_or("the lister does not know b")?;
    ensure_eq!(size(&held)?, 3, "the size of b in the cache");
    let mut listed: Vec<String> =
        lister.list(&Selector::default()).iter().map(|object| object.name().to_owned()).collect();
    listed.sort();
    ensure_eq!(listed, ["a", "b"], "what the lister lists");
    context.delete("widgets/a").await?.expect(200)?;
    seen.expect("deleted a").await?;
    ensure!(lister.get(&key("a")).is_none(), "the lister still knows a");
    factory.shutdown().await;
    Ok(())
}

async fn a_late_handler_sees_what_is_there_as_such(context: Context) -> Outcome {
    serve(&context).await?;
    context.create("widgets", widget("a", 1)).await?;
    let options = InformerOptions::in_namespace(context.namespace());
    let (factory, informer) = informer(&context, Kind::<Widget>::of(), options)?;
    let early = Seen::of(&informer)?;
    factory.start();
    factory.wait_for_sync().timeout(PATIENCE).await.map_err(text)?;
    early.expect("initial a").await?;
    context.create("widgets", widget("b", 1)).await?;
    early.expect("added b").await?;
    let late = Seen::of(&informer)?;
    late.expect_all(&["initial a", "initial b"]).await?;
    context.create("widgets", widget("c", 1)).await?;
    for seen in [&early, &late] {
        seen.expect("added c").await?;
    }
    factory.shutdown().await;
    Ok(())
}

async fn an_informer_of_a_selector_sees_comings_and_goings(context: Context) -> Outcome {
    serve(&context).await?;
    context.create("widgets", widget("a", 1)).await?;
    let labels = "tier=gold".parse::<Selector>().map_err(text)?;
    let options = InformerOptions { labels, ..InformerOptions::in_namespace(context.namespace()) };
    let (factory, informer) = informer(&context, Kind::<Widget>::of(), options)?;
    let seen = Seen::of(&informer)?;
    factory.start();
    factory.wait_for_sync().timeout(PATIENCE).await.map_err(text)?;
    ensure!(informer.lister().is_empty(), "the lister shows what was not selected");
    for (tier, expected) in [(json!("gold"), "added a"), (json!(null), "deleted a")] {
        let patch = json!({"metadata": {"labels": {"tier": tier}}});
        context.merge("widgets/a", patch).await?.expect(200)?;
        seen.expect(expected).await?;
    }
    factory.shutdown().await;
    Ok(())
}

const PATIENCE: Duration = Duration::from_secs(20);

fn dynamic_kind() -> Kind<Unstructured> {
    Kind::dynamic(GroupVersionKind::new(GROUP, "v1", "Widget"), "widgets", Scope::Namespaced)
}

fn informer<K: Object>(
    context: &Context,
    kind: Kind<K>,
    options: InformerOptions,
) -> Result<(SharedInformerFactory, SharedInformer<K>), String> {
    let factory = SharedInformerFactory::new(context.client());
    let informer = factory.informer_of(kind, options).map_err(text)?;
    Ok((factory, informer))
}

/// What a handler was told, in a word for each event.
#[derive(Clone, Default)]
struct Seen(Arc<(Mutex<Vec<String>>, Notify)>);

impl Seen {
    fn of<K: Object>(informer: &SharedInformer<K>) -> Result<Self, String> {
        let seen = Self::default();
        let told = seen.clone();
        let handler = move |event: Event<K>| {
            let what = match &event {
                Event::Added { initial: true, .. } => "initial",
                Event::Added { .. } => "added",
                Event::Updated { .. } => "updated",
                Event::Deleted { .. } => "deleted",
            };
            let (list, changed) = &*told.0;
            list.lock().push(format!("{what} {}", event.key().name()));
            changed.notify_one();
        };
        informer.add_handler(handler).map_err(text)?;
        Ok(seen)
    }

    /// The next event, which must be this.
    async fn expect(&self, event: &str) -> Outcome {
        self.expect_all(&[event]).await
    }

    /// The next events, which must be these in any order.
    async fn expect_all(&self, events: &[&str]) -> Outcome {
        let (list, changed) = &*self.0;
        let enough = async {
            while list.lock().len() < events.len() {
                changed.notified().await;
            }
        };
        let came = tokio::time::timeout(PATIENCE, enough).await;
        let mut list = list.lock();
        ensure!(came.is_ok(), "expected {events:?}, saw {list:?} within {} s", PATIENCE.as_secs());
        let mut next: Vec<String> = list.drain(..events.len()).collect();
        next.sort();
        ensure_eq!(next, events, "what the handler was told");
        Ok(())
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
