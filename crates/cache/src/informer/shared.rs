//! What the tasks and handles of one informer share: the store, the handlers, and how a batch reaches both.

use std::sync::Arc;

use kubewright_meta::Object;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::channel::DeltaChannel;
use super::handler::{self, HandlerState};
use super::user_code;
use crate::object::Decoder;
use crate::reentry::OrderedMutex;
use crate::reflector::ReflectorMonitor;
use crate::{Batch, Error, Event, Indexer};

pub(super) struct Shared<K> {
    /// How logs and errors name the informer, such as `pods/v1 in shop`.
    pub(super) name: String,
    pub(super) store: Indexer<K>,
    pub(super) decoder: Decoder<K>,
    pub(super) monitor: ReflectorMonitor,
    pub(super) channel: DeltaChannel<K>,
    /// Held while a batch goes to the store and to the handlers, and while a handler is added: so each handler
    /// sees every change once, and the store as it was before all of them.
    delivery: OrderedMutex<Delivery<K>>,
    pub(super) synced: watch::Sender<bool>,
    pub(super) token: CancellationToken,
    pub(super) tasks: TaskTracker,
}

struct Delivery<K> {
    handlers: Vec<Arc<HandlerState<K>>>,
    synced: bool,
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
        let delivery = Delivery {
            handlers: Vec::new(),
            synced: false,
            runtime: None,
        };
        Self {
            name,
            store,
            decoder,
            monitor,
            channel: DeltaChannel::new(),
            delivery: OrderedMutex::new(delivery),
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

    /// Applies a batch to the store, then gives what changed to the handlers.
    pub(super) fn apply(&self, batch: Batch<K>) -> Result<(), Error> {
        let mut delivery = self.delivery.lock("apply a batch")?;
        let mut events = self.store.apply(batch)?;
        if !delivery.synced {
            for event in &mut events {
                if let Event::Added { initial, .. } = event {
                    *initial = true;
                }
            }
        }
        delivery.handlers.retain(|handler| !handler.is_removed());
        if !events.is_empty() {
            for handler in &delivery.handlers {
                handler.push(events.iter().cloned());
            }
        }
        if self.channel.done() {
            delivery.synced = true;
            for handler in &delivery.handlers {
                handler.end_initial();
            }
            self.synced.send_replace(true);
        }
        Ok(())
    }

    /// Adds a handler: first it gets all that is in the store, then every change.
    pub(super) fn add_handler(
        self: &Arc<Self>,
        state: HandlerState<K>,
    ) -> Result<Arc<HandlerState<K>>, Error> {
        let mut delivery = self.delivery.lock("add a handler")?;
        if self.token.is_cancelled() {
            return Err(Error::stopped(format!("add a handler to {}", self.name)));
        }
        let state = Arc::new(state);
        let objects = self.store.list();
        state.push(objects.into_iter().map(|object| Event::Added {
            object,
            initial: true,
        }));
        if delivery.synced {
            state.end_initial();
        }
        delivery.handlers.push(state.clone());
        if let Some(runtime) = &delivery.runtime {
            self.spawn_handler(runtime, state.clone());
        }
        Ok(state)
    }

    /// Lets the handlers run, now and those to come.
    pub(super) fn start_handlers(self: &Arc<Self>, runtime: &Handle) -> Result<(), Error> {
        let mut delivery = self.delivery.lock("start an informer")?;
        delivery.runtime = Some(runtime.clone());
        for state in &delivery.handlers {
            self.spawn_handler(runtime, state.clone());
        }
        Ok(())
    }

    fn spawn_handler(self: &Arc<Self>, runtime: &Handle, state: Arc<HandlerState<K>>) {
        let shared = self.clone();
        let task = handler::run(state, move |state| shared.resync(state));
        self.tasks.spawn_on(task, runtime);
    }

    /// Gives a handler everything once more, as updates between equal versions.
    fn resync(&self, state: &HandlerState<K>) {
        let Ok(_delivery) = self.delivery.lock("resync a handler") else {
            return;
        };
        let objects = self.store.list();
        state.push(objects.into_iter().map(|object| Event::Updated {
            old: object.clone(),
            new: object,
        }));
    }

    /// Adds an index while no batch is applied.
    pub(super) fn add_index(
        &self,
        add: impl FnOnce(&Indexer<K>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let _delivery = self.delivery.lock("add an index")?;
        add(&self.store)
    }

    /// Stops everything; the tasks then end.
    pub(super) fn stop(&self) {
        self.token.cancel();
        for handler in self.handlers() {
            handler.cancel();
        }
        self.tasks.close();
    }

    pub(super) fn handlers(&self) -> Vec<Arc<HandlerState<K>>> {
        self.delivery
            .lock("read the handlers")
            .map(|d| d.handlers.clone())
            .unwrap_or_default()
    }
}
