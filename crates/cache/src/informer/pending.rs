//! What a handler has yet to be told, in bounded room.
//!
//! Up to a bound every change waits as an event of its own. Beyond it, a change of an object about which an
//! event waits already is merged into that event, so that a handler that is slow, or stuck, costs at most one
//! event per object. A plain structure without locks or waiting.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use kubewright_meta::ObjectKey;

use crate::{CachedObject, Event};

/// How many events wait for a handler before those of one object are merged, when nothing else is said.
pub const DEFAULT_HANDLER_BUFFER: usize = 1024;

/// Events in order, merged by object beyond a bound.
pub struct PendingEvents<K> {
    bound: usize,
    waiting: BTreeMap<u64, Waiting<K>>,
    /// The last event that waits for an object.
    last: HashMap<ObjectKey, u64>,
    next: u64,
    in_hand: bool,
    initial: Initial,
    merged: u64,
}

/// How far the handler is with what was there when it began.
#[derive(Clone, Copy, PartialEq)]
enum Initial {
    /// Not all of it is in the queue yet.
    Open,
    /// It ends before the event with this number.
    EndsBefore(u64),
    Delivered,
}

enum Waiting<K> {
    One(Event<K>),
    /// Deleted, and there again: delivered as a deletion and an addition. Not as an update, also where it is the same
    /// object that left a selector and came back: `last` need not be what the handler was told before.
    Remade {
        last: CachedObject<K>,
        final_state_unknown: bool,
        new: CachedObject<K>,
        initial: bool,
    },
}

impl<K> PendingEvents<K> {
    /// An empty buffer that merges once `bound` events wait.
    pub fn new(bound: usize) -> Self {
        Self {
            bound,
            waiting: BTreeMap::new(),
            last: HashMap::new(),
            next: 0,
            in_hand: false,
            initial: Initial::Open,
            merged: 0,
        }
    }

    /// Appends an event, or merges it with the one that waits for the same object:
    ///
    /// | waits | comes | then waits |
    /// |---|---|---|
    /// | added | updated | added, the newest object |
    /// | added | deleted | nothing: the handler never hears of it |
    /// | updated | updated | updated, from the oldest to the newest |
    /// | updated | deleted | deleted |
    /// | deleted | added | deleted, then added |
    ///
    /// True when the handler is now through with what was there when it began, since the last of that is gone.
    pub fn push(&mut self, event: Event<K>) -> bool {
        if self.waiting.len() >= self.bound
            && let Some(&number) = self.last.get(event.key())
            && let Some(waiting) = self.waiting.remove(&number)
        {
            self.merged += 1;
            let key = event.key().clone();
            match merge(waiting, event) {
                Some(merged) => {
                    self.waiting.insert(number, merged);
                }
                None => {
                    self.last.remove(&key);
                }
            }
            return self.reach_initial_end();
        }
        self.last.insert(event.key().clone(), self.next);
        self.waiting.insert(self.next, Waiting::One(event));
        self.next += 1;
        false
    }

    /// Takes the next event. [`finished`](Self::finished) says when it was dealt with.
    pub fn pop(&mut self) -> Option<Event<K>> {
        let mut first = self.waiting.first_entry()?;
        self.in_hand = true;
        if let Waiting::Remade { last, final_state_unknown, new, initial } = first.get() {
            let deleted =
                Event::Deleted { object: last.clone(), final_state_unknown: *final_state_unknown };
            let added = Event::Added { object: new.clone(), initial: *initial };
            first.insert(Waiting::One(added));
            return Some(deleted);
        }
        let (number, waiting) = first.remove_entry();
        let Waiting::One(event) = waiting else {
            return None;
        };
        if self.last.get(event.key()) == Some(&number) {
            self.last.remove(event.key());
        }
        if self.waiting.is_empty() && self.last.capacity() > 4 * self.bound.max(256) {
            self.last.shrink_to(self.bound);
        }
        Some(event)
    }

    /// The event popped last was dealt with. True when with it the handler is through with what was there when
    /// it began.
    pub fn finished(&mut self) -> bool {
        self.in_hand = false;
        self.reach_initial_end()
    }

    /// All that was there when the handler began is in the buffer. True when it is through with that already.
    pub fn end_initial(&mut self) -> bool {
        if self.initial == Initial::Open {
            self.initial = Initial::EndsBefore(self.next);
        }
        self.reach_initial_end()
    }

    fn reach_initial_end(&mut self) -> bool {
        let Initial::EndsBefore(end) = self.initial else {
            return false;
        };
        let before_end = self.waiting.first_key_value().is_some_and(|(number, _)| *number < end);
        if self.in_hand || before_end {
            return false;
        }
        self.initial = Initial::Delivered;
        true
    }

    /// Whether the handler is through with what was there when it began.
    pub fn has_synced(&self) -> bool {
        self.initial == Initial::Delivered
    }

    /// How many events wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// How many events were merged into others.
    pub fn merged(&self) -> u64 {
        self.merged
    }

    /// Drops all that waits.
    pub fn clear(&mut self) {
        self.waiting = BTreeMap::new();
        self.last = HashMap::new();
    }
}

/// One waiting event that stands for both; `None` when together they are nothing.
fn merge<K>(waiting: Waiting<K>, event: Event<K>) -> Option<Waiting<K>> {
    let (last, final_state_unknown, was_initial) = match waiting {
        Waiting::One(Event::Added { initial, .. }) => {
            return match event {
                Event::Added { object, .. } | Event::Updated { new: object, .. } => {
                    Some(Waiting::One(Event::Added { object, initial }))
                }
                Event::Deleted { .. } => None,
            };
        }
        Waiting::One(Event::Updated { old, .. }) => {
            return Some(Waiting::One(match event {
                Event::Added { object: new, .. } | Event::Updated { new, .. } => {
                    Event::Updated { old, new }
                }
                deleted @ Event::Deleted { .. } => deleted,
            }));
        }
        Waiting::One(Event::Deleted { object, final_state_unknown }) => {
            (object, final_state_unknown, false)
        }
        Waiting::Remade { last, final_state_unknown, initial, .. } => {
            (last, final_state_unknown, initial)
        }
    };
    // The handler is owed a deletion of `last`, whatever became of its successors.
    Some(match event {
        Event::Added { object: new, initial } => {
            Waiting::Remade { last, final_state_unknown, new, initial }
        }
        Event::Updated { new, .. } => {
            Waiting::Remade { last, final_state_unknown, new, initial: was_initial }
        }
        Event::Deleted { .. } => Waiting::One(Event::Deleted { object: last, final_state_unknown }),
    })
}

#[cfg(test)]
#[path = "pending_tests.rs"]
mod tests;
