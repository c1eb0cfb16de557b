//! One informer for each kind and choice of objects, started, awaited and stopped together.

use std::any::{Any, TypeId};
use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hashbrown::HashMap;
use kubewright_client::Client;
use kubewright_meta::{GroupVersionResource, Kind, Object, Resource, Scope};
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{Error, InformerOptions, InformerStatus, Lister, SharedInformer};

/// How often a wait for informers says in the log whom it waits for, and for how long it waits for one that nobody has
/// started.
const SAY_WHO_IS_MISSING: Duration = Duration::from_secs(10);

/// Makes informers, one for each kind and choice of objects, so that all who ask for the same share one
/// cache and one watch. A handle; clones are of the same factory.
///
/// ```no_run
/// # async fn example(client: kubewright_client::Client) -> Result<(), Box<dyn std::error::Error>> {
/// use k8s_openapi::api::core::v1::Pod;
/// use kubewright_cache::{Event, SharedInformerFactory};
/// use kubewright_meta::Selector;
///
/// let factory = SharedInformerFactory::new(&client);
/// let pods = factory.informer::<Pod>();
/// pods.add_handler(|event| match event {
///     Event::Added { object, .. } => println!("new: {}", object.key()),
///     Event::Updated { new, .. } => println!("changed: {}", new.key()),
///     Event::Deleted { object, .. } => println!("gone: {}", object.key()),
/// })?;
/// factory.start();
/// factory.wait_for_sync().await?;
/// for pod in pods.lister().list(&"app=web".parse::<Selector>()?) {
///     println!("{} is {:?}", pod.key(), pod.get()?.status);
/// }
/// factory.shutdown().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SharedInformerFactory(Arc<Inner>);

struct Inner {
    client: Client,
    informers: Mutex<HashMap<Choice, Arc<dyn AnyInformer>>>,
    token: CancellationToken,
}

/// What tells informers apart.
#[derive(PartialEq, Eq, Hash)]
struct Choice {
    decoded_as: TypeId,
    resource: GroupVersionResource,
    options: InformerOptions,
}

impl SharedInformerFactory {
    /// A factory of informers that read with `client`.
    pub fn new(client: &Client) -> Self {
        Self(Arc::new(Inner {
            client: client.clone(),
            informers: Mutex::default(),
            token: CancellationToken::new(),
        }))
    }

    /// The informer of a kind known at compile time, over all namespaces.
    ///
    /// It reads nothing before [`start`](Self::start).
    pub fn informer<K: Resource>(&self) -> SharedInformer<K> {
        self.find_or_make(Kind::of(), InformerOptions::default())
    }

    /// The informer of any kind, for a choice of objects. Equal kind and options give the same informer.
    ///
    /// # Errors
    /// When the options name a namespace and the kind is cluster-wide.
    pub fn informer_of<K: Object>(
        &self,
        kind: Kind<K>,
        mut options: InformerOptions,
    ) -> Result<SharedInformer<K>, Error> {
        options.namespace.take_if(|name| name.is_empty());
        match (&options.namespace, kind.scope()) {
            (Some(namespace), Scope::Cluster) => {
                Err(Error::scope_mismatch(&kind.to_string(), namespace))
            }
            _ => Ok(self.find_or_make(kind, options)),
        }
    }

    fn find_or_make<K: Object>(
        &self,
        kind: Kind<K>,
        options: InformerOptions,
    ) -> SharedInformer<K> {
        let choice = Choice {
            decoded_as: TypeId::of::<K>(),
            resource: kind.gvr(),
            options: options.clone(),
        };
        let mut informers = self.0.informers.lock();
        let known = informers.get(&choice).and_then(|known| known.as_any().downcast_ref());
        if let Some(known) = known {
            return SharedInformer::clone(known);
        }
        let api = self.0.client.api(kind.clone());
        let api = match &options.namespace {
            Some(namespace) => api.in_namespace(namespace),
            None => api,
        };
        let informer = SharedInformer::new(kind, options, api, self.0.token.child_token());
        informers.insert(choice, Arc::new(informer.clone()));
        informer
    }

    /// Reads of the store of [`informer`](Self::informer).
    pub fn lister<K: Resource>(&self) -> Lister<K> {
        self.informer::<K>().lister()
    }

    /// Starts the informers that were not started yet, on the current Tokio runtime. To be called again after more were
    /// asked for. After [`shutdown`](Self::shutdown) it does nothing.
    ///
    /// # Panics
    /// Outside a Tokio runtime.
    pub fn start(&self) {
        let runtime = Handle::current();
        for informer in self.informers() {
            if let Err(error) = informer.start(&runtime) {
                tracing::debug!(%error, "informer not started");
            }
        }
    }

    /// Waits until every informer that was asked for by now has applied its first list.
    ///
    /// It waits as long as it takes, saying in the log every 10 seconds who is missing and why; with
    /// [`timeout`](WaitForSync::timeout) it ends with an error that names them.
    ///
    /// An informer that was asked for and not [started](Self::start) would never sync. It is given 10 seconds, since
    /// somebody else who shares the factory may be about to start it; then the wait ends with an error. Whoever needs
    /// only some of a factory's informers awaits [`SharedInformer::synced`] of each.
    ///
    /// # Errors
    /// All are [`is_not_synced`](Error::is_not_synced) and name who is missing: the time is up, an informer was not
    /// started for 10 seconds, or the factory was shut down before all had synced, or before some were asked for.
    pub fn wait_for_sync(&self) -> WaitForSync {
        WaitForSync { factory: self.clone(), timeout: None }
    }

    /// What every informer is doing and has seen.
    pub fn status(&self) -> Vec<InformerStatus> {
        let mut all: Vec<_> = self.informers().iter().map(|informer| informer.status()).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    /// Stops all informers and waits until their tasks and handlers have ended. A handler that is at
    /// work ends first; events that still wait for one are dropped. Not for blocking on inside a handler: it would wait
    /// for its own end.
    pub async fn shutdown(&self) {
        self.0.token.cancel();
        for informer in self.informers() {
            informer.shutdown().await;
        }
    }

    /// All of them, so that nothing is done with one while the others are locked.
    fn informers(&self) -> Vec<Arc<dyn AnyInformer>> {
        self.0.informers.lock().values().cloned().collect()
    }
}

impl fmt::Debug for SharedInformerFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedInformerFactory")
            .field("informers", &self.status())
            .finish_non_exhaustive()
    }
}

/// A wait for informers to sync; await it. See [`SharedInformerFactory::wait_for_sync`].
#[must_use = "nothing is waited for before `.await`"]
#[derive(Debug)]
pub struct WaitForSync {
    factory: SharedInformerFactory,
    timeout: Option<Duration>,
}

impl WaitForSync {
    /// Waits no longer than this. Default: as long as it takes.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    async fn wait(self) -> Result<(), Error> {
        let informers = self.factory.informers();
        let all = async {
            for informer in &informers {
                let mut synced = informer.subscribe_synced();
                // An error would mean that the informer is gone, which is held here.
                let _ = synced.wait_for(|synced| *synced).await;
            }
        };
        let timeout = async {
            match self.timeout {
                Some(timeout) => tokio::time::sleep(timeout).await,
                None => std::future::pending().await,
            }
        };
        let never_started = async {
            loop {
                tokio::time::sleep(SAY_WHO_IS_MISSING).await;
                if !informers.iter().all(|informer| informer.is_started()) {
                    return;
                }
                let missing = missing(&informers).join("; ");
                tracing::warn!(missing, "still waiting for informers");
            }
        };
        let waited = tokio::select! {
            biased;
            () = all => return Ok(()),
            () = self.factory.0.token.cancelled() => None,
            () = timeout => self.timeout,
            () = never_started => Some(SAY_WHO_IS_MISSING),
        };
        Err(Error::not_synced(waited, missing(&informers)))
    }
}

/// Names of those that have not synced, each with what it is doing.
fn missing(informers: &[Arc<dyn AnyInformer>]) -> Vec<String> {
    let waiting = informers.iter().filter(|informer| !informer.has_synced());
    let mut missing: Vec<_> = waiting
        .map(|informer| {
            let InformerStatus { name, reflector, .. } = informer.status();
            match reflector.last_error {
                _ if !informer.is_started() && informer.is_stopped() => {
                    format!("{name} (never started: its factory is shut down; use another factory)")
                }
                _ if !informer.is_started() => format!(
                    "{name} (not started: call the factory's start() after asking for the informer)"
                ),
                Some(error) => format!("{name} ({}; last error: {error})", reflector.phase),
                None => format!("{name} ({})", reflector.phase),
            }
        })
        .collect();
    missing.sort_unstable();
    missing
}

impl IntoFuture for WaitForSync {
    type Output = Result<(), Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.wait())
    }
}

/// An informer of whatever kind.
trait AnyInformer: Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn start(&self, runtime: &Handle) -> Result<(), Error>;
    fn is_started(&self) -> bool;
    fn is_stopped(&self) -> bool;
    fn has_synced(&self) -> bool;
    fn subscribe_synced(&self) -> watch::Receiver<bool>;
    fn status(&self) -> InformerStatus;
    fn shutdown(&self) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}

impl<K: Object> AnyInformer for SharedInformer<K> {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn start(&self, runtime: &Handle) -> Result<(), Error> {
        self.start(runtime)
    }

    fn is_started(&self) -> bool {
        self.is_started()
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped()
    }

    fn has_synced(&self) -> bool {
        self.has_synced()
    }

    fn subscribe_synced(&self) -> watch::Receiver<bool> {
        self.subscribe_synced()
    }

    fn status(&self) -> InformerStatus {
        self.status()
    }

    fn shutdown(&self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let informer = self.clone();
        Box::pin(async move { informer.shutdown().await })
    }
}
