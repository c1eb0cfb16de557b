//! The garbage collector: what is owned goes when its last owner has gone.
//!
//! - *Background*: an object none of whose owners exists is deleted. An owner counts as existing only with the
//!   uid that the reference names: one created again under the same name is another object.
//! - *Foreground*: an owner that waits for it (finalizer `foregroundDeletion`) stays until the dependants that
//!   block it are gone.
//! - *Orphan*: dependants of an owner that asks for it (finalizer `orphan`) lose their reference and stay.
//!
//! Kubernetes' own keeps a graph; this one asks indexes of the informers: who has this uid, who is owned by it.

use std::collections::HashMap;
use std::error::Error;
use std::future::{Future, IntoFuture};
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kubewright::cache::{
    CachedObject, Event, InformerOptions, SharedInformer, SharedInformerFactory,
};
use kubewright::client::{self, Client};
use kubewright::meta::{
    DeleteOptions, GetOptions, Kind, Object, ObjectKey, Patch, PatchOptions, Preconditions,
    PropagationPolicy, Scope, Unstructured,
};
use kubewright::queue::RateLimitingQueue;
use serde_json::json;

use crate::served;

const FOREGROUND: &str = "foregroundDeletion";
const ORPHAN: &str = "orphan";
/// How soon to ask again which kinds there are, after a failure.
const ASK_AGAIN: Duration = Duration::from_secs(1);
/// Objects by the uid of each of their owners.
const BY_OWNER: &str = "garbage-collector/owner";

type BoxError = Box<dyn Error + Send + Sync>;

/// An object to look at: which of the collected kinds, and its key.
type Item = (usize, ObjectKey);

/// Runs the collector over every kind that the server serves at the start, until `shutdown` ends.
///
/// # Errors
/// If an informer cannot be used. Discovery that fails is tried again.
pub async fn run(
    client: &Client,
    factory: &SharedInformerFactory,
    workers: usize,
    shutdown: impl Future<Output = ()> + Send,
) -> Result<(), BoxError> {
    let mut shutdown = std::pin::pin!(shutdown);
    let mut kinds = tokio::select! {
        () = &mut shutdown => return Ok(()),
        kinds = collected_kinds(client) => kinds,
    };
    // Events come and go by the thousand and own nothing.
    kinds.retain(|kind| kind.kind() != "Event");
    let informers = kinds
        .iter()
        .map(|kind| factory.informer_of(kind.clone(), InformerOptions::default()))
        .collect::<Result<Vec<SharedInformer<Unstructured>>, _>>()?;
    let by_type = kinds.iter().enumerate().map(|(at, kind)| (type_of(kind), at)).collect();
    let collector = Arc::new(Collector {
        client: client.clone(),
        kinds,
        informers,
        by_type,
        queue: RateLimitingQueue::default(),
    });

    let mut handlers = Vec::new();
    for (at, informer) in collector.informers.iter().enumerate() {
        informer.add_index(BY_OWNER, |object| -> Vec<String> {
            object.owner_references().into_iter().map(|owner| owner.uid).collect()
        })?;
        let collector = collector.clone();
        handlers.push(informer.add_handler(move |event| collector.changed(at, &event))?);
    }
    factory.start();
    // One kind that cannot be listed holds everything up, but not the shutdown.
    let is_synced = tokio::select! {
        () = &mut shutdown => false,
        synced = factory.wait_for_sync().into_future() => {
            synced?;
            true
        }
    };
    if is_synced {
        let workers: Vec<_> =
            (0..workers.max(1)).map(|_| tokio::spawn(work(collector.clone()))).collect();
        shutdown.await;
        collector.queue.shut_down();
        for worker in workers {
            worker.await?;
        }
    }
    for handler in handlers {
        handler.remove().await;
    }
    Ok(())
}

/// The kinds that can be collected; asks until the server tells.
async fn collected_kinds(client: &Client) -> Vec<Kind<Unstructured>> {
    loop {
        match served::kinds(client, &["list", "watch", "get", "patch", "delete"]).await {
            Ok(served) => return served.kinds,
            Err(error) => tracing::warn!(error, "nothing is collected yet: discovery failed"),
        }
        tokio::time::sleep(ASK_AGAIN).await;
    }
}

async fn work(collector: Arc<Collector>) {
    while let Some(item) = collector.queue.get().await {
        // Done even if looking at it panics: it would be held for ever.
        let item = collector.queue.done_on_drop(item);
        let (at, key) = &*item;
        let Err(error) = collector.collect(*at, key).await else {
            collector.queue.forget(&item);
            continue;
        };
        let kind = &collector.kinds[*at];
        if error.downcast_ref::<client::Error>().is_some_and(client::Error::is_conflict) {
            tracing::debug!(%kind, %key, error, "the cache was behind, tried again");
        } else {
            tracing::warn!(%kind, %key, error, "not collected, tried again");
        }
        collector.queue.add_rate_limited(item.clone());
    }
}

struct Collector {
    client: Client,
    kinds: Vec<Kind<Unstructured>>,
    informers: Vec<SharedInformer<Unstructured>>,
    /// From group and kind, as owner references name them, to the place in `kinds`.
    by_type: HashMap<(String, String), usize>,
    queue: RateLimitingQueue<Item>,
}

/// What an owner reference comes to.
enum Owner {
    /// The owner exists and stays.
    Solid,
    /// There is no such object, or it has another uid.
    Absent,
    /// The owner is only waiting for its dependants to go.
    Waiting,
}

impl Collector {
    /// Looks again at an object that changed, and at those that depend on one that goes.
    fn changed(&self, at: usize, event: &Event<Unstructured>) {
        match event {
            Event::Added { object, .. } => self.is_there(at, object),
            Event::Updated { old, new } => {
                if old.uid() != new.uid() {
                    self.is_gone(old);
                } else if old.owner_references() != new.owner_references() {
                    // The reference that is gone may be all that its owner waited for.
                    self.look_at_owners(old);
                }
                self.is_there(at, new);
            }
            Event::Deleted { object, .. } => self.is_gone(object),
        }
    }

    fn is_there(&self, at: usize, object: &CachedObject<Unstructured>) {
        let goes = object.deletion_timestamp().is_some();
        if goes || !object.owner_references().is_empty() {
            self.queue.add((at, object.key().clone()));
        }
        if goes {
            self.look_at_owners(object);
        }
    }

    fn is_gone(&self, object: &CachedObject<Unstructured>) {
        for (at, dependant) in self.dependants(object.uid()) {
            self.queue.add((at, dependant.key().clone()));
        }
        self.look_at_owners(object);
    }

    /// An owner may be waiting for this one.
    fn look_at_owners(&self, object: &CachedObject<Unstructured>) {
        for owner in object.owner_references() {
            if let Some((at, key)) = self.place_of(&owner, object.namespace()) {
                self.queue.add((at, key));
            }
        }
    }

    async fn collect(&self, at: usize, key: &ObjectKey) -> Result<(), BoxError> {
        let Some(object) = self.informers[at].lister().get(key) else {
            return Ok(());
        };
        let finalizers = object.finalizers();
        let has = |name: &str| finalizers.iter().any(|finalizer| finalizer == name);
        if object.deletion_timestamp().is_some() {
            return match (has(ORPHAN), has(FOREGROUND)) {
                (true, _) => self.orphan_dependants(at, &object).await,
                (_, true) => self.delete_dependants(at, &object).await,
                _ => Ok(()),
            };
        }
        let owners = object.owner_references();
        let mut counts = (0, Vec::new(), false);
        for owner in &owners {
            match self.look_up(owner, object.namespace()).await? {
                Owner::Solid => counts.0 += 1,
                Owner::Absent => counts.1.push(owner.uid.clone()),
                Owner::Waiting => {
                    counts.1.push(owner.uid.clone());
                    counts.2 = true;
                }
            }
        }
        let (solid, gone, waited_for) = counts;
        if gone.is_empty() {
            return Ok(());
        }
        if solid > 0 {
            return self.drop_references(at, &object, &gone).await;
        }
        let policy = if has(ORPHAN) {
            PropagationPolicy::Orphan
        } else if has(FOREGROUND) || (waited_for && !self.dependants(object.uid()).is_empty()) {
            PropagationPolicy::Foreground
        } else {
            PropagationPolicy::Background
        };
        self.delete(at, &object, policy).await
    }

    async fn look_up(
        &self,
        owner: &OwnerReference,
        namespace: Option<&str>,
    ) -> Result<Owner, BoxError> {
        let Some((at, key)) = self.place_of(owner, namespace) else {
            // A kind that this collector does not know may well exist.
            return Ok(Owner::Solid);
        };
        let waits = |goes: bool, finalizers: &[String]| {
            goes && owner.block_owner_deletion == Some(true)
                && finalizers.iter().any(|finalizer| finalizer == FOREGROUND)
        };
        if let Some(held) = self.informers[at].lister().get(&key)
            && held.uid() == owner.uid
        {
            let goes = held.deletion_timestamp().is_some();
            return Ok(if waits(goes, &held.finalizers()) { Owner::Waiting } else { Owner::Solid });
        }
        // The cache may be behind: only the server can say that there is no such owner.
        match self.api(at, key.namespace()).get(key.name(), &GetOptions::default()).await {
            Ok(live) if live.uid() == owner.uid => {
                let waiting = waits(live.is_being_deleted(), live.finalizers());
                Ok(if waiting { Owner::Waiting } else { Owner::Solid })
            }
            Ok(_) => Ok(Owner::Absent),
            Err(error) if error.is_not_found() => Ok(Owner::Absent),
            Err(error) => Err(error.into()),
        }
    }

    async fn delete_dependants(
        &self,
        at: usize,
        owner: &CachedObject<Unstructured>,
    ) -> Result<(), BoxError> {
        let dependants = self.dependants(owner.uid());
        let blocks = |object: &CachedObject<Unstructured>| {
            object.owner_references().iter().any(|reference| {
                reference.uid == owner.uid() && reference.block_owner_deletion == Some(true)
            })
        };
        if !dependants.iter().any(|(_, dependant)| blocks(dependant)) {
            return self.remove_finalizer(at, owner, FOREGROUND).await;
        }
        // Each looks at all of its owners itself: it may have another that stays.
        for (at, dependant) in dependants {
            if dependant.deletion_timestamp().is_none() {
                self.queue.add((at, dependant.key().clone()));
            }
        }
        Ok(())
    }

    async fn orphan_dependants(
        &self,
        at: usize,
        owner: &CachedObject<Unstructured>,
    ) -> Result<(), BoxError> {
        for (at, dependant) in self.dependants(owner.uid()) {
            self.drop_references(at, &dependant, &[owner.uid().to_owned()]).await?;
        }
        self.remove_finalizer(at, owner, ORPHAN).await
    }

    async fn drop_references(
        &self,
        at: usize,
        object: &CachedObject<Unstructured>,
        owners: &[String],
    ) -> Result<(), BoxError> {
        let left: Vec<OwnerReference> = object
            .owner_references()
            .into_iter()
            .filter(|reference| !owners.contains(&reference.uid))
            .collect();
        self.patch(at, object, json!({"ownerReferences": left})).await
    }

    async fn remove_finalizer(
        &self,
        at: usize,
        object: &CachedObject<Unstructured>,
        name: &str,
    ) -> Result<(), BoxError> {
        let mut left = object.finalizers();
        left.retain(|finalizer| finalizer != name);
        self.patch(at, object, json!({"finalizers": left})).await
    }

    /// Changes metadata of the very object that the cache has: uid and version make anything else a conflict.
    async fn patch(
        &self,
        at: usize,
        object: &CachedObject<Unstructured>,
        mut metadata: serde_json::Value,
    ) -> Result<(), BoxError> {
        metadata["uid"] = object.uid().into();
        metadata["resourceVersion"] = object.resource_version().into();
        let patch = Patch::merge(json!({"metadata": metadata}))?;
        let api = self.api(at, object.namespace());
        match api.patch(object.name(), &patch, &PatchOptions::default()).await {
            Ok(_) => Ok(()),
            Err(error) if error.is_not_found() => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Deletes what was looked at and nothing else: it may have got another owner since.
    async fn delete(
        &self,
        at: usize,
        object: &CachedObject<Unstructured>,
        policy: PropagationPolicy,
    ) -> Result<(), BoxError> {
        let preconditions = Preconditions {
            uid: Some(object.uid().to_owned()),
            resource_version: Some(object.resource_version().to_owned()),
        };
        let options = DeleteOptions {
            preconditions: Some(preconditions),
            ..DeleteOptions::with_propagation(policy)
        };
        match self.api(at, object.namespace()).delete(object.name(), &options).await {
            Ok(_) => Ok(()),
            // Gone, or changed by now, whose own event comes.
            Err(error) if error.is_not_found() || error.is_conflict() => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn dependants(&self, uid: &str) -> Vec<(usize, CachedObject<Unstructured>)> {
        let of_kind = |(at, informer): (usize, &SharedInformer<Unstructured>)| {
            let owned = informer.lister().by_index(BY_OWNER, uid).unwrap_or_default();
            owned.into_iter().map(move |object| (at, object))
        };
        self.informers.iter().enumerate().flat_map(of_kind).collect()
    }

    /// Where the owner that a reference names would be; `None` for a kind that is not collected.
    fn place_of(&self, owner: &OwnerReference, namespace: Option<&str>) -> Option<Item> {
        let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
        let at = *self.by_type.get(&(group.to_owned(), owner.kind.clone()))?;
        let namespace = match self.kinds[at].scope() {
            Scope::Namespaced => Some(namespace?),
            Scope::Cluster => None,
        };
        Some((at, ObjectKey::new(namespace, &owner.name)))
    }

    fn api(&self, at: usize, namespace: Option<&str>) -> client::Api<Unstructured> {
        let api = self.client.api(self.kinds[at].clone());
        match namespace {
            Some(namespace) => api.in_namespace(namespace),
            None => api,
        }
    }
}

fn type_of(kind: &Kind<Unstructured>) -> (String, String) {
    (kind.group().to_owned(), kind.kind().to_owned())
}

#[cfg(test)]
#[path = "garbage_collector_tests.rs"]
mod tests;
