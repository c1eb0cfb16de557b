//! Applying what came from a server, and saying what that changed.

use kubewright_meta::ObjectKey;

use super::Indexer;
use super::tables::{Tables, Values};
use crate::fifo::{Batch, Delta};
use crate::version::is_older;
use crate::{CachedObject, Error, Event};

/// What a change of one object does to the store.
enum Step<K> {
    Put {
        object: CachedObject<K>,
        values: Values,
    },
    Take(CachedObject<K>),
    /// Nothing new: what the store has is the same or newer.
    Stale(CachedObject<K>),
}

impl<K> Indexer<K> {
    /// Applies a batch under one lock and says what changed, in order: of a list, first what is gone, then what
    /// is new or different in the list's order.
    ///
    /// What is the same as before gives no event, and neither does a change from a watch that is older than
    /// what the store has of that object. A list may be older than the store: then the server was set back, and what
    /// the list says holds. An object that was deleted and made again under the same name gives two events, a
    /// deletion (its final state unknown, where only the list shows it) and an addition. Additions are not
    /// `initial`.
    ///
    /// # Errors
    /// When called from inside an index function.
    pub fn apply(&self, batch: Batch<K>) -> Result<Vec<Event<K>>, Error> {
        let _writer = self.0.writer.lock("change a store")?;
        Ok(match batch {
            Batch::Changes(changes) => self.apply_changes(changes),
            Batch::ReplacedAll { resource_version, objects, unreadable } => {
                self.replace(resource_version, objects, unreadable)
            }
            Batch::Bookmark { resource_version } => {
                let mut tables = self.0.tables.write();
                if !is_older(&resource_version, &tables.resource_version) {
                    tables.resource_version = resource_version;
                }
                Vec::new()
            }
        })
    }

    fn apply_changes(&self, changes: Vec<Delta<K>>) -> Vec<Event<K>> {
        let mut steps = Vec::with_capacity(changes.len());
        for change in changes {
            steps.extend(self.step(change));
        }
        let mut events = Vec::with_capacity(steps.len());
        let mut tables = self.0.tables.write();
        for step in steps {
            let version = match step {
                Step::Put { object, values } => {
                    let version = object.resource_version().to_owned();
                    let old = tables.insert(object.clone(), values);
                    difference(old, object, &mut events);
                    version
                }
                Step::Take(last) => {
                    let version = last.resource_version().to_owned();
                    if let Some(held) = tables.remove(last.key()) {
                        // The deletion may be of one that came after the one held.
                        let final_state_unknown = held.uid() != last.uid();
                        let object = if final_state_unknown { held } else { last };
                        events.push(Event::Deleted { object, final_state_unknown });
                    }
                    version
                }
                Step::Stale(object) => object.resource_version().to_owned(),
            };
            if !version.is_empty() && !is_older(&version, &tables.resource_version) {
                tables.resource_version = version;
            }
        }
        events
    }

    fn step(&self, change: Delta<K>) -> Option<Step<K>> {
        let (object, deleted) = match change {
            Delta::Added(object) | Delta::Updated(object) => (object, false),
            Delta::Deleted(object) => (object, true),
            // Not in a batch of changes.
            Delta::ReplacedAll { .. } | Delta::Bookmark { .. } => return None,
        };
        let (held, position) = {
            let tables = self.0.tables.read();
            let held = tables.get(object.key()).cloned();
            (held, tables.resource_version.clone())
        };
        let stale = held.is_some_and(|held| {
            // An object newer than the store is left from before the server was set back.
            let comparable = !is_older(&position, held.resource_version());
            (comparable && is_older(object.resource_version(), held.resource_version()))
                || (!deleted && held.is_same_version(&object))
        });
        Some(match (stale, deleted) {
            (true, _) => Step::Stale(object),
            (false, true) => Step::Take(object),
            (false, false) => Step::Put { values: self.values_of(&object), object },
        })
    }

    /// Builds the new tables beside the old ones and swaps them: readers see the one or the other.
    fn replace(
        &self,
        resource_version: String,
        objects: Vec<CachedObject<K>>,
        unreadable: Vec<ObjectKey>,
    ) -> Vec<Event<K>> {
        let mut fresh = Tables::empty_like(&self.0.tables.read());
        let set_back = is_older(&resource_version, &self.0.tables.read().resource_version);
        // A server that was set back may use a version twice.
        let is_same = |held: &CachedObject<K>, object: &CachedObject<K>| {
            held.is_same_version(object)
                && (!set_back || held.raw().bytes() == object.raw().bytes())
        };
        let mut changed = Vec::new();
        for object in objects {
            // A list may name an object twice when its pages were not read from one state: the later one holds.
            let before = fresh.get(object.key()).cloned();
            let held = match &before {
                Some(_) => None,
                None => self.held(object.key()),
            };
            match held {
                // Keep the handle that is held, and with it what is decoded of it.
                Some((held, values)) if is_same(&held, &object) => {
                    fresh.insert(held, values);
                }
                held => {
                    let old = before.or_else(|| held.map(|(held, _)| held));
                    fresh.insert(object.clone(), self.values_of(&object));
                    if !old.as_ref().is_some_and(|old| is_same(old, &object)) {
                        difference(old, object, &mut changed);
                    }
                }
            }
        }
        for key in unreadable {
            if fresh.get(&key).is_none()
                && let Some((held, values)) = self.held(&key)
            {
                fresh.insert(held, values);
            }
        }
        fresh.resource_version = resource_version;
        let old = std::mem::replace(&mut *self.0.tables.write(), fresh);
        let tables = self.0.tables.read();
        let gone = old.all().filter(|object| tables.get(object.key()).is_none());
        let mut events: Vec<_> = gone
            .map(|object| Event::Deleted { object: object.clone(), final_state_unknown: true })
            .collect();
        events.append(&mut changed);
        events
    }

    fn held(&self, key: &ObjectKey) -> Option<(CachedObject<K>, Values)> {
        let tables = self.0.tables.read();
        let (held, values) = tables.get_with_values(key)?;
        Some((held.clone(), values))
    }
}

/// The events that lead from `old` to `new`.
fn difference<K>(old: Option<CachedObject<K>>, new: CachedObject<K>, events: &mut Vec<Event<K>>) {
    match old {
        Some(old) if old.uid() == new.uid() => events.push(Event::Updated { old, new }),
        Some(old) => {
            // Made again under the same name: whoever counts or owns by uid must hear of the end of the first.
            events.push(Event::Deleted { object: old, final_state_unknown: true });
            events.push(Event::Added { object: new, initial: false });
        }
        None => events.push(Event::Added { object: new, initial: false }),
    }
}
