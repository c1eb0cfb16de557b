//! The connections of one client, and who waits for a stream of which.
//!
//! [`Policy`] decides; here is what it needs of the world: senders, waiting tasks, dials. The lock is held for the
//! decision only; whatever it leads to is done after it is given back.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Instant;

use hyper::client::conn::{http1, http2};
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::connect::{Connected, Connector, Driver, Sender};
use super::error::{TransportError, TransportErrorKind};
use super::lease::Lease;
use super::policy::{Action, ConnectionId, Idle, Lane, Policy, Rules, WaiterId};
use crate::body::Body;

/// A pool. Dropping it lets the connections end with their last stream.
pub(crate) struct Pool(Arc<Shared>);

pub(super) struct Shared {
    pub(super) connector: Connector,
    state: Mutex<State>,
}

struct State {
    lanes: [Policy; Lane::ALL.len()],
    senders: HashMap<ConnectionId, PooledSender>,
    waiters: HashMap<WaiterId, oneshot::Sender<Result<Lease, TransportError>>>,
    next_id: u64,
}

enum PooledSender {
    /// `None` while its one request is on the way.
    Http1(Option<http1::SendRequest<Body>>),
    Http2(http2::SendRequest<Body>),
}

/// Open connections and given streams of a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LaneStats {
    pub(crate) connections: usize,
    pub(crate) streams: usize,
}

impl Pool {
    pub(crate) fn new(connector: Connector) -> Self {
        let now = now();
        let (stall, idle) = (connector.settings.stall, connector.settings.idle);
        let lanes = Lane::ALL.map(|lane| Policy::new(lane, Rules::of(lane, stall, idle), now));
        let state = State { lanes, senders: HashMap::new(), waiters: HashMap::new(), next_id: 0 };
        Self(Arc::new(Shared { connector, state: Mutex::new(state) }))
    }

    pub(crate) fn stats(&self, lane: Lane) -> LaneStats {
        let state = self.0.state.lock();
        let policy = &state.lanes[lane as usize];
        LaneStats { connections: policy.open(), streams: policy.in_use() }
    }

    pub(crate) fn connector(&self) -> &Connector {
        &self.0.connector
    }

    /// A stream of a connection of the lane. Dropping the future gives up the place in line.
    pub(crate) async fn acquire(&self, lane: Lane) -> Result<Lease, TransportError> {
        let shared = &self.0;
        let (sender, mut receiver) = oneshot::channel();
        let waiter = {
            let mut state = shared.state.lock();
            state.next_id += 1;
            let waiter = state.next_id;
            state.waiters.insert(waiter, sender);
            waiter
        };
        let _place = Place { shared, lane, waiter };
        shared.act(lane, None, |policy, now| policy.request(waiter, now));

        let limit = shared.connector.settings.acquire;
        let give_up = tokio::time::sleep(limit);
        tokio::pin!(give_up);
        let mut tick = tokio::time::interval(shared.connector.settings.stall);
        tick.reset();
        loop {
            tokio::select! {
                biased;
                outcome = &mut receiver => return outcome.unwrap_or_else(|_| Err(gone())),
                () = &mut give_up => return Err(shared.all_busy(lane, limit)),
                _ = tick.tick() => shared.act(lane, None, |policy, now| policy.tick(now)),
            }
        }
    }
}

/// A place in line.
struct Place<'a> {
    shared: &'a Shared,
    lane: Lane,
    waiter: WaiterId,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        // One who was served is in line no more.
        let sender = state.waiters.remove(&self.waiter);
        if sender.is_some() {
            state.lanes[self.lane as usize].cancelled(self.waiter);
        }
        drop(state);
        drop(sender);
    }
}

/// What is done once the lock is given back.
enum Effect {
    Deliver(oneshot::Sender<Result<Lease, TransportError>>, Box<Lease>),
    Refuse(oneshot::Sender<Result<Lease, TransportError>>),
    Dial,
    Drop(#[allow(dead_code, reason = "held to be dropped after the lock")] PooledSender),
}

impl Shared {
    /// Lets the lane's policy decide, and carries out what it says. `failure` goes to the waiters it fails.
    fn act(
        self: &Arc<Self>,
        lane: Lane,
        failure: Option<&TransportError>,
        decide: impl FnOnce(&mut Policy, Instant) -> Vec<Action>,
    ) {
        let effects: Vec<Effect> = {
            let mut state = self.state.lock();
            let actions = decide(&mut state.lanes[lane as usize], now());
            actions.into_iter().filter_map(|action| state.effect(action, lane, self)).collect()
        };
        for effect in effects {
            match effect {
                // A waiter that has gone drops the lease, which gives the stream back.
                Effect::Deliver(waiter, lease) => drop(waiter.send(Ok(*lease))),
                Effect::Refuse(waiter) => {
                    drop(waiter.send(Err(failure.cloned().unwrap_or_else(gone))));
                }
                Effect::Dial => self.dial(lane),
                Effect::Drop(_) => {}
            }
        }
    }

    fn dial(self: &Arc<Self>, lane: Lane) {
        let dial = Dial { shared: Some(self.clone()), lane };
        // A stream may be given back outside of any runtime.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        // A task of its own: others may wait for it when the one who asked has gone.
        runtime.spawn(dial.run());
    }

    fn connected(self: &Arc<Self>, lane: Lane, connected: Connected) {
        let Connected { sender, driver, announced } = connected;
        let protocol = sender.protocol();
        let id = {
            let mut state = self.state.lock();
            state.next_id += 1;
            let id = state.next_id;
            let pooled = match sender {
                Sender::Http1(sender) => PooledSender::Http1(Some(sender)),
                Sender::Http2(sender) => PooledSender::Http2(sender),
            };
            state.senders.insert(id, pooled);
            id
        };
        let server = self.connector.peer();
        tracing::debug!(%server, connection = id, ?lane, ?protocol, announced, "connected");
        self.act(lane, None, |policy, now| policy.connected(id, protocol, announced, now));
        let idle = self.connector.settings.idle;
        let open = Open { pool: Arc::downgrade(self), lane, id };
        tokio::spawn(drive(open, driver, announced, idle));
    }

    /// A stream has ended.
    pub(super) fn release(self: &Arc<Self>, lane: Lane, id: ConnectionId) {
        self.act(lane, None, |policy, now| policy.released(id, now));
    }

    /// The one request of an HTTP/1.1 connection has ended, and it can take another.
    pub(super) fn put_back(
        self: &Arc<Self>,
        lane: Lane,
        id: ConnectionId,
        sender: http1::SendRequest<Body>,
    ) {
        // Bound to a name so that a sender that is not wanted is dropped after the lock.
        let _unwanted = match self.state.lock().senders.get_mut(&id) {
            Some(PooledSender::Http1(place)) => place.replace(sender),
            _ => Some(sender),
        };
        self.release(lane, id);
    }

    pub(super) fn retire(self: &Arc<Self>, lane: Lane, id: ConnectionId) {
        self.act(lane, None, |policy, now| policy.retired(id, now));
    }

    fn all_busy(&self, lane: Lane, limit: std::time::Duration) -> TransportError {
        let state = self.state.lock();
        let policy = &state.lanes[lane as usize];
        let what = format!(
            "no stream came free within {limit:?}: all {} connections to {} carry {} requests",
            policy.open(),
            self.connector.peer(),
            policy.in_use(),
        );
        TransportError::new(TransportErrorKind::Busy, what)
    }
}

impl State {
    fn effect(&mut self, action: Action, lane: Lane, shared: &Arc<Shared>) -> Option<Effect> {
        match action {
            Action::Dial => Some(Effect::Dial),
            Action::Fail(waiter) => self.waiters.remove(&waiter).map(Effect::Refuse),
            Action::Close(id) => self.senders.remove(&id).map(Effect::Drop),
            Action::Assign(waiter, id) => {
                let sender = match self.senders.get_mut(&id) {
                    Some(PooledSender::Http2(sender)) => Some(Sender::Http2(sender.clone())),
                    Some(PooledSender::Http1(sender)) => sender.take().map(Sender::Http1),
                    None => None,
                };
                // The lease exists even without a sender or a waiter: its drop gives the stream back.
                let lease = Lease::new(shared.clone(), lane, id, sender);
                let waiter = self.waiters.remove(&waiter).unwrap_or_else(|| oneshot::channel().0);
                Some(Effect::Deliver(waiter, Box::new(lease)))
            }
        }
    }
}

/// A dial that is on its way. Dropped before its end, as when its runtime shuts down, it counts no longer: otherwise
/// everybody would go on to wait for it.
struct Dial {
    shared: Option<Arc<Shared>>,
    lane: Lane,
}

impl Dial {
    async fn run(mut self) {
        let Some(shared) = &self.shared else { return };
        let outcome = shared.connector.connect(self.lane).await;
        let Some(shared) = self.shared.take() else {
            return;
        };
        match outcome {
            Ok(connected) => shared.connected(self.lane, connected),
            Err(error) => {
                tracing::debug!(server = %shared.connector.peer(), %error, "cannot connect");
                shared.act(self.lane, Some(&error), Policy::dial_failed);
            }
        }
    }
}

impl Drop for Dial {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.take() {
            shared.state.lock().lanes[self.lane as usize].dial_abandoned();
        }
    }
}

/// A connection whose driver runs; retired when that has ended, however it did.
struct Open {
    pool: Weak<Shared>,
    lane: Lane,
    id: ConnectionId,
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.upgrade() {
            pool.retire(self.lane, self.id);
        }
    }
}

/// Runs a connection to its end, or until it was idle for too long.
async fn drive(open: Open, mut driver: Driver, mut announced: usize, idle: std::time::Duration) {
    let (lane, id) = (open.lane, open.id);
    let mut look = tokio::time::Instant::now() + idle;
    loop {
        tokio::select! {
            biased;
            outcome = driver.next_limit(announced) => match outcome {
                Ok(limit) => {
                    announced = limit;
                    if let Some(pool) = open.pool.upgrade() {
                        pool.act(lane, None, |policy, now| policy.announced(id, limit, now));
                    }
                }
                Err(ended) => {
                    tracing::debug!(connection = id, ?ended, "connection ended");
                    return;
                }
            },
            () = tokio::time::sleep_until(look) => {
                let mut state = Idle::Closed;
                if let Some(pool) = open.pool.upgrade() {
                    pool.act(lane, None, |policy, now| {
                        let (idle, actions) = policy.idle(id, now);
                        state = idle;
                        actions
                    });
                }
                look = match (state, &driver) {
                    (Idle::Until(time), _) => tokio::time::Instant::from_std(time),
                    // Nobody has its one stream, so whatever it is still busy with concerns nobody.
                    (Idle::Closed, Driver::Http1(_)) => return,
                    // Its sender is gone, so the driver ends when the last stream has; look no more.
                    (Idle::Closed, _) => tokio::time::Instant::now() + idle,
                };
            }
        }
    }
}

pub(super) fn gone() -> TransportError {
    TransportError::new(TransportErrorKind::Unprocessed, "the connection has just closed")
}

fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
