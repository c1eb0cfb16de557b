//! The server and how it is set up.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_meta::{StatusError, Unstructured};
use parking_lot::{Mutex, RwLock};
use tokio_util::sync::CancellationToken;

use crate::api::{self, Verb};
use crate::clock::Clock;
use crate::faults::Faults;
use crate::kinds::{CustomKind, Registry};
use crate::protocol::{DevService, Target};
use crate::store::Store;

const HISTORY: usize = 20_000;
const BOOKMARK_PERIOD: Duration = Duration::from_secs(60);
const NAMESPACES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// A development API server. Cheap to clone; all clones are one server.
#[derive(Clone)]
pub struct DevServer {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) faults: Faults,
    pub(crate) shutdown: CancellationToken,
    pub(crate) bookmark_period: Duration,
    registry: Arc<RwLock<Arc<Registry>>>,
    counts: Mutex<BTreeMap<RequestKey, u64>>,
}

/// Verb and resource of a request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RequestKey {
    resource: String,
    verb: &'static str,
}

/// How often a verb was asked of a resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestCount {
    /// Such as `pods`, `pods/status` or `replicasets.apps`.
    pub resource: String,
    /// As authorization names it: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or
    /// `deletecollection`.
    pub verb: &'static str,
    /// How often, refused requests included.
    pub count: u64,
}

impl DevServer {
    /// A server with the built-in kinds and the namespaces `default`, `kube-system`, `kube-public` and
    /// `kube-node-lease`.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// A server set up in detail.
    pub fn builder() -> DevServerBuilder {
        DevServerBuilder {
            kinds: Vec::new(),
            history: HISTORY,
            bookmark_period: BOOKMARK_PERIOD,
            wall_clock: None,
        }
    }

    /// The server as a `tower` service, without sockets.
    pub fn service(&self) -> DevService {
        DevService::new(self.inner.clone())
    }

    /// Serves one more kind from now on, in place of one of the same group, version and plural name.
    pub fn register(&self, kind: CustomKind) {
        let mut held = self.inner.registry.write();
        let mut registry = Registry::clone(&held);
        registry.add(kind.0);
        self.inner.store.lock().cover(&registry);
        *held = Arc::new(registry);
    }

    /// Faults to inject.
    pub fn faults(&self) -> &Faults {
        &self.inner.faults
    }

    /// Forgets the history of all resources, as a compaction of etcd does: watches from older versions and
    /// continue tokens get 410 from now on, open watches that are up to date go on.
    pub fn compact(&self) {
        self.inner.store.lock().compact();
    }

    /// The newest resource version.
    pub fn resource_version(&self) -> String {
        self.inner.store.lock().revision().to_string()
    }

    /// What was asked of the server, by resource and verb.
    pub fn request_counts(&self) -> Vec<RequestCount> {
        let counts = self.inner.counts.lock();
        let count = |(key, count): (&RequestKey, &u64)| RequestCount {
            resource: key.resource.clone(),
            verb: key.verb,
            count: *count,
        };
        counts.iter().map(count).collect()
    }

    /// Counts from zero again.
    pub fn reset_request_counts(&self) {
        self.inner.counts.lock().clear();
    }

    /// Ends all watches cleanly and refuses new requests with 503.
    pub fn shut_down(&self) {
        self.inner.shutdown.cancel();
    }
}

impl Default for DevServer {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for DevServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DevServer(at resource version {})", self.resource_version())
    }
}

impl Inner {
    pub(crate) fn registry(&self) -> Arc<Registry> {
        self.registry.read().clone()
    }

    pub(crate) fn count(&self, verb: Verb, target: &Target) {
        let key = RequestKey { resource: target.resource(), verb: verb.as_str() };
        *self.counts.lock().entry(key).or_default() += 1;
    }
}

/// Settings of a [`DevServer`].
#[derive(Clone, Debug)]
pub struct DevServerBuilder {
    kinds: Vec<CustomKind>,
    history: usize,
    bookmark_period: Duration,
    wall_clock: Option<SystemTime>,
}

impl DevServerBuilder {
    /// Serves one more kind.
    #[must_use]
    pub fn kind(mut self, kind: CustomKind) -> Self {
        self.kinds.push(kind);
        self
    }

    /// How many changes of each resource are kept for watches, continue tokens and lists of exact versions.
    /// A watcher further behind gets 410. Default: 20,000. Of large objects fewer are kept: 256 MiB a resource.
    #[must_use]
    pub fn history(mut self, changes: usize) -> Self {
        self.history = changes;
        self
    }

    /// How often watches that ask for bookmarks get one. Default: a minute.
    #[must_use]
    pub fn bookmark_period(mut self, period: Duration) -> Self {
        self.bookmark_period = period;
        self
    }

    /// The wall clock's time at the start, in place of the system's. Timestamps of objects and the first
    /// resource version (in microseconds) come from it.
    #[must_use]
    pub fn wall_clock(mut self, now: SystemTime) -> Self {
        self.wall_clock = Some(now);
        self
    }

    /// The server.
    pub fn build(self) -> DevServer {
        let mut registry = Registry::builtin();
        for kind in self.kinds {
            registry.add(kind.0);
        }
        let clock = Clock::starting_at(self.wall_clock.unwrap_or_else(SystemTime::now));
        let store = Store::new(&registry, clock.micros(), self.history.max(1));
        let registry = Arc::new(RwLock::new(Arc::new(registry)));
        let inner = Inner {
            store,
            clock,
            faults: Faults::of(registry.clone()),
            shutdown: CancellationToken::new(),
            bookmark_period: self.bookmark_period.max(Duration::from_millis(1)),
            registry,
            counts: Mutex::new(BTreeMap::new()),
        };
        if let Err(error) = inner.create_namespaces() {
            // Only encoding could fail, and these objects are known.
            tracing::error!(%error, "the first namespaces could not be created");
        }
        DevServer { inner: Arc::new(inner) }
    }
}

impl Inner {
    fn create_namespaces(&self) -> Result<(), StatusError> {
        let registry = self.registry();
        let Some(kind) = registry.find("", "v1", "namespaces") else {
            return Ok(());
        };
        for name in NAMESPACES {
            let metadata = ObjectMeta { name: Some(name.into()), ..ObjectMeta::default() };
            let mut namespace = Unstructured { metadata, ..Unstructured::default() };
            api::complete_new(&self.clock, kind, &mut namespace);
            self.store.lock().put(kind, namespace)?;
        }
        Ok(())
    }
}
