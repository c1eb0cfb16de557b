//! How a batch reaches the store, and then the handlers: no task, no waiting and no clock, so that a simulation can play
//! it in any order.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::handler::HandlerState;
use crate::{Batch, Error, Event, Indexer};

/// The store and the handlers of one informer.
///
/// Whoever shares it holds one lock around each call: then each handler hears of every change once, and of the store as
/// it was before all of them.
pub(crate) struct Delivery<K> {
    store: Indexer<K>,
    handlers: Handlers<K>,
    synced: bool,
}

impl<K> Delivery<K> {
    pub(crate) fn new(store: Indexer<K>, handlers: Handlers<K>) -> Self {
        Self { store, handlers, synced: false }
    }

    /// Applies a batch to the store, then gives what changed to the handlers.
    pub(crate) fn apply(&self, batch: Batch<K>) -> Result<(), Error> {
        let mut events = self.store.apply(batch)?;
        if events.is_empty() {
            return Ok(());
        }
        if !self.synced {
            for event in &mut events {
                if let Event::Added { initial, .. } = event {
                    *initial = true;
                }
            }
        }
        for handler in self.handlers.all() {
            handler.push(events.iter().cloned());
        }
        Ok(())
    }

    /// The first list was applied: what was there when the handlers began is all on its way to them.
    pub(crate) fn end_initial(&mut self) {
        self.synced = true;
        for handler in self.handlers.all() {
            handler.end_initial();
        }
    }

    /// Adds a handler: first it gets all that is in the store, then every change.
    pub(crate) fn add(&self, handler: Arc<HandlerState<K>>) {
        let objects = self.store.list();
        handler.push(objects.into_iter().map(|object| Event::Added { object, initial: true }));
        if self.synced {
            handler.end_initial();
        }
        self.handlers.add(handler);
    }

    /// Gives a handler everything once more, as updates from each object to itself.
    pub(crate) fn resync(&self, handler: &HandlerState<K>) {
        let objects = self.store.list();
        handler.push(
            objects.into_iter().map(|object| Event::Updated { old: object.clone(), new: object }),
        );
    }
}

/// The handlers of one informer, in the order in which they came. A handle, whose lock is never held for long: who only
/// wants to know them need not wait for a batch.
pub(crate) struct Handlers<K>(Arc<Known<K>>);

struct Known<K> {
    list: Mutex<Vec<Arc<HandlerState<K>>>>,
    named: AtomicU64,
}

impl<K> Handlers<K> {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Known { list: Mutex::default(), named: AtomicU64::new(0) }))
    }

    /// All but those that were removed, which are forgotten.
    pub(crate) fn all(&self) -> Vec<Arc<HandlerState<K>>> {
        let mut list = self.0.list.lock();
        list.retain(|handler| !handler.is_removed());
        list.clone()
    }

    fn add(&self, handler: Arc<HandlerState<K>>) {
        let mut list = self.0.list.lock();
        list.retain(|handler| !handler.is_removed());
        list.push(handler);
    }

    /// A number for the name of a handler; each is given once.
    pub(crate) fn next_number(&self) -> u64 {
        self.0.named.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl<K> Clone for Handlers<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}
