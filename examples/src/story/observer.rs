//! What the story sees of the cluster, through informers of its own.

use std::collections::HashSet;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::replicaset::pod;
use k8s_openapi::api::apps::v1::ReplicaSet;
use k8s_openapi::api::core::v1::{Namespace, Pod};
use kubewright::cache::{
    CachedObject, Event, InformerOptions, SharedInformer, SharedInformerFactory,
};
use kubewright::client::Client;
use kubewright::controller::controller_of;
use kubewright::meta::{FieldSelector, Kind, ObjectKey, Selector};
use tokio::sync::watch;

type BoxError = Box<dyn Error + Send + Sync>;

/// Watches the story's namespace, and what happens in it.
pub(super) struct Observer {
    factory: SharedInformerFactory,
    pods: SharedInformer<Pod>,
    sets: SharedInformer<ReplicaSet>,
    namespaces: SharedInformer<Namespace>,
    changed: watch::Receiver<()>,
    /// Every pod, with its controller's uid, that was ever seen to have one.
    owned: Arc<Mutex<HashSet<(ObjectKey, String)>>>,
}

impl Observer {
    /// Starts watching; ends once the first look is complete.
    pub(super) async fn start(client: &Client, namespace: &str) -> Result<Self, BoxError> {
        let factory = SharedInformerFactory::new(client);
        let inside =
            || InformerOptions { namespace: Some(namespace.to_owned()), ..Default::default() };
        let pods = factory.informer_of(Kind::<Pod>::of(), inside())?;
        let sets = factory.informer_of(Kind::<ReplicaSet>::of(), inside())?;
        let only = InformerOptions {
            fields: FieldSelector::equals("metadata.name", namespace)?,
            ..Default::default()
        };
        let namespaces = factory.informer_of(Kind::<Namespace>::of(), only)?;

        let (change, changed) = watch::channel(());
        let owned: Arc<Mutex<HashSet<(ObjectKey, String)>>> = Arc::default();
        pods.add_handler({
            let (change, owned) = (change.clone(), owned.clone());
            move |event: Event<Pod>| {
                if let Event::Added { object, .. } | Event::Updated { new: object, .. } = &event
                    && let Some(owner) = controller_of(&object.owner_references())
                {
                    let mut owned = owned.lock().unwrap_or_else(PoisonError::into_inner);
                    owned.insert((object.key().clone(), owner.uid.clone()));
                }
                change.send_replace(());
            }
        })?;
        sets.add_handler({
            let change = change.clone();
            move |_: Event<ReplicaSet>| {
                change.send_replace(());
            }
        })?;
        namespaces.add_handler(move |_: Event<Namespace>| {
            change.send_replace(());
        })?;
        factory.start();
        factory.wait_for_sync().timeout(Duration::from_secs(30)).await?;
        Ok(Self { factory, pods, sets, namespaces, changed, owned })
    }

    /// Waits until `what` holds, telling `progress` at each change; whether it did in time.
    pub(super) async fn until(
        &mut self,
        timeout: Duration,
        what: impl Fn(&Self) -> bool,
        mut progress: impl FnMut(&str),
    ) -> bool {
        let deadline = tokio::time::Instant::now() + timeout;
        loop {
            self.changed.mark_unchanged();
            progress(&self.summary());
            if what(self) {
                return true;
            }
            match tokio::time::timeout_at(deadline, self.changed.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => return what(self),
            }
        }
    }

    /// All pods of the namespace.
    pub(super) fn pods(&self) -> Vec<CachedObject<Pod>> {
        self.pods.lister().list(&Selector::everything())
    }

    /// The names of the pods that are neither ended nor going, and of those the ready ones.
    pub(super) fn active_and_ready(&self) -> (Vec<String>, Vec<String>) {
        let decoded: Vec<_> = self.pods().iter().filter_map(|pod| pod.get().ok()).collect();
        let name = |pod: &Pod| pod.metadata.name.clone().unwrap_or_default();
        let active = decoded.iter().filter(|pod| pod::is_active(pod));
        let ready = active.clone().filter(|pod| pod::is_ready(pod));
        (active.map(|pod| name(pod)).collect(), ready.map(|pod| name(pod)).collect())
    }

    /// Exactly `count` pods, all of them ready, and the set says so too.
    pub(super) fn settled_at(&self, set: &ObjectKey, count: usize) -> bool {
        let (active, ready) = self.active_and_ready();
        let Some(set) = self.sets.lister().get(set).and_then(|set| set.get().ok()) else {
            return false;
        };
        let status = set.status.clone().unwrap_or_default();
        let as_many =
            |counted: Option<i32>| counted.and_then(|c| usize::try_from(c).ok()) == Some(count);
        self.pods().len() == count
            && active.len() == count
            && ready.len() == count
            && as_many(Some(status.replicas))
            && as_many(status.ready_replicas.or(Some(0)))
            && status.observed_generation == set.metadata.generation
    }

    /// Whether a pod was ever seen to be controlled by the object with this uid.
    pub(super) fn was_owned_by(&self, pod: &ObjectKey, uid: &str) -> bool {
        let owned = self.owned.lock().unwrap_or_else(PoisonError::into_inner);
        owned.contains(&(pod.clone(), uid.to_owned()))
    }

    /// Whether the set is gone.
    pub(super) fn has_set(&self, set: &ObjectKey) -> bool {
        self.sets.lister().get(set).is_some()
    }

    /// Whether the namespace is still there.
    pub(super) fn has_namespace(&self) -> bool {
        !self.namespaces.lister().is_empty()
    }

    /// What is there now, in a few words.
    fn summary(&self) -> String {
        let (active, ready) = self.active_and_ready();
        let going = self.pods().len() - active.len().min(self.pods().len());
        format!("{} pods, {} ready, {going} going", active.len(), ready.len())
    }

    /// Stops watching.
    pub(super) async fn stop(self) {
        self.factory.shutdown().await;
    }
}
