//! Where keys come from: informers whose events are mapped to keys.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use kubewright_cache::{Event, HandlerRegistration, InformerStatus, Phase, SharedInformer};
use kubewright_meta::{Kind, Object, ObjectKey, OwnerReference, Scope};
use kubewright_queue::DelayingQueue;

use super::panic_text;
use super::stats::Counters;
use crate::owner::{controller_of, group_of};

/// An informer to listen to once the controller runs.
pub(super) struct Source {
    pub(super) what: String,
    /// Whether its events may wait for the batch period.
    pub(super) batched: bool,
    pub(super) attach: Attach,
}

type Attach =
    Box<dyn FnOnce(Intake) -> Result<Box<dyn Registration>, kubewright_cache::Error> + Send>;

/// A handler on an informer.
pub(super) trait Registration: Send + Sync {
    fn has_synced(&self) -> bool;
    /// What the informer is doing, in words, for people who wait for it.
    fn doing(&self) -> String;
    /// Ends when the handler was told all that was there when it began; an error if it no longer will be.
    fn synced(&self) -> BoxFuture<'_, Result<(), kubewright_cache::Error>>;
    /// Its first poll stops the handler; it ends when the handler's last call has.
    fn remove(self: Box<Self>) -> BoxFuture<'static, ()>;
}

/// A handler, and the informer that it is on: while this is there the informer runs, whoever else lets go of it.
struct Attached<W> {
    informer: SharedInformer<W>,
    handler: HandlerRegistration<W>,
}

impl<W: Object> Registration for Attached<W> {
    fn has_synced(&self) -> bool {
        self.handler.has_synced()
    }

    fn doing(&self) -> String {
        doing(&self.informer.status())
    }

    fn synced(&self) -> BoxFuture<'_, Result<(), kubewright_cache::Error>> {
        Box::pin(self.handler.synced())
    }

    fn remove(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(self.handler.remove())
    }
}

fn doing(informer: &InformerStatus) -> String {
    let phase = informer.reflector.phase;
    match &informer.reflector.last_error {
        _ if informer.synced => "synced; its handler is still at the first objects".to_owned(),
        _ if phase == Phase::NotStarted => {
            "not started: call the factory's start() after asking for the informer".to_owned()
        }
        Some(error) => format!("{phase}; last error: {error}"),
        None => phase.to_string(),
    }
}

/// Where the handlers put keys.
#[derive(Clone)]
pub(super) struct Intake {
    pub(super) controller: Arc<str>,
    pub(super) queue: DelayingQueue<ObjectKey>,
    pub(super) delay: Duration,
    pub(super) counters: Arc<Counters>,
}

impl Source {
    pub(super) fn new<W: Object>(
        informer: &SharedInformer<W>,
        batched: bool,
        map: impl Fn(&Event<W>) -> Vec<ObjectKey> + Send + 'static,
    ) -> Self {
        let informer = informer.clone();
        let what = informer.name().to_owned();
        let label = what.clone();
        let attach: Attach = Box::new(move |intake| {
            let name = format!("controller {}", intake.controller);
            let handler = move |event: Event<W>| intake.take(&label, event.key(), || map(&event));
            let handler = informer.handler().name(name).add(handler)?;
            Ok(Box::new(Attached { informer, handler }) as Box<dyn Registration>)
        });
        Self { what, batched, attach }
    }
}

impl Intake {
    /// Enqueues what `map` makes of an event. A panic in it costs that event only.
    pub(super) fn take(
        &self,
        source: &str,
        object: &ObjectKey,
        map: impl FnOnce() -> Vec<ObjectKey>,
    ) {
        match catch_unwind(AssertUnwindSafe(map)) {
            Ok(keys) => keys.into_iter().for_each(|key| self.queue.add_after(key, self.delay)),
            Err(payload) => {
                self.counters.count_mapping_panic();
                tracing::error!(
                    controller = &*self.controller,
                    source,
                    %object,
                    panic = panic_text(&*payload),
                    "mapping an event to keys panicked; the event is lost"
                );
            }
        }
    }
}

/// The kind of the owners that events of owned objects are mapped to.
#[derive(Debug)]
pub(super) struct OwnerKind {
    group: String,
    kind: String,
    scope: Scope,
}

impl OwnerKind {
    pub(super) fn new<K>(kind: &Kind<K>) -> Self {
        Self { group: kind.group().to_owned(), kind: kind.kind().to_owned(), scope: kind.scope() }
    }

    /// The keys of the controlling owners of an event's objects: after an update that changed hands, both.
    pub(super) fn keys<C>(&self, event: &Event<C>) -> Vec<ObjectKey> {
        let object = event.object();
        let now = self.key(object.namespace(), &object.owner_references());
        let before = match event {
            Event::Updated { old, .. } => self.key(old.namespace(), &old.owner_references()),
            _ => None,
        };
        let before = before.filter(|before| now.as_ref() != Some(before));
        before.into_iter().chain(now).collect()
    }

    /// The version does not count: the same owner may be referred to by any version that is served.
    pub(super) fn key(
        &self,
        namespace: Option<&str>,
        owners: &[OwnerReference],
    ) -> Option<ObjectKey> {
        let owner = controller_of(owners)?;
        if owner.kind != self.kind || group_of(owner) != self.group {
            return None;
        }
        Some(match self.scope {
            Scope::Namespaced => ObjectKey::new(namespace, &owner.name),
            Scope::Cluster => ObjectKey::cluster(&owner.name),
        })
    }
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
