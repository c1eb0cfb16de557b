//! The ReplicaSet controller: as many pods as a ReplicaSet asks for, no more and no fewer.
//!
//! It behaves as Kubernetes' own: it claims pods by selector, adopts orphans after a live look at the set, and
//! lets go of pods that no longer match; it waits to see what it did last before it does more
//! ([`Expectations`]); it creates slowly while creations fail; it deletes the pods whose loss costs least; and
//! it writes the status only when it changed. What a deleted set leaves behind is the garbage collector's work.

mod mapping;
pub mod pod;
pub mod rank;
pub mod slow_start;
pub mod status;

#[cfg(test)]
mod mapping_tests;
#[cfg(test)]
mod rank_tests;

use std::error::Error;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::apps::v1::{ReplicaSet, ReplicaSetStatus};
use k8s_openapi::api::core::v1::{ObjectReference, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright::cache::{CachedObject, Decoded, SharedInformer, SharedInformerFactory};
use kubewright::client::Client;
use kubewright::controller::{
    Action, Controller, ControllerRefManager, ControllerStats, EventRecorder, EventType,
    Expectations, Occurrence, controller_of, object_reference, owner_reference_of,
};
use kubewright::meta::{
    CreateOptions, DeleteOptions, GetOptions, Kind, Object, ObjectKey, ReplaceOptions, Selector,
};

use crate::Clock;
use slow_start::slow_start;
use status::Failure;

/// At most so many pods are created or deleted for one set in one go.
const BURST: usize = 500;

/// A burst of pod events becomes one look at the set.
const BATCH: Duration = Duration::from_millis(100);

/// Pods by the uid of their controller; pods without one by their namespace, as `orphans/NAMESPACE`.
const BY_CONTROLLER: &str = "replicaset/controller";

type BoxError = Box<dyn Error + Send + Sync>;

/// The controller, ready to run.
pub struct ReplicaSetController {
    this: Arc<ReplicaSets>,
    controller: Controller<ReplicaSet>,
    factory: SharedInformerFactory,
}

impl ReplicaSetController {
    /// A controller that looks at `workers` sets at a time. `clock` says when pods have been ready for long enough.
    pub fn new(
        client: &Client,
        factory: &SharedInformerFactory,
        workers: usize,
        clock: Clock,
    ) -> Self {
        let this = Arc::new(ReplicaSets {
            client: client.clone(),
            sets: factory.informer(),
            pods: factory.informer(),
            set_kind: Kind::of(),
            expectations: Expectations::new(),
            recorder: EventRecorder::new(client, "replicaset-controller"),
            clock,
        });
        let controller = Controller::new("replicaset", &this.sets)
            .watches(&this.sets, {
                let this = this.clone();
                move |event| this.set_changed(event)
            })
            .watches(&this.pods, {
                let this = this.clone();
                move |event| this.pod_changed(event)
            })
            .batch(BATCH)
            .workers(workers);
        Self { this, controller, factory: factory.clone() }
    }

    /// What it has done so far, to be asked while it runs.
    pub fn stats(&self) -> ControllerStats {
        self.controller.stats()
    }

    /// Runs until `shutdown` ends; starts what it needs of its factory.
    ///
    /// # Errors
    /// If an informer cannot be used, for example since it was shut down.
    pub async fn run(self, shutdown: impl Future<Output = ()> + Send) -> Result<(), BoxError> {
        let Self { this, controller, factory } = self;
        this.pods.add_index(BY_CONTROLLER, controller_index)?;
        factory.start();
        let recorder = this.recorder.clone();
        let reconcile = move |key| {
            let this = this.clone();
            async move { this.reconcile(&key).await }
        };
        let result = controller.run(shutdown, reconcile).await;
        recorder.shutdown().await;
        Ok(result?)
    }
}

struct ReplicaSets {
    client: Client,
    sets: SharedInformer<ReplicaSet>,
    pods: SharedInformer<Pod>,
    set_kind: Kind<ReplicaSet>,
    expectations: Expectations,
    recorder: EventRecorder,
    clock: Clock,
}

impl ReplicaSets {
    async fn reconcile(&self, key: &ObjectKey) -> Result<Action, BoxError> {
        let Some(set) = self.sets.lister().get(key) else {
            self.expectations.delete(key);
            return Ok(Action::done());
        };
        let set = set.get()?;
        // Before the pods are read: what is seen now may lack what was done last.
        let may_act = self.expectations.satisfied(key);
        let selector = match selector_of(&set) {
            Ok(selector) => selector,
            // Trying again would not help; a corrected set comes as an event.
            Err(error) => {
                tracing::warn!(%key, %error, "the selector of this ReplicaSet is not valid");
                return Ok(Action::done());
            }
        };

        let claimed = self.claim(&set, &selector).await?;
        let pods: Vec<&Pod> = claimed.iter().map(|pod| &**pod).collect();
        let active: Vec<&Pod> = pods.iter().copied().filter(|pod| pod::is_active(pod)).collect();
        let result = if may_act && !set.is_being_deleted() {
            self.manage(key, &set, &active).await
        } else {
            Ok(())
        };

        let now = self.clock.now();
        let failure = result.as_ref().err();
        let wanted = status::calculate(&set, &pods, failure, now);
        self.write_status(&set, wanted).await?;
        if let Err(failure) = result {
            return Err(failure.message.into());
        }
        Ok(match next_available(&set, &active, now) {
            Some(wait) => Action::requeue_after(wait),
            None => Action::done(),
        })
    }

    /// The pods that are the set's, after adopting and letting go.
    async fn claim(
        &self,
        set: &ReplicaSet,
        selector: &Selector,
    ) -> Result<Vec<Decoded<Pod>>, BoxError> {
        let pods = self.pods.lister();
        let mut candidates = pods.by_index(BY_CONTROLLER, set.uid())?;
        candidates.extend(pods.by_index(BY_CONTROLLER, &orphans_of(set.namespace()))?);
        let manager =
            ControllerRefManager::new(&self.client, set, &self.set_kind, &Kind::<Pod>::of());
        let claimed = manager.claim(candidates, selector).await?;
        Ok(claimed.iter().map(CachedObject::get).collect::<Result<_, _>>()?)
    }

    /// Creates or deletes pods until there are as many active ones as asked for.
    async fn manage(
        &self,
        key: &ObjectKey,
        set: &ReplicaSet,
        active: &[&Pod],
    ) -> Result<(), Failure> {
        let wanted = replicas(set);
        if active.len() < wanted {
            self.create(key, set, (wanted - active.len()).min(BURST)).await
        } else if active.len() > wanted {
            self.delete(key, set, active, (active.len() - wanted).min(BURST)).await
        } else {
            Ok(())
        }
    }

    async fn create(&self, key: &ObjectKey, set: &ReplicaSet, count: usize) -> Result<(), Failure> {
        let pods = self.client.in_namespace::<Pod>(set.namespace().unwrap_or_default());
        let pod = pod_from_template(set, &self.set_kind);
        self.expectations.expect_creations(key, count);
        let outcome = slow_start(count, || async {
            match pods.create(&pod, &CreateOptions::default()).await {
                Ok(created) => {
                    let note = format!("Created pod: {}", created.name());
                    self.succeeded(set, &created, "Create", note);
                    Ok(())
                }
                Err(error) => {
                    // No event will come for it.
                    self.expectations.creation_observed(key);
                    Err(error)
                }
            }
        })
        .await;
        for _ in 0..outcome.skipped {
            self.expectations.creation_observed(key);
        }
        let Some(error) = outcome.errors.into_iter().next() else {
            return Ok(());
        };
        if error.is_namespace_terminating() {
            // The namespace goes, and the set with it: nothing to report or to try again.
            return Ok(());
        }
        let note = format!("Error creating: {error}");
        self.recorder.warning(&self.about(set), "FailedCreate", "Create", note);
        Err(Failure { reason: "FailedCreate", message: error.to_string() })
    }

    async fn delete(
        &self,
        key: &ObjectKey,
        set: &ReplicaSet,
        active: &[&Pod],
        count: usize,
    ) -> Result<(), Failure> {
        let failed =
            |error: &dyn Error| Failure { reason: "FailedDelete", message: error.to_string() };
        let related = self.related_pods(set).map_err(|error| failed(&error))?;
        let related: Vec<&Pod> = related.iter().map(|pod| &**pod).collect();
        let chosen = rank::choose(active, &related, count, self.clock.now());
        self.expectations.expect_deletions(key, chosen.iter().map(|pod| pod.key()));
        let pods = self.client.in_namespace::<Pod>(set.namespace().unwrap_or_default());
        let calls = chosen.iter().map(|pod| async {
            // By uid: a pod created again under the same name is another pod.
            match pods.delete(pod.name(), &DeleteOptions::with_uid(pod.uid())).await {
                Ok(_) => {
                    let note = format!("Deleted pod: {}", pod.name());
                    self.succeeded(set, pod, "Delete", note);
                    Ok(())
                }
                Err(error) => {
                    self.expectations.deletion_observed(key, &pod.key());
                    if error.is_not_found() || error.is_conflict() { Ok(()) } else { Err(error) }
                }
            }
        });
        let results = futures_util::future::join_all(calls).await;
        match results.into_iter().find_map(Result::err) {
            Some(error) => Err(failed(&error)),
            None => Ok(()),
        }
    }

    /// The pods of every ReplicaSet that has the same controller as `set`: those of a Deployment's old and new
    /// sets crowd nodes together.
    fn related_pods(
        &self,
        set: &ReplicaSet,
    ) -> Result<Vec<Decoded<Pod>>, kubewright::cache::Error> {
        let owner = controller_of(set.owner_references()).map(|owner| owner.uid.as_str());
        let sets = self.sets.lister();
        let sets = sets.in_namespace(set.namespace().unwrap_or_default());
        let siblings = sets.list(&Selector::everything()).into_iter().filter(|other| {
            other.uid() == set.uid()
                || (owner.is_some()
                    && controller_of(&other.owner_references()).map(|o| o.uid.clone()).as_deref()
                        == owner)
        });
        let mut related = Vec::new();
        for sibling in siblings {
            for pod in self.pods.lister().by_index(BY_CONTROLLER, sibling.uid())? {
                related.push(pod.get()?);
            }
        }
        Ok(related)
    }

    /// Writes the status if it differs; after a conflict once more, on the set as it is now.
    async fn write_status(
        &self,
        set: &ReplicaSet,
        wanted: ReplicaSetStatus,
    ) -> Result<(), BoxError> {
        if !status::differs(set.status.as_ref(), &wanted) {
            return Ok(());
        }
        let sets = self.client.in_namespace::<ReplicaSet>(set.namespace().unwrap_or_default());
        let changed = ReplicaSet { status: Some(wanted.clone()), ..set.clone() };
        match sets.replace_status(&changed, &ReplaceOptions::default()).await {
            Ok(_) => Ok(()),
            Err(error) if error.is_not_found() => Ok(()),
            Err(error) if error.is_conflict() => {
                let fresh = sets.get(set.name(), &GetOptions::default()).await?;
                if fresh.uid() != set.uid() {
                    return Ok(());
                }
                // A status update writes metadata too: the old one would undo what others changed since.
                let changed = ReplicaSet { status: Some(wanted), ..fresh };
                sets.replace_status(&changed, &ReplaceOptions::default()).await?;
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Records what was done to a pod of the set.
    fn succeeded(&self, set: &ReplicaSet, pod: &Pod, action: &str, note: String) {
        self.recorder.record(Occurrence {
            event_type: EventType::Normal,
            regarding: self.about(set),
            related: Some(object_reference(pod, &Kind::of())),
            reason: format!("Successful{action}"),
            action: action.to_owned(),
            note,
        });
    }

    fn about(&self, set: &ReplicaSet) -> ObjectReference {
        object_reference(set, &self.set_kind)
    }
}

/// When the next pod that is ready will have been so for long enough; `None` if there is none to wait for.
fn next_available(set: &ReplicaSet, active: &[&Pod], now: Timestamp) -> Option<Duration> {
    let min_ready = status::min_ready(set);
    let waits = active.iter().filter_map(|pod| pod::available_in(pod, min_ready, now));
    waits.filter(|wait| !wait.is_zero()).min()
}

fn replicas(set: &ReplicaSet) -> usize {
    let replicas = set.spec.replicas.unwrap_or(1);
    usize::try_from(replicas).unwrap_or(0)
}

fn selector_of(set: &ReplicaSet) -> Result<Selector, kubewright::meta::SelectorError> {
    Selector::try_from(&set.spec.selector)
}

fn pod_from_template(set: &ReplicaSet, kind: &Kind<ReplicaSet>) -> Pod {
    let template = set.spec.template.clone().unwrap_or_default();
    let metadata = template.metadata.unwrap_or_default();
    Pod {
        metadata: ObjectMeta {
            generate_name: Some(format!("{}-", set.name())),
            namespace: set.metadata.namespace.clone(),
            labels: metadata.labels,
            annotations: metadata.annotations,
            finalizers: metadata.finalizers,
            owner_references: Some(vec![owner_reference_of(set, kind)]),
            ..ObjectMeta::default()
        },
        spec: template.spec,
        status: None,
    }
}

fn controller_index(pod: &CachedObject<Pod>) -> Vec<String> {
    vec![match controller_of(&pod.owner_references()) {
        Some(owner) => owner.uid.clone(),
        None => orphans_of(pod.namespace()),
    }]
}

fn orphans_of(namespace: Option<&str>) -> String {
    format!("orphans/{}", namespace.unwrap_or_default())
}
