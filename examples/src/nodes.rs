//! Simulated nodes: what scheduler and kubelets do for pods, without running anything.
//!
//! Pods get a node, become Running and Ready after a delay, and when they are deleted they go after a delay
//! of their own, but never later than their grace period allows.

use std::collections::HashMap;
use std::error::Error;
use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Node, Pod};
use kubewright::cache::{SharedInformer, SharedInformerFactory};
use kubewright::client::Client;
use kubewright::controller::{Action, Controller};
use kubewright::meta::{CreateOptions, DeleteOptions, Object, ObjectKey, Patch, PatchOptions};
use serde_json::json;
use tokio::time::Instant;

/// What the names of simulated nodes start with.
pub const NODE_NAME_PREFIX: &str = "simulated-";

/// How the simulated nodes behave.
#[derive(Clone, Debug)]
pub struct Nodes {
    /// How many there are.
    pub count: usize,
    /// How long a pod takes from its node to Ready.
    pub ready_after: Duration,
    /// How long a pod takes to stop; cut short by its grace period.
    pub stops_after: Duration,
}

impl Default for Nodes {
    fn default() -> Self {
        Self {
            count: 3,
            ready_after: Duration::from_millis(200),
            stops_after: Duration::from_millis(50),
        }
    }
}

type BoxError = Box<dyn Error + Send + Sync>;

impl Nodes {
    /// Creates the nodes, then runs them until `shutdown` ends; starts what it needs of `factory`.
    ///
    /// # Errors
    /// If the nodes cannot be created or the informer cannot be used.
    pub async fn run(
        self,
        client: &Client,
        factory: &SharedInformerFactory,
        shutdown: impl Future<Output = ()> + Send,
    ) -> Result<(), BoxError> {
        let names: Vec<String> =
            (0..self.count).map(|n| format!("{NODE_NAME_PREFIX}{n}")).collect();
        let mut shutdown = std::pin::pin!(shutdown);
        for name in &names {
            tokio::select! {
                () = &mut shutdown => return Ok(()),
                created = create_node(client, name) => created?,
            }
        }
        let pods: SharedInformer<Pod> = factory.informer();
        let controller = Controller::new("nodes", &pods).workers(8);
        let kubelet = Arc::new(Kubelet {
            client: client.clone(),
            pods,
            names,
            settings: self,
            started: Mutex::default(),
            placing: RandomState::new(),
        });
        factory.start();
        let reconcile = move |key| {
            let kubelet = kubelet.clone();
            async move { kubelet.reconcile(&key).await }
        };
        Ok(controller.run(shutdown, reconcile).await?)
    }
}

struct Kubelet {
    client: Client,
    pods: SharedInformer<Pod>,
    names: Vec<String>,
    settings: Nodes,
    /// When each pod was first seen on a node, or first seen to be stopping; by key, so that a pod created again
    /// under its name takes the place of the one before.
    started: Mutex<HashMap<ObjectKey, Since>>,
    placing: RandomState,
}

#[derive(Default)]
struct Since {
    uid: String,
    running: Option<Instant>,
    stopping: Option<Instant>,
}

impl Kubelet {
    async fn reconcile(&self, key: &ObjectKey) -> Result<Action, BoxError> {
        let Some(cached) = self.pods.lister().get(key) else {
            self.started().remove(key);
            return Ok(Action::done());
        };
        let pod = cached.get()?;
        let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).unwrap_or_default();
        if node.is_empty() {
            return self.place(&pod).await;
        }
        // Pods of nodes that somebody else runs are theirs.
        if !self.names.iter().any(|name| name == node) {
            return Ok(Action::done());
        }
        if pod.is_being_deleted() {
            return self.stop(&pod).await;
        }
        let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
        if matches!(phase, None | Some("Pending")) {
            return self.start(&pod, node).await;
        }
        Ok(Action::done())
    }

    /// What the scheduler does.
    async fn place(&self, pod: &Pod) -> Result<Action, BoxError> {
        if pod.is_being_deleted() || self.names.is_empty() {
            return Ok(Action::done());
        }
        let at = usize::try_from(self.placing.hash_one(pod.uid()) % self.names.len() as u64)?;
        let binding = json!({
            "apiVersion": "v1", "kind": "Binding",
            "metadata": {"name": pod.name(), "namespace": pod.namespace(), "uid": pod.uid()},
            "target": {"apiVersion": "v1", "kind": "Node", "name": self.names[at]},
        });
        let pods = self.client.in_namespace::<Pod>(pod.namespace().unwrap_or_default());
        let options = CreateOptions::default();
        quiet::<serde_json::Value>(
            pods.create_subresource(pod.name(), "binding", &binding, &options).await,
        )
    }

    async fn start(&self, pod: &Pod, node: &str) -> Result<Action, BoxError> {
        let since = self.since(pod, |since| &mut since.running);
        if let Some(wait) = left(since, self.settings.ready_after) {
            return Ok(Action::requeue_after(wait));
        }
        let now = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let condition =
            |kind: &str| json!({"type": kind, "status": "True", "lastTransitionTime": now});
        let containers =
            pod.spec.as_ref().map(|spec| spec.containers.as_slice()).unwrap_or_default();
        let container = |c: &k8s_openapi::api::core::v1::Container| {
            json!({
                "name": c.name, "image": c.image, "imageID": "", "ready": true, "started": true,
                "restartCount": 0, "state": {"running": {"startedAt": now}},
            })
        };
        let conditions = ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map(condition);
        let statuses: Vec<_> = containers.iter().map(container).collect();
        let status = json!({
            "phase": "Running", "startTime": now, "hostIP": "127.0.0.1",
            "conditions": conditions, "containerStatuses": statuses,
        });
        tracing::debug!(pod = %pod.key(), node, "runs");
        let patch = Patch::merge(json!({"metadata": {"uid": pod.uid()}, "status": status}))?;
        let pods = self.client.in_namespace::<Pod>(pod.namespace().unwrap_or_default());
        quiet(pods.patch_status(pod.name(), &patch, &PatchOptions::default()).await)
    }

    async fn stop(&self, pod: &Pod) -> Result<Action, BoxError> {
        let grace = pod.metadata.deletion_grace_period_seconds.unwrap_or(0);
        let grace = Duration::from_secs(u64::try_from(grace).unwrap_or(0));
        let since = self.since(pod, |since| &mut since.stopping);
        if let Some(wait) = left(since, self.settings.stops_after.min(grace)) {
            return Ok(Action::requeue_after(wait));
        }
        let options = DeleteOptions {
            grace_period: Some(Duration::ZERO),
            ..DeleteOptions::with_uid(pod.uid())
        };
        let pods = self.client.in_namespace::<Pod>(pod.namespace().unwrap_or_default());
        quiet(pods.delete(pod.name(), &options).await)
    }

    fn since(&self, pod: &Pod, which: impl Fn(&mut Since) -> &mut Option<Instant>) -> Instant {
        let mut started = self.started();
        let since = started.entry(pod.key()).or_default();
        if since.uid != pod.uid() {
            *since = Since { uid: pod.uid().to_owned(), ..Since::default() };
        }
        *which(since).get_or_insert_with(Instant::now)
    }

    fn started(&self) -> std::sync::MutexGuard<'_, HashMap<ObjectKey, Since>> {
        self.started.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How much of `delay` is left; `None` once it is over.
fn left(since: Instant, delay: Duration) -> Option<Duration> {
    Some(delay.saturating_sub(since.elapsed())).filter(|left| !left.is_zero())
}

/// A pod that is gone, or was changed by somebody else, needs nothing more from here: its next event tells.
fn quiet<T>(result: Result<T, kubewright::client::Error>) -> Result<Action, BoxError> {
    match result {
        Ok(_) => Ok(Action::done()),
        Err(error) if error.is_not_found() || error.is_conflict() => Ok(Action::done()),
        Err(error) => Err(error.into()),
    }
}

async fn create_node(client: &Client, name: &str) -> Result<(), BoxError> {
    let node: Node = serde_json::from_value(json!({
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {
            "capacity": {"cpu": "64", "memory": "256Gi", "pods": "5000"},
            "allocatable": {"cpu": "64", "memory": "256Gi", "pods": "5000"},
            "conditions": [{"type": "Ready", "status": "True", "reason": "Simulated",
                            "message": "this node is simulated"}],
        },
    }))?;
    let nodes = client.cluster::<Node>();
    let created = match nodes.create(&node, &CreateOptions::default()).await {
        Ok(created) => created,
        Err(error) if error.is_already_exists() => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    // The server drops the status of what is created.
    let patch = Patch::merge(json!({"status": node.status}))?;
    nodes.patch_status(created.name(), &patch, &PatchOptions::default()).await?;
    Ok(())
}
