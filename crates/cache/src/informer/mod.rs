//! A cache of one kind that stays true, and the handlers that hear of its changes.

mod channel;
pub(crate) mod delivery;
pub(crate) mod handler;
mod options;
mod pending;
mod shared;
mod user_code;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kubewright_client::Api;
use kubewright_meta::{Kind, Object};
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio_util::sync::{CancellationToken, DropGuard};

pub use self::handler::{HandlerRegistration, HandlerStatus};
use self::handler::{HandlerState, MAX_RESYNC, MIN_RESYNC};
pub use self::options::InformerOptions;
pub use self::pending::{DEFAULT_HANDLER_BUFFER, PendingEvents};
use self::shared::Shared;
use crate::object::Decoder;
use crate::reflector::{Reflector, ReflectorOptions, ReflectorStatus};
use crate::{Error, Event, IndexValues, Indexer, Lister};

/// A cache of one kind, kept true by one watch and shared by all who read it or handle its changes.
///
/// A handle; clones are of the same informer. It comes from a
/// [`SharedInformerFactory`](crate::SharedInformerFactory). When the last handle, lister and factory that know it are
/// dropped, it stops; a handler whose code holds one keeps it running until the factory is shut down.
pub struct SharedInformer<K>(Arc<Inner<K>>);

struct Inner<K> {
    kind: Kind<K>,
    options: InformerOptions,
    shared: Arc<Shared<K>>,
    /// Its task takes it.
    unstarted: Mutex<Option<Reflector<K>>>,
    _stop: DropGuard,
}

/// What an informer is doing and has seen. A copy of one moment; counters only grow.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InformerStatus {
    /// The informer's name: kind and choice, such as `pods/v1 in shop`.
    pub name: String,
    /// Whether its first list was applied.
    pub synced: bool,
    /// How many objects the store holds.
    pub objects: usize,
    /// The resource version up to which the store was changed.
    pub resource_version: String,
    /// What reads from the server is doing.
    pub reflector: ReflectorStatus,
    /// How often an object was decoded.
    pub decodes: u64,
    /// How often an index function panicked or failed.
    pub index_failures: u64,
    /// How the handlers are doing.
    pub handlers: Vec<HandlerStatus>,
}

impl<K: Object> SharedInformer<K> {
    pub(crate) fn new(
        kind: Kind<K>,
        options: InformerOptions,
        api: Api<K>,
        token: CancellationToken,
    ) -> Self {
        let decoder = Decoder::new(&kind, options.decoded_budget);
        let store = Indexer::new(kind.to_string());
        let reading = ReflectorOptions {
            labels: options.labels.clone(),
            fields: options.fields.clone(),
            page_size: options.page_size,
            min_watch_timeout: options.min_watch_timeout,
            keep_managed_fields: options.keep_managed_fields,
            seed: None,
        };
        let reflector = Reflector::new(api, reading, decoder.clone(), store.clone());
        let name = format!("{kind}{}", options.describe());
        let shared = Shared::new(name, store, decoder, reflector.monitor(), token.clone());
        Self(Arc::new(Inner {
            kind,
            options,
            shared: Arc::new(shared),
            unstarted: Mutex::new(Some(reflector)),
            _stop: token.drop_guard(),
        }))
    }

    /// Which kind it is about.
    pub fn kind(&self) -> &Kind<K> {
        &self.0.kind
    }

    /// Which objects it is about.
    pub fn options(&self) -> &InformerOptions {
        &self.0.options
    }

    /// Kind and choice in words, such as `pods/v1 in shop`.
    pub fn name(&self) -> &str {
        &self.0.shared.name
    }

    /// Reads of the store.
    pub fn lister(&self) -> Lister<K> {
        Lister::new(self.clone())
    }

    pub(crate) fn store(&self) -> &Indexer<K> {
        &self.0.shared.store
    }

    /// Adds an index over the store, at any time; see [`Indexer::add_index`].
    ///
    /// # Errors
    /// When there is an index of this name, or when called from inside an index function.
    pub fn add_index<V: IndexValues>(
        &self,
        name: &str,
        function: impl Fn(&crate::CachedObject<K>) -> V + Send + Sync + 'static,
    ) -> Result<(), Error> {
        self.0.shared.add_index(|store| store.add_index(name, function))
    }

    /// Adds a handler with the default settings; see [`handler`](Self::handler) for others.
    ///
    /// It first gets what the store holds as initial additions, then every change, in order for each
    /// object, in a task of its own. On a multi-threaded runtime it may block, which costs a thread for as long (only
    /// where it was always quick before, the first slow call holds up one of the runtime's own threads); on a
    /// current-thread runtime it then holds up everything. Work that has to wait belongs into a work queue.
    ///
    /// A handler that falls behind slows down nobody: from [`DEFAULT_HANDLER_BUFFER`] waiting events on, those of
    /// one object are merged; see [`PendingEvents::push`]. One that panics goes on with the next event.
    ///
    /// # Errors
    /// When the informer was shut down, or when called from inside an index function.
    pub fn add_handler(
        &self,
        handler: impl FnMut(Event<K>) + Send + 'static,
    ) -> Result<HandlerRegistration<K>, Error> {
        self.handler().add(handler)
    }

    /// A handler to be added with other settings than the default.
    pub fn handler(&self) -> HandlerBuilder<'_, K> {
        HandlerBuilder { informer: self, name: None, buffer: DEFAULT_HANDLER_BUFFER, resync: None }
    }

    /// Whether the first list was applied to the store. Handlers may still be at it: see
    /// [`HandlerRegistration::has_synced`].
    pub fn has_synced(&self) -> bool {
        *self.0.shared.synced.borrow()
    }

    /// Waits until [`has_synced`](Self::has_synced).
    ///
    /// # Errors
    /// When the informer is shut down before.
    pub async fn synced(&self) -> Result<(), Error> {
        let shared = &self.0.shared;
        let mut synced = shared.synced.subscribe();
        tokio::select! {
            biased;
            _ = synced.wait_for(|synced| *synced) => Ok(()),
            () = shared.token.cancelled() => Err(Error::stopped(format!("wait for {} to sync", shared.name))),
        }
    }

    /// What it is doing and has seen.
    pub fn status(&self) -> InformerStatus {
        let shared = &self.0.shared;
        InformerStatus {
            name: shared.name.clone(),
            synced: self.has_synced(),
            objects: shared.store.len(),
            resource_version: shared.store.resource_version(),
            reflector: shared.monitor.status(),
            decodes: shared.decoder.decodes(),
            index_failures: shared.store.index_failures(),
            handlers: shared.handlers.all().iter().map(|handler| handler.status()).collect(),
        }
    }

    /// Whether it was shut down.
    pub fn is_stopped(&self) -> bool {
        self.0.shared.token.is_cancelled()
    }

    /// Starts its tasks on `runtime`, once.
    pub(crate) fn start(&self, runtime: &Handle) -> Result<(), Error> {
        let shared = &self.0.shared;
        if shared.token.is_cancelled() {
            return Err(Error::stopped(format!("start {}", shared.name)));
        }
        let Some(reflector) = self.0.unstarted.lock().take() else {
            return Ok(());
        };
        shared.start_handlers(runtime)?;
        shared.tasks.spawn_on(shared.clone().apply_batches(), runtime);
        let reader = shared.clone();
        let read = async move {
            let push = |delta| reader.channel.push(delta);
            reflector.run(push, reader.token.cancelled()).await;
        };
        shared.tasks.spawn_on(read, runtime);
        Ok(())
    }

    pub(crate) fn is_started(&self) -> bool {
        self.0.unstarted.lock().is_none()
    }

    pub(crate) fn subscribe_synced(&self) -> tokio::sync::watch::Receiver<bool> {
        self.0.shared.synced.subscribe()
    }

    /// Stops it, and waits until its tasks and handlers have ended.
    pub(crate) async fn shutdown(&self) {
        self.0.shared.stop();
        self.0.shared.tasks.wait().await;
    }
}

impl<K> Clone for SharedInformer<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K: Object> fmt::Debug for SharedInformer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SharedInformer").field(&self.status()).finish()
    }
}

/// A handler about to be added; see [`SharedInformer::handler`].
#[must_use = "nothing is added before `add`"]
pub struct HandlerBuilder<'a, K> {
    informer: &'a SharedInformer<K>,
    name: Option<String>,
    buffer: usize,
    resync: Option<Duration>,
}

impl<K: Object> HandlerBuilder<'_, K> {
    /// The name in logs and in [`HandlerStatus`]. Default: the informer's and a number.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// How many events may wait before those of one object are merged. Default: [`DEFAULT_HANDLER_BUFFER`].
    pub fn buffer(mut self, events: usize) -> Self {
        self.buffer = events;
        self
    }

    /// Repeats everything known, as updates between equal versions, with this period: at least one second, at most a
    /// year. Nothing is read from the server for it. Default: never.
    pub fn resync_every(mut self, period: Duration) -> Self {
        self.resync = Some(period.clamp(MIN_RESYNC, MAX_RESYNC));
        self
    }

    /// Adds it; see [`SharedInformer::add_handler`].
    ///
    /// # Errors
    /// When the informer was shut down, or when called from inside an index function.
    #[expect(clippy::should_implement_trait, reason = "it adds to the informer")]
    pub fn add(
        self,
        handler: impl FnMut(Event<K>) + Send + 'static,
    ) -> Result<HandlerRegistration<K>, Error> {
        let shared = &self.informer.0.shared;
        let name = self.name.unwrap_or_else(|| {
            format!("{} handler {}", shared.name, shared.handlers.next_number())
        });
        let token = shared.token.child_token();
        let state = HandlerState::new(name, self.buffer, self.resync, token, Box::new(handler));
        shared.add_handler(state).map(HandlerRegistration::new)
    }
}
