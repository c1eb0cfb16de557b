//! Those who wait in `get`: whom to wake for a key, and who keeps the time for all.
//!
//! One wake-up a ready key, oldest getter first, instead of a herd. And one timer for the first waiting key
//! instead of one in each getter: the getter that holds it is the timekeeper. A getter that was woken counts
//! as on its way until it looks at the queue or leaves; only then is its wake-up spent, so a getter dropped in
//! between (cancelled in a `select!`) takes no wake-up with it.

use std::collections::BTreeMap;

use tokio::time::Instant;

/// A getter that has looked at least once and found nothing.
pub(crate) type Ticket = u64;

pub(super) struct Getters<W> {
    asleep: BTreeMap<Ticket, W>,
    on_their_way: usize,
    timekeeper: Option<(Ticket, Instant)>,
    next_ticket: Ticket,
}

impl<W> Getters<W> {
    pub(super) fn new() -> Self {
        Self { asleep: BTreeMap::new(), on_their_way: 0, timekeeper: None, next_ticket: 0 }
    }

    pub(super) fn none_asleep(&self) -> bool {
        self.asleep.is_empty()
    }

    pub(super) fn on_their_way(&self) -> usize {
        self.on_their_way
    }

    /// Whether someone has a timer that rings at this time or before.
    pub(super) fn timed_for(&self, first: Instant) -> bool {
        self.timekeeper.is_some_and(|(_, armed)| armed <= first)
    }

    /// A registered getter looks again, woken or not, or leaves.
    pub(super) fn arrive(&mut self, ticket: Ticket) {
        if self.asleep.remove(&ticket).is_none() {
            self.on_their_way -= 1;
        }
        if self.timekeeper.is_some_and(|(keeper, _)| keeper == ticket) {
            self.timekeeper = None;
        }
    }

    /// Puts a getter to sleep. Returns the time to look again if it is to keep the time.
    pub(super) fn wait(
        &mut self,
        ticket: &mut Option<Ticket>,
        waker: W,
        first: Option<Instant>,
    ) -> Option<Instant> {
        let ticket = *ticket.get_or_insert_with(|| {
            self.next_ticket += 1;
            self.next_ticket
        });
        self.asleep.insert(ticket, waker);
        let first = first.filter(|first| !self.timed_for(*first))?;
        self.timekeeper = Some((ticket, first));
        Some(first)
    }

    /// Calls the getter that has waited longest, the timekeeper only if there is no other.
    pub(super) fn call_any(&mut self) -> Option<W> {
        let keeper = self.timekeeper.map(|(keeper, _)| keeper);
        let mut oldest = self.asleep.keys().copied();
        let first = oldest.next()?;
        let ticket = match oldest.next() {
            Some(second) if keeper == Some(first) => second,
            _ => first,
        };
        self.call(ticket)
    }

    /// Calls the one who must set a timer anew: the timekeeper, or anyone if there is none.
    pub(super) fn call_timekeeper(&mut self) -> Option<W> {
        match self.timekeeper {
            Some((keeper, _)) if self.asleep.contains_key(&keeper) => self.call(keeper),
            _ => self.call_any(),
        }
    }

    fn call(&mut self, ticket: Ticket) -> Option<W> {
        let waker = self.asleep.remove(&ticket)?;
        self.on_their_way += 1;
        Some(waker)
    }
}
