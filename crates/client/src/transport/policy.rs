//! Which connection takes a request, and when another is opened or closed.
//!
//! A plain state machine: events and the time go in, [`Action`]s come out; [`pool`](super::pool) carries them
//! out. One policy serves one [`Lane`].
//!
//! The rules:
//! - A connection is full a little below the number of streams its peer allows: a stream that was cancelled
//!   counts at the peer until it has seen the reset.
//! - The oldest connection with room takes a request, so that the newer ones run dry and close.
//! - Until the first connection has told which protocol the server speaks, and ever after with HTTP/2, one
//!   connection is opened at a time: a burst at the start opens one and fills it.
//! - Streams that stay (watches, held bodies) get another connection as soon as all are full. Calls end soon:
//!   they get a second connection at once and then wait in line, unless nothing has moved for a while.
//! - With HTTP/1.1 a connection takes one request, so waiting requests open several at a time.
//! - A server that cannot be reached is tried by one dial at a time, and whoever waits for that shares its failure.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Kinds of use that never share a connection, since they would starve each other: a client that does not
/// read a body it holds must not stop the answers to its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Lane {
    /// Short calls, whose body is read at once.
    Call,
    /// Watches.
    Watch,
    /// Bodies handed to the user, read at the user's pace.
    Held,
}

impl Lane {
    pub(crate) const ALL: [Self; 3] = [Self::Call, Self::Watch, Self::Held];
}

/// What a connection speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    Http2,
}

pub(crate) type ConnectionId = u64;
pub(crate) type WaiterId = u64;

/// The numbers of one lane.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    /// So many connections are opened without waiting for a stall.
    pub(crate) eager: usize,
    /// The most HTTP/2 connections.
    pub(crate) max_http2: usize,
    /// The most HTTP/1.1 connections.
    pub(crate) max_http1: usize,
    /// Requests waiting this long while nothing ends are a reason to open a connection beyond `eager`.
    pub(crate) stall: Duration,
    /// A connection without streams is closed after this time.
    pub(crate) idle: Duration,
}

impl Rules {
    pub(crate) fn of(lane: Lane, stall: Duration, idle: Duration) -> Self {
        match lane {
            Lane::Call => Self { eager: 2, max_http2: 16, max_http1: 128, stall, idle },
            Lane::Watch => Self { eager: 64, max_http2: 64, max_http1: 1024, stall, idle },
            Lane::Held => Self { eager: 16, max_http2: 16, max_http1: 128, stall, idle },
        }
    }
}

/// HTTP/1.1 connections opened at the same time.
const MAX_DIALS_HTTP1: usize = 16;
/// After so many connections on which the peer allows no stream at all, another would be no better: those are waited for.
const MAX_CLOSED: usize = 2;
/// No connection carries more streams than this, whatever the peer allows: the windows are sized for it, so
/// that this many unread streams cannot use up the connection's window.
pub(crate) const MAX_STREAMS: usize = 100;

/// How many streams to put on a connection whose peer allows `announced`: one in 25 stays free.
pub(crate) fn usable(protocol: Protocol, announced: usize) -> usize {
    match protocol {
        Protocol::Http1 => 1,
        Protocol::Http2 => {
            let allowed = announced.min(MAX_STREAMS);
            let free = if allowed > 4 { allowed.div_ceil(25) } else { 0 };
            allowed - free
        }
    }
}

/// What the pool has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Give a stream of the connection to the waiter.
    Assign(WaiterId, ConnectionId),
    /// Open a connection; report `connected` or `dial_failed`.
    Dial,
    /// Tell the waiter that no connection could be opened.
    Fail(WaiterId),
    /// Drop the connection.
    Close(ConnectionId),
}

#[derive(Debug)]
struct Connection {
    id: ConnectionId,
    protocol: Protocol,
    usable: usize,
    in_use: usize,
    idle_since: Instant,
}

/// What to do with a connection at its idle timer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Idle {
    /// It was closed.
    Closed,
    /// Look again at this time.
    Until(Instant),
}

#[derive(Debug)]
pub(crate) struct Policy {
    lane: Lane,
    rules: Rules,
    /// As the newest connection has shown it; unknown again when the server cannot be reached.
    protocol: Option<Protocol>,
    /// Oldest first.
    connections: Vec<Connection>,
    waiting: VecDeque<WaiterId>,
    dialing: usize,
    /// When a stream was last given out or came back.
    moved: Instant,
}

impl Policy {
    pub(crate) fn new(lane: Lane, rules: Rules, now: Instant) -> Self {
        Self {
            lane,
            rules,
            protocol: None,
            connections: Vec::new(),
            waiting: VecDeque::new(),
            dialing: 0,
            moved: now,
        }
    }

    /// Connections that are open.
    pub(crate) fn open(&self) -> usize {
        self.connections.len()
    }

    /// Streams given out.
    pub(crate) fn in_use(&self) -> usize {
        self.connections.iter().map(|connection| connection.in_use).sum()
    }

    /// Someone wants a stream.
    pub(crate) fn request(&mut self, waiter: WaiterId, now: Instant) -> Vec<Action> {
        if self.waiting.is_empty() {
            // The stall clock starts with the first in line, not with the last movement hours ago.
            self.moved = now;
        }
        self.waiting.push_back(waiter);
        self.advance(now)
    }

    /// The waiter has gone; if it was given a stream meanwhile, that comes back by `released`.
    pub(crate) fn cancelled(&mut self, waiter: WaiterId) {
        self.waiting.retain(|other| *other != waiter);
    }

    /// A dial has succeeded; the peer allows `announced` streams.
    pub(crate) fn connected(
        &mut self,
        id: ConnectionId,
        protocol: Protocol,
        announced: usize,
        now: Instant,
    ) -> Vec<Action> {
        self.dialing = self.dialing.saturating_sub(1);
        self.protocol = Some(protocol);
        let usable = usable(protocol, announced);
        self.connections.push(Connection { id, protocol, usable, in_use: 0, idle_since: now });
        self.moved = now;
        self.advance(now)
    }

    /// A dial has failed. Streams that stay have nothing to wait for then; calls have as long as a connection
    /// is there, since streams come free on it.
    pub(crate) fn dial_failed(&mut self, now: Instant) -> Vec<Action> {
        self.dialing = self.dialing.saturating_sub(1);
        self.moved = now;
        let hope = self.dialing > 0 || (self.lane == Lane::Call && !self.connections.is_empty());
        if hope {
            return Vec::new();
        }
        if self.connections.is_empty() {
            self.protocol = None;
        }
        self.waiting.drain(..).map(Action::Fail).collect()
    }

    /// A dial was given up without an outcome: its runtime has ended. Those who wait open another at their next tick.
    pub(crate) fn dial_abandoned(&mut self) {
        self.dialing = self.dialing.saturating_sub(1);
    }

    /// The peer has changed how many streams it allows.
    pub(crate) fn announced(
        &mut self,
        id: ConnectionId,
        limit: usize,
        now: Instant,
    ) -> Vec<Action> {
        if let Some(connection) = self.find(id) {
            connection.usable = usable(connection.protocol, limit);
        }
        self.advance(now)
    }

    /// A stream of the connection has ended.
    pub(crate) fn released(&mut self, id: ConnectionId, now: Instant) -> Vec<Action> {
        let Some(connection) = self.find(id) else {
            return Vec::new();
        };
        connection.in_use = connection.in_use.saturating_sub(1);
        connection.idle_since = now;
        self.moved = now;
        self.advance(now)
    }

    /// The connection takes no new streams: it has ended, or its peer goes away.
    pub(crate) fn retired(&mut self, id: ConnectionId, now: Instant) -> Vec<Action> {
        let before = self.connections.len();
        self.connections.retain(|connection| connection.id != id);
        if self.connections.len() == before {
            return Vec::new();
        }
        let mut actions = vec![Action::Close(id)];
        actions.extend(self.advance(now));
        actions
    }

    /// Time has passed.
    pub(crate) fn tick(&mut self, now: Instant) -> Vec<Action> {
        self.advance(now)
    }

    /// The idle timer of a connection has fired.
    pub(crate) fn idle(&mut self, id: ConnectionId, now: Instant) -> (Idle, Vec<Action>) {
        let idle = self.rules.idle;
        let Some(connection) = self.find(id) else {
            return (Idle::Closed, Vec::new());
        };
        if connection.in_use > 0 {
            return (Idle::Until(now + idle), Vec::new());
        }
        let due = connection.idle_since + idle;
        if now < due {
            return (Idle::Until(due), Vec::new());
        }
        (Idle::Closed, self.retired(id, now))
    }

    fn find(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        self.connections.iter_mut().find(|connection| connection.id == id)
    }

    fn advance(&mut self, now: Instant) -> Vec<Action> {
        let mut actions = Vec::new();
        for connection in &mut self.connections {
            while connection.in_use < connection.usable {
                let Some(waiter) = self.waiting.pop_front() else {
                    return actions;
                };
                connection.in_use += 1;
                self.moved = now;
                actions.push(Action::Assign(waiter, connection.id));
            }
        }
        for _ in 0..self.wanted_dials(now) {
            self.dialing += 1;
            actions.push(Action::Dial);
        }
        actions
    }

    fn wanted_dials(&self, now: Instant) -> usize {
        if self.waiting.is_empty() {
            return 0;
        }
        let here = self.connections.len() + self.dialing;
        let closed = |connection: &&Connection| connection.usable == 0;
        if self.connections.iter().filter(closed).count() >= MAX_CLOSED {
            return 0;
        }
        match self.protocol {
            Some(Protocol::Http1) => {
                let room = self.rules.max_http1.saturating_sub(here);
                let most = self.waiting.len().min(MAX_DIALS_HTTP1);
                most.saturating_sub(self.dialing).min(room)
            }
            Some(Protocol::Http2) | None if self.dialing > 0 => 0,
            Some(Protocol::Http2) | None => {
                let stalled = now.saturating_duration_since(self.moved) >= self.rules.stall;
                let allowed = here < self.rules.eager || (stalled && here < self.rules.max_http2);
                usize::from(allowed)
            }
        }
    }
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
