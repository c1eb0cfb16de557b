//! What the tasks and handles of one informer share, and what those tasks do.

use std::sync::Arc;

use kubewright_meta::Object;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::channel::DeltaChannel;
use super::delivery::{Delivery, Handlers};
use super::handler::{self, HandlerState};
use super::user_code;
use crate::object::Decoder;
use crate::reentry::OrderedMutex;
use crate::reflector::ReflectorMonitor;
use crate::{Batch, Error, Indexer};

pub(super) struct Shared<K> {
    /// How logs and errors name the informer, such as `pods/v1 in shop`.
    pub(super) name: String,
    pub(super) store: Indexer<K>,
    pub(super) decoder: Decoder<K>,
    pub(super) monitor: ReflectorMonitor,
    pub(super) channel: DeltaChannel<K>,
    pub(super) handlers: Handlers<K>,
    running: OrderedMutex<Running<K>>,
    pub(super) synced: watch::Sender<bool>,
    pub(super) token: CancellationToken,
    pub(super) tasks: TaskTracker,
}

/// Held while a batch goes to the store and to the handlers, and while a handler is added.
struct Running<K> {
    delivery: Delivery<K>,
    /// Where handlers run, once the informer was started.
    runtime: Option<Handle>,
}

impl<K: Object> Shared<K> {
    pub(super) fn new(
        name: String,
        store: Indexer<K>,
        decoder: Decoder<K>,
        monitor: ReflectorMonitor,
        token: CancellationToken,
    ) -> Self {
        let handlers = Handlers::new();
        let running =
            Running { delivery: Delivery::new(store.clone(), handlers.clone()), runtime: None };
        Self {
            name,
            store,
            decoder,
            monitor,
            channel: DeltaChannel::new(),
            handlers,
            running: OrderedMutex::new(running),
            synced: watch::Sender::new(false),
            token,
            tasks: TaskTracker::new(),
        }
    }

    /// Applies batches until the informer stops.
    pub(super) async fn apply_batches(self: Arc<Self>) {
        loop {
            let batch = tokio::select! {
                biased;
                () = self.token.cancelled() => return,
                batch = self.channel.pop() => batch,
            };
            // Index functions may decode every object of a long list.
            let applied = match batch {
                Batch::ReplacedAll { .. } => user_code::run(|| self.apply(batch)),
                batch => self.apply(batch),
            };
            if let Err(error) = applied {
                // Only from inside an index function, where this task never is.
                tracing::error!(informer = self.name, %error, "batch not applied");
            }
            tokio::task::consume_budget().await;
        }
    }

    fn apply(&self, batch: Batch<K>) -> Result<(), Error> {
        let mut running = self.running.lock("apply a batch")?;
        running.delivery.apply(batch)?;
        if self.channel.done() {
            running.delivery.end_initial();
            self.synced.send_replace(true);
        }
        Ok(())
    }

    pub(super) fn add_handler(
        self: &Arc<Self>,
        state: HandlerState<K>,
    ) -> Result<Arc<HandlerState<K>>, Error> {
        let running = self.running.lock("add a handler")?;
        if self.token.is_cancelled() {
            return Err(Error::stopped(format!("add a handler to {}", self.name)));
        }
        let state = Arc::new(state);
        running.delivery.add(state.clone());
        if let Some(runtime) = &running.runtime {
            self.spawn_handler(runtime, state.clone());
        }
        // `stop` may just have missed it.
        if self.token.is_cancelled() {
            state.cancel();
        }
        Ok(state)
    }

    /// Lets the handlers run, now and those to come.
    pub(super) fn start_handlers(self: &Arc<Self>, runtime: &Handle) -> Result<(), Error> {
        let mut running = self.running.lock("start an informer")?;
        running.runtime = Some(runtime.clone());
        for state in self.handlers.all() {
            self.spawn_handler(runtime, state);
        }
        Ok(())
    }

    fn spawn_handler(self: &Arc<Self>, runtime: &Handle, state: Arc<HandlerState<K>>) {
        let shared = self.clone();
        let task = handler::run(state, move |state| shared.resync(state));
        self.tasks.spawn_on(task, runtime);
    }

    fn resync(&self, state: &HandlerState<K>) {
        // An error only from inside an index function, where no handler's task ever is.
        if let Ok(running) = self.running.lock("resync a handler") {
            running.delivery.resync(state);
        }
    }

    /// Adds an index while no batch is applied.
    pub(super) fn add_index(
        &self,
        add: impl FnOnce(&Indexer<K>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let _running = self.running.lock("add an index")?;
        add(&self.store)
    }

    /// Stops everything; the tasks then end. Waits for no batch.
    pub(super) fn stop(&self) {
        self.token.cancel();
        for handler in self.handlers.all() {
            handler.cancel();
        }
        self.tasks.close();
    }
}
