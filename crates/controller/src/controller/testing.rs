//! For tests: a source of events fed by hand, a running controller, and a log of its reconciles.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_core::future::BoxFuture;
use k8s_openapi::api::apps::v1::ReplicaSet;
use kubewright_meta::{Kind, ObjectKey};
use parking_lot::Mutex;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use super::Controller;
use super::source::{Intake, Registration, Source};
use crate::{Action, BoxError, Error};

#[derive(Clone)]
pub(super) struct HandFed(Arc<State>);

struct State {
    what: &'static str,
    intake: Mutex<Option<Intake>>,
    synced: watch::Sender<bool>,
    removed: AtomicBool,
    /// Its last call never ends.
    stuck: AtomicBool,
}

impl HandFed {
    pub(super) fn new(what: &'static str) -> Self {
        Self(Arc::new(State {
            what,
            intake: Mutex::default(),
            synced: watch::Sender::new(true),
            removed: AtomicBool::new(false),
            stuck: AtomicBool::new(false),
        }))
    }

    pub(super) fn unsynced(what: &'static str) -> Self {
        let fed = Self::new(what);
        fed.set_synced(false);
        fed
    }

    pub(super) fn stuck(what: &'static str) -> Self {
        let fed = Self::new(what);
        fed.0.stuck.store(true, Ordering::Relaxed);
        fed
    }

    pub(super) fn set_synced(&self, synced: bool) {
        self.0.synced.send_replace(synced);
    }

    pub(super) fn controller(&self) -> Controller<ReplicaSet> {
        Controller::from_source("test", Kind::of(), self.source(false))
    }

    pub(super) fn source(&self, batched: bool) -> Source {
        let fed = self.clone();
        Source {
            what: self.0.what.to_owned(),
            batched,
            attach: Box::new(move |intake| {
                *fed.0.intake.lock() = Some(intake);
                Ok(Box::new(fed) as Box<dyn Registration>)
            }),
        }
    }

    /// An event that maps to this key.
    pub(super) fn event(&self, key: &ObjectKey) {
        self.map(key, || vec![key.clone()]);
    }

    pub(super) fn map(&self, object: &ObjectKey, map: impl FnOnce() -> Vec<ObjectKey>) {
        let intake = self.0.intake.lock().clone();
        intake.expect("the controller listens").take(self.0.what, object, map);
    }

    pub(super) fn is_removed(&self) -> bool {
        self.0.removed.load(Ordering::Relaxed)
    }
}

impl Registration for HandFed {
    fn has_synced(&self) -> bool {
        *self.0.synced.borrow()
    }

    fn doing(&self) -> String {
        "listing".to_owned()
    }

    fn synced(&self) -> BoxFuture<'_, Result<(), kubewright_cache::Error>> {
        Box::pin(async {
            self.0.synced.subscribe().wait_for(|synced| *synced).await.ok();
            Ok(())
        })
    }

    fn remove(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            self.0.removed.store(true, Ordering::Relaxed);
            if self.0.stuck.load(Ordering::Relaxed) {
                std::future::pending().await
            }
        })
    }
}

pub(super) fn key(name: &str) -> ObjectKey {
    ObjectKey::namespaced("shop", name)
}

/// A controller that runs, and how to stop it.
pub(super) struct Running {
    stop: Option<oneshot::Sender<()>>,
    pub(super) task: JoinHandle<Result<(), Error>>,
}

impl Running {
    pub(super) async fn start<F, Fut>(controller: Controller<ReplicaSet>, reconcile: F) -> Self
    where
        F: Fn(ObjectKey) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Action, BoxError>> + Send + 'static,
    {
        let (stop, stopped) = oneshot::channel::<()>();
        let shutdown = async { drop(stopped.await) };
        let task = tokio::spawn(controller.run(shutdown, reconcile));
        // On the one thread of the test, the controller listens once everything else has had its turn.
        tokio::task::yield_now().await;
        Self { stop: Some(stop), task }
    }

    pub(super) fn shut_down(&mut self) {
        self.stop.take();
    }

    pub(super) async fn end(mut self) -> Result<(), Error> {
        self.shut_down();
        self.task.await.unwrap()
    }
}

/// When which key was reconciled.
#[derive(Clone)]
pub(super) struct Log(Arc<Mutex<Vec<(String, Duration)>>>, Instant);

impl Log {
    pub(super) fn new() -> Self {
        Self(Arc::default(), Instant::now())
    }

    pub(super) fn note(&self, key: &ObjectKey) -> usize {
        let mut log = self.0.lock();
        log.push((key.name().to_owned(), self.1.elapsed()));
        log.len()
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.0.lock().iter().map(|(name, _)| name.clone()).collect()
    }

    pub(super) fn pauses(&self) -> Vec<u128> {
        let log = self.0.lock();
        log.windows(2).map(|pair| (pair[1].1 - pair[0].1).as_millis()).collect()
    }
}

/// Longer than anything these tests wait for, on a paused clock.
pub(super) async fn settle() {
    sleep(Duration::from_secs(3600)).await;
}
