//! The queue as a plain state machine: operations and the time go in, keys and wake-ups come out.
//!
//! No lock, no task and no clock in here, so that a simulation can play any order of events against it
//! (`tests/simulation.rs`). The handles put it behind a lock and call [`QueueCore::next_wake`] after each
//! operation until it has nothing more to wake.

mod getters;
mod slots;
mod timeline;

use std::collections::VecDeque;

use tokio::time::Instant;

use getters::{Getters, Ticket};
use slots::{Phase, SlotId, Slots};
use timeline::Timeline;

/// A ready line longer than this is given back when the queue becomes empty.
const KEPT_CAPACITY: usize = 1024;

/// The state of one queue. `W` is what wakes a getter: a `Waker` in the handles, a number in the simulation.
///
/// Keys come with their hash, so that callers compute it outside their lock.
pub(crate) struct QueueCore<T, W> {
    slots: Slots<T>,
    /// Keys to hand out, oldest first. Every one of them is in [`Phase::Ready`].
    ready: VecDeque<SlotId>,
    /// Keys to add later.
    waiting: Timeline,
    processing: usize,
    getters: Getters<W>,
    shutting_down: bool,
    /// Counts plain shut-downs; a drain gives up when it changes.
    shutdowns: u64,
}

/// What [`QueueCore::poll_get`] found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum GetStep<T> {
    /// The key is the caller's until `done`.
    Key(T),
    /// Shut down, and nothing is left to hand out.
    ShutDown,
    /// The getter is registered. Poll again when its `W` is used, or at this time if there is one.
    Wait(Option<Instant>),
}

impl<T: Clone + Eq, W> QueueCore<T, W> {
    pub(crate) fn new() -> Self {
        Self {
            slots: Slots::new(),
            ready: VecDeque::new(),
            waiting: Timeline::new(),
            processing: 0,
            getters: Getters::new(),
            shutting_down: false,
            shutdowns: 0,
        }
    }

    /// Makes a key ready, or remembers that it has to run again if it is being processed.
    pub(crate) fn add(&mut self, hash: u64, key: T) {
        if self.shutting_down {
            return;
        }
        let id = self.slots.intern(hash, key);
        self.admit(id);
    }

    /// Adds a key at a time; the earlier one wins if the key waits already.
    pub(crate) fn add_at(&mut self, hash: u64, key: T, at: Instant) {
        if self.shutting_down {
            return;
        }
        let id = self.slots.intern(hash, key);
        match self.slots[id].due {
            Some(due) if due.at <= at => return,
            Some(later) => self.waiting.remove(later),
            None => {}
        }
        self.slots[id].due = Some(self.waiting.insert(at, id));
    }

    /// One look of a getter at the queue. `ticket` is `None` at first and belongs to this call afterwards;
    /// a getter that goes away while it holds one must [`leave`](Self::leave).
    pub(crate) fn poll_get(
        &mut self,
        ticket: &mut Option<Ticket>,
        now: impl FnOnce() -> Instant,
        waker: impl FnOnce() -> W,
    ) -> GetStep<T> {
        self.promote(now);
        // Before it arrives: if `Clone` panics, the getter still holds its wake-up and can leave with it.
        let key = self.take();
        if let Some(ticket) = *ticket {
            self.getters.arrive(ticket);
        }
        if let Some(key) = key {
            *ticket = None;
            GetStep::Key(key)
        } else if self.shutting_down {
            *ticket = None;
            GetStep::ShutDown
        } else {
            GetStep::Wait(self.getters.wait(ticket, waker(), self.waiting.first()))
        }
    }

    /// Forgets a getter that will not look again. Its wake-up, if it had one, goes to the next.
    pub(crate) fn leave(&mut self, ticket: Ticket) {
        self.getters.arrive(ticket);
    }

    /// Ends the processing of a key. Keys that are not being processed are left alone.
    pub(crate) fn done(&mut self, hash: u64, key: &T) {
        let Some(id) = self.slots.find(hash, key) else {
            return;
        };
        match self.slots[id].phase {
            Phase::Absent | Phase::Ready => return,
            Phase::Processing => {
                self.slots[id].phase = Phase::Absent;
                self.release_if_unused(id);
            }
            Phase::ProcessingDirty => self.make_ready(id),
        }
        self.processing -= 1;
    }

    /// How many keys could be handed out now.
    pub(crate) fn ready_len(&mut self, now: impl FnOnce() -> Instant) -> usize {
        self.promote(now);
        self.ready.len()
    }

    /// Refuses all later adds and drops the keys whose time has not come. Aborts running drains.
    pub(crate) fn shut_down(&mut self, now: impl FnOnce() -> Instant) {
        self.shutdowns += 1;
        self.close(now);
    }

    /// As [`shut_down`](Self::shut_down), without aborting drains. Returns what to give
    /// [`drain_is_over`](Self::drain_is_over).
    pub(crate) fn start_drain(&mut self, now: impl FnOnce() -> Instant) -> u64 {
        self.close(now);
        self.shutdowns
    }

    /// Whether a drain has nothing to wait for: all is processed, or a later shut-down aborted it.
    pub(crate) fn drain_is_over(&self, started: u64) -> bool {
        self.is_drained() || self.shutdowns != started
    }

    /// Shut down, nothing to hand out and nothing being processed.
    pub(crate) fn is_drained(&self) -> bool {
        self.shutting_down && self.ready.is_empty() && self.processing == 0
    }

    pub(crate) fn is_shutting_down(&self) -> bool {
        self.shutting_down
    }

    /// The next getter to wake, if one has reason to look. To be called after each operation until `None`.
    ///
    /// Kept true by this: while getters sleep, every ready key has a getter on its way, and the first waiting
    /// key has a getter that sleeps no longer than until its time (or one on its way, who will see to it).
    pub(crate) fn next_wake(&mut self) -> Option<W> {
        if self.getters.none_asleep() {
            return None;
        }
        if self.ready.len() > self.getters.on_their_way() {
            return self.getters.call_any();
        }
        if self.shutting_down && self.ready.is_empty() {
            return self.getters.call_any();
        }
        let first = self.waiting.first()?;
        if self.getters.on_their_way() == 0 && !self.getters.timed_for(first) {
            return self.getters.call_timekeeper();
        }
        None
    }

    fn close(&mut self, now: impl FnOnce() -> Instant) {
        if self.shutting_down {
            return;
        }
        self.promote(now);
        self.shutting_down = true;
        while let Some(id) = self.waiting.pop() {
            self.slots[id].due = None;
            self.release_if_unused(id);
        }
    }

    /// Adds the keys whose time has come. Asks for the time only if some key waits.
    fn promote(&mut self, now: impl FnOnce() -> Instant) {
        let Some(first) = self.waiting.first() else {
            return;
        };
        let now = now();
        if first > now {
            return;
        }
        while let Some(id) = self.waiting.pop_due(now) {
            self.slots[id].due = None;
            self.admit(id);
        }
    }

    fn admit(&mut self, id: SlotId) {
        match self.slots[id].phase {
            Phase::Absent => self.make_ready(id),
            Phase::Processing => self.slots[id].phase = Phase::ProcessingDirty,
            Phase::Ready | Phase::ProcessingDirty => {}
        }
    }

    fn make_ready(&mut self, id: SlotId) {
        self.slots[id].phase = Phase::Ready;
        self.ready.push_back(id);
    }

    fn take(&mut self) -> Option<T> {
        let id = *self.ready.front()?;
        let slot = &mut self.slots[id];
        // Cloned before anything changes: a clone that panics loses no key.
        let key = slot.key.clone();
        slot.phase = Phase::Processing;
        self.ready.pop_front();
        self.processing += 1;
        Some(key)
    }

    fn release_if_unused(&mut self, id: SlotId) {
        let slot = &self.slots[id];
        if slot.phase == Phase::Absent && slot.due.is_none() {
            self.slots.remove(id);
            if self.slots.is_empty() && self.ready.capacity() > KEPT_CAPACITY {
                self.ready = VecDeque::new();
            }
        }
    }
}
