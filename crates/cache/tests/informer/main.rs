//! Informers against a server whose answers the test gives one by one, with tokio's clock paused.

mod factory;
mod handlers;
mod script;
mod watching;

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_cache::{Event, HandlerRegistration, SharedInformer, SharedInformerFactory};
use tokio::sync::mpsc;

use script::Server;

/// A server, and an informer that has begun to read from it.
pub(crate) struct Bench {
    pub(crate) server: Server,
    pub(crate) factory: SharedInformerFactory,
    pub(crate) informer: SharedInformer<ConfigMap>,
}

impl Bench {
    pub(crate) fn start() -> Self {
        let (server, client) = Server::new();
        let factory = SharedInformerFactory::new(&client);
        let informer = factory.informer::<ConfigMap>();
        factory.start();
        Self { server, factory, informer }
    }

    /// Adds a handler that passes on what it is told.
    pub(crate) fn events(&self) -> Events {
        let (sender, events) = mpsc::unbounded_channel();
        let handler = move |event| drop(sender.send(event));
        let registration = self.informer.add_handler(handler).unwrap();
        Events { events, registration }
    }

    /// The stored objects as `NAME@VERSION`, sorted.
    pub(crate) fn stored(&self) -> Vec<String> {
        let objects = self.informer.lister().list(&Default::default());
        let mut names: Vec<_> =
            objects.iter().map(|o| format!("{}@{}", o.name(), o.resource_version())).collect();
        names.sort_unstable();
        names
    }
}

/// What a handler is told.
pub(crate) struct Events {
    events: mpsc::UnboundedReceiver<Event<ConfigMap>>,
    pub(crate) registration: HandlerRegistration<ConfigMap>,
}

impl Events {
    pub(crate) async fn next(&mut self) -> String {
        format!("{:?}", self.events.recv().await.expect("a handler"))
    }

    pub(crate) fn none(&mut self) -> bool {
        self.events.try_recv().is_err()
    }
}
