//! The story that the program's `demo` tells: seven steps, each of which must be seen to happen.

mod observer;
mod report;

use std::error::Error;
use std::time::{Duration, Instant};

use k8s_openapi::api::apps::v1::ReplicaSet;
use k8s_openapi::api::core::v1::{Namespace, Pod};
use kubewright::client::Client;
use kubewright::meta::{CreateOptions, DeleteOptions, Object, ObjectKey, Patch, PatchOptions};
use serde_json::json;

use observer::Observer;
pub use report::say;
use report::{Progress, Row};

type BoxError = Box<dyn Error + Send + Sync>;

/// Tells the story on `client`'s server, whose controllers run already. `replicaset` is the client of the
/// ReplicaSet controller, whose calls are shown apart. Prints as it goes.
///
/// # Errors
/// If a call fails, or a step is not seen within `step_timeout`.
pub async fn tell(
    client: &Client,
    replicaset: &Client,
    step_timeout: Duration,
) -> Result<(), BoxError> {
    let namespace: Namespace =
        serde_json::from_value(json!({"metadata": {"generateName": "kubewright-demo-"}}))?;
    let created =
        client.cluster::<Namespace>().create(&namespace, &CreateOptions::default()).await?;
    let namespace = created.name().to_owned();
    say(format_args!("namespace: {namespace}\n\n"));
    let observer = Observer::start(client, &namespace).await?;
    let mut story = Story {
        client: client.clone(),
        replicaset: replicaset.clone(),
        set: ObjectKey::namespaced(&namespace, "web"),
        namespace,
        observer,
        step_timeout,
        rows: Vec::new(),
    };
    let told = story.all().await;
    report::table(&story.rows);
    story.observer.stop().await;
    told?;
    match story.rows.iter().find(|row| !row.observed) {
        None => Ok(()),
        Some(row) => Err(format!("not seen within {step_timeout:?}: {}", row.title).into()),
    }
}

struct Story {
    client: Client,
    replicaset: Client,
    namespace: String,
    set: ObjectKey,
    observer: Observer,
    step_timeout: Duration,
    rows: Vec<Row>,
}

impl Story {
    async fn all(&mut self) -> Result<(), BoxError> {
        let set = self.set.clone();
        let pods = self.client.in_namespace::<Pod>(&self.namespace);
        let sets = self.client.in_namespace::<ReplicaSet>(&self.namespace);

        let step = self.begin("3 replicas become ready");
        let created = sets.create(&web()?, &CreateOptions::default()).await?;
        let uid = created.uid().to_owned();
        self.end(step, |seen| seen.settled_at(&set, 3)).await;

        let step = self.begin("a deleted pod is replaced");
        let (names, _) = self.observer.active_and_ready();
        let victim = names.first().cloned().ok_or("there is no pod to delete")?;
        pods.delete(&victim, &DeleteOptions::default()).await?;
        self.end(step, |seen| {
            let gone = seen.pods().iter().all(|pod| pod.name() != victim);
            gone && seen.settled_at(&set, 3)
        })
        .await;

        let step = self.begin("scaled up to 10");
        self.scale(10).await?;
        self.end(step, |seen| seen.settled_at(&set, 10)).await;

        let step = self.begin("scaled down to 2");
        self.scale(2).await?;
        self.end(step, |seen| seen.settled_at(&set, 2)).await;

        // The set has two already: the orphan is adopted all the same, then one of the three has to go.
        let step = self.begin("an orphan with matching labels is adopted");
        pods.create(&orphan()?, &CreateOptions::default()).await?;
        let orphan = ObjectKey::namespaced(&self.namespace, "orphan");
        self.end(step, |seen| seen.was_owned_by(&orphan, &uid) && seen.settled_at(&set, 2)).await;

        let step = self.begin("the set is deleted, its pods are collected");
        sets.delete(self.set.name(), &DeleteOptions::default()).await?;
        self.end(step, |seen| !seen.has_set(&set) && seen.pods().is_empty()).await;

        let step = self.begin("the namespace goes");
        self.client
            .cluster::<Namespace>()
            .delete(&self.namespace, &DeleteOptions::default())
            .await?;
        self.end(step, |seen| !seen.has_namespace()).await;
        Ok(())
    }

    async fn scale(&self, replicas: i32) -> Result<(), BoxError> {
        let sets = self.client.in_namespace::<ReplicaSet>(&self.namespace);
        let patch = Patch::merge(json!({"spec": {"replicas": replicas}}))?;
        sets.patch_scale(self.set.name(), &patch, &PatchOptions::default()).await?;
        Ok(())
    }

    fn begin(&self, title: &str) -> Step {
        Step {
            title: title.to_owned(),
            progress: Progress::start(title),
            started: Instant::now(),
            calls: self.calls(),
        }
    }

    async fn end(&mut self, mut step: Step, what: impl Fn(&Observer) -> bool) {
        let observed =
            self.observer.until(self.step_timeout, what, |now| step.progress.seen(now)).await;
        let (all, replicaset) = self.calls();
        let row = Row {
            title: step.title,
            took: step.started.elapsed(),
            calls: all - step.calls.0,
            replicaset_calls: replicaset - step.calls.1,
            observed,
        };
        step.progress.end(&row);
        self.rows.push(row);
    }

    /// Calls of everybody, and of the ReplicaSet controller alone.
    fn calls(&self) -> (u64, u64) {
        let replicaset = self.replicaset.calls().total();
        (self.client.calls().total() + replicaset, replicaset)
    }
}

struct Step {
    title: String,
    progress: Progress,
    started: Instant,
    calls: (u64, u64),
}

fn web() -> serde_json::Result<ReplicaSet> {
    serde_json::from_value(json!({
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": pod_spec()},
        },
    }))
}

fn orphan() -> serde_json::Result<Pod> {
    serde_json::from_value(json!({
        "metadata": {"name": "orphan", "labels": {"app": "web"}},
        "spec": pod_spec(),
    }))
}

fn pod_spec() -> serde_json::Value {
    json!({"containers": [{"name": "web", "image": "registry.example/web:1"}]})
}
