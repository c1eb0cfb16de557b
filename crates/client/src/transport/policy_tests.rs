use super::*;

const STALL: Duration = Duration::from_millis(250);
const IDLE: Duration = Duration::from_secs(90);

fn policy(lane: Lane) -> (Policy, Instant) {
    let now = Instant::now();
    (Policy::new(lane, Rules::of(lane, STALL, IDLE), now), now)
}

fn assigned(actions: &[Action]) -> Vec<(WaiterId, ConnectionId)> {
    actions
        .iter()
        .filter_map(|action| match action {
            Action::Assign(waiter, connection) => Some((*waiter, *connection)),
            _ => None,
        })
        .collect()
}

fn dials(actions: &[Action]) -> usize {
    actions.iter().filter(|action| **action == Action::Dial).count()
}

#[test]
fn a_connection_is_full_a_little_below_the_limit() {
    assert_eq!(usable(Protocol::Http2, 100), 96);
    assert_eq!(usable(Protocol::Http2, 250), 96);
    assert_eq!(usable(Protocol::Http2, usize::MAX), 96);
    assert_eq!(usable(Protocol::Http2, 20), 19);
    assert_eq!(usable(Protocol::Http2, 3), 3);
    assert_eq!(usable(Protocol::Http2, 1), 1);
    assert_eq!(usable(Protocol::Http1, 100), 1);
}

#[test]
fn a_burst_at_the_start_opens_one_connection_then_a_second_and_waits() {
    let (mut policy, now) = policy(Lane::Call);
    let first: usize = (0..1000).map(|waiter| dials(&policy.request(waiter, now))).sum();
    assert_eq!(first, 1);

    let actions = policy.connected(1, Protocol::Http2, 100, now);
    assert_eq!(assigned(&actions).len(), 96);
    assert_eq!(dials(&actions), 1);
    let actions = policy.connected(2, Protocol::Http2, 100, now);
    assert_eq!(assigned(&actions).len(), 96);
    assert_eq!(dials(&actions), 0);

    // Every answer lets the next in line through, in order, on two connections.
    for turn in 0..808 {
        let actions = policy.released(1 + turn % 2, now);
        assert_eq!(actions, [Action::Assign(192 + turn, 1 + turn % 2)]);
    }
    assert_eq!(policy.released(1, now), []);
}

#[test]
fn calls_that_nothing_ends_get_another_connection() {
    let (mut policy, now) = policy(Lane::Call);
    for waiter in 0..300 {
        policy.request(waiter, now);
    }
    policy.connected(1, Protocol::Http2, 100, now);
    policy.connected(2, Protocol::Http2, 100, now);
    assert_eq!(policy.tick(now + STALL / 2), []);
    assert_eq!(policy.tick(now + STALL), [Action::Dial]);
    // Only one at a time.
    assert_eq!(policy.tick(now + STALL * 2), []);
    assert_eq!(assigned(&policy.connected(3, Protocol::Http2, 100, now + STALL * 2)).len(), 96);
    assert_eq!(policy.tick(now + STALL * 3), [Action::Dial]);
}

#[test]
fn watches_get_as_many_connections_as_they_need() {
    let (mut policy, now) = policy(Lane::Watch);
    for waiter in 0..250 {
        policy.request(waiter, now);
    }
    let mut streams = 0;
    for connection in 1..=3 {
        let actions = policy.connected(connection, Protocol::Http2, 100, now);
        streams += assigned(&actions).len();
        assert_eq!(dials(&actions), usize::from(connection < 3), "after {connection}");
    }
    assert_eq!((streams, policy.open(), policy.in_use()), (250, 3, 250));
}

#[test]
fn the_oldest_connection_with_room_is_taken() {
    let (mut policy, now) = policy(Lane::Watch);
    for waiter in 0..100 {
        policy.request(waiter, now);
    }
    policy.connected(1, Protocol::Http2, 100, now);
    policy.connected(2, Protocol::Http2, 100, now);
    policy.released(1, now);
    assert_eq!(policy.request(100, now), [Action::Assign(100, 1)]);
    assert_eq!(policy.request(101, now), [Action::Assign(101, 2)]);
}

#[test]
fn a_failed_dial_fails_those_who_have_nothing_to_wait_for() {
    let (mut watches, now) = policy(Lane::Watch);
    watches.request(1, now);
    watches.request(2, now);
    assert_eq!(watches.dial_failed(now), [Action::Fail(1), Action::Fail(2)]);
    assert_eq!(watches.request(3, now), [Action::Dial]);

    let (mut calls, now) = policy(Lane::Call);
    for waiter in 0..97 {
        calls.request(waiter, now);
    }
    assert_eq!(dials(&calls.connected(1, Protocol::Http2, 100, now)), 1);
    assert_eq!(calls.dial_failed(now), []);
    assert_eq!(calls.released(1, now), [Action::Assign(96, 1)]);
}

#[test]
fn a_server_that_is_gone_is_tried_by_one_dial_at_a_time() {
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let (mut policy, now) = policy(Lane::Watch);
        policy.request(0, now);
        policy.connected(1, protocol, 100, now);
        let meanwhile: usize = (1..=60).map(|waiter| dials(&policy.request(waiter, now))).sum();
        for _ in 0..meanwhile.saturating_sub(1) {
            assert_eq!(policy.dial_failed(now), []);
        }
        policy.retired(1, now);
        while policy.dialing > 0 {
            policy.dial_failed(now);
        }
        assert_eq!(policy.waiting.len(), 0, "{protocol:?}");
        // All of them come back.
        let dialed: usize = (100..160).map(|waiter| dials(&policy.request(waiter, now))).sum();
        assert_eq!(dialed, 1, "{protocol:?}");
        assert_eq!(policy.dial_failed(now).len(), 60);
    }
}

#[test]
fn an_abandoned_dial_is_made_again() {
    for lane in Lane::ALL {
        let (mut policy, now) = policy(lane);
        assert_eq!(policy.request(1, now), [Action::Dial]);
        policy.dial_abandoned();
        assert_eq!(policy.tick(now), [Action::Dial]);
    }
}

#[test]
fn a_peer_that_allows_nothing_is_waited_for() {
    for lane in Lane::ALL {
        let (mut policy, now) = policy(lane);
        policy.request(1, now);
        assert_eq!(
            policy.connected(1, Protocol::Http2, 0, now),
            [Action::Dial],
            "perhaps it is that connection's fault"
        );
        assert_eq!(policy.connected(2, Protocol::Http2, 0, now), []);
        assert_eq!(policy.tick(now + STALL * 2), []);
        assert_eq!(policy.announced(1, 10, now), [Action::Assign(1, 1)]);
    }
}

#[test]
fn a_cancelled_waiter_is_passed_over() {
    let (mut policy, now) = policy(Lane::Call);
    policy.request(1, now);
    policy.request(2, now);
    policy.cancelled(1);
    assert_eq!(policy.connected(9, Protocol::Http2, 100, now), [Action::Assign(2, 9)]);
}

#[test]
fn http1_opens_a_connection_for_each_that_waits() {
    let (mut policy, now) = policy(Lane::Call);
    for waiter in 0..40 {
        policy.request(waiter, now);
    }
    let actions = policy.connected(1, Protocol::Http1, 1, now);
    assert_eq!((assigned(&actions).len(), dials(&actions)), (1, 16));
    let mut dialed = 17;
    let mut id = 1;
    while id < dialed as u64 {
        id += 1;
        dialed += dials(&policy.connected(id, Protocol::Http1, 1, now));
    }
    assert_eq!((policy.open(), policy.in_use()), (40, 40));
    // A free one is used again.
    policy.released(7, now);
    assert_eq!(policy.request(50, now), [Action::Assign(50, 7)]);
}

#[test]
fn an_idle_connection_is_closed_and_a_used_one_is_not() {
    let (mut policy, now) = policy(Lane::Call);
    policy.request(1, now);
    policy.connected(1, Protocol::Http2, 100, now);
    assert_eq!(policy.idle(1, now + IDLE), (Idle::Until(now + IDLE * 2), vec![]));
    policy.released(1, now + IDLE);
    let later = now + IDLE + IDLE / 2;
    assert_eq!(policy.idle(1, later), (Idle::Until(now + IDLE * 2), vec![]));
    assert_eq!(policy.idle(1, now + IDLE * 2), (Idle::Closed, vec![Action::Close(1)]));
    assert_eq!(policy.open(), 0);
}

#[test]
fn a_retired_connection_gets_nothing_and_is_replaced() {
    let (mut policy, now) = policy(Lane::Call);
    policy.request(1, now);
    policy.connected(1, Protocol::Http2, 100, now);
    assert_eq!(policy.retired(1, now), [Action::Close(1)]);
    assert_eq!(policy.request(2, now), [Action::Dial]);
    // Streams that still run on it end without a trace.
    assert_eq!(policy.released(1, now), []);
    assert_eq!(policy.retired(1, now), []);
}

#[test]
fn a_lower_limit_takes_effect_at_once() {
    let (mut policy, now) = policy(Lane::Watch);
    for waiter in 0..10 {
        policy.request(waiter, now);
    }
    policy.connected(1, Protocol::Http2, 100, now);
    policy.announced(1, 8, now);
    assert_eq!(policy.request(10, now), [Action::Dial]);
    policy.announced(1, 100, now);
    assert_eq!(policy.in_use(), 11);
}

#[test]
fn the_stall_clock_starts_with_the_first_in_line() {
    let (mut policy, now) = policy(Lane::Call);
    for waiter in 0..192 {
        policy.request(waiter, now);
    }
    policy.connected(1, Protocol::Http2, 100, now);
    policy.connected(2, Protocol::Http2, 100, now);
    let much_later = now + IDLE;
    assert_eq!(policy.request(192, much_later), []);
    assert_eq!(policy.tick(much_later + STALL), [Action::Dial]);
}

/// What may happen to a lane.
#[derive(Clone, Debug)]
enum Step {
    Request,
    Cancel(usize),
    Connect { http2: bool, announced: usize },
    FailDial,
    AbandonDial,
    Release(usize),
    Retire(usize),
    Announce(usize, usize),
    Wait(u64),
}

fn steps() -> impl proptest::strategy::Strategy<Value = Vec<Step>> {
    use proptest::prelude::*;

    let step = prop_oneof![
        6 => Just(Step::Request),
        1 => (0..50_usize).prop_map(Step::Cancel),
        3 => (proptest::bool::weighted(0.9), 0..120_usize)
            .prop_map(|(http2, announced)| Step::Connect { http2, announced }),
        1 => Just(Step::FailDial),
        1 => Just(Step::AbandonDial),
        3 => (0..50_usize).prop_map(Step::Release),
        1 => (0..5_usize).prop_map(Step::Retire),
        1 => ((0..5_usize), (0..120_usize)).prop_map(|(index, limit)| Step::Announce(index, limit)),
        1 => (0..500_u64).prop_map(Step::Wait),
    ];
    proptest::collection::vec(step, 1..200)
}

proptest::proptest! {
    /// Every request is served, failed or given up exactly once, nobody waits beside a free stream or without
    /// hope, and no connection is given more than it takes.
    #[test]
    fn requests_are_never_lost(steps in steps(), lane in 0..3_usize) {
        let (mut policy, mut now) = policy(Lane::ALL[lane]);
        let mut waiting = std::collections::BTreeSet::new();
        let mut leases: Vec<ConnectionId> = Vec::new();
        let mut connections: Vec<ConnectionId> = Vec::new();
        let (mut dialing, mut next) = (0, 0);
        for step in steps {
            next += 1;
            let actions = match step {
                Step::Request => {
                    waiting.insert(next);
                    policy.request(next, now)
                }
                Step::Cancel(index) => {
                    if let Some(waiter) = waiting.iter().nth(index).copied() {
                        waiting.remove(&waiter);
                        policy.cancelled(waiter);
                    }
                    Vec::new()
                }
                Step::Connect { http2, announced } if dialing > 0 => {
                    dialing -= 1;
                    connections.push(next);
                    let protocol = if http2 { Protocol::Http2 } else { Protocol::Http1 };
                    policy.connected(next, protocol, announced, now)
                }
                Step::FailDial if dialing > 0 => {
                    dialing -= 1;
                    policy.dial_failed(now)
                }
                Step::AbandonDial if dialing > 0 => {
                    dialing -= 1;
                    policy.dial_abandoned();
                    policy.tick(now)
                }
                Step::Release(index) if index < leases.len() => {
                    policy.released(leases.swap_remove(index), now)
                }
                Step::Retire(index) if index < connections.len() => {
                    policy.retired(connections.remove(index), now)
                }
                Step::Announce(index, limit) if index < connections.len() => {
                    policy.announced(connections[index], limit, now)
                }
                Step::Wait(millis) => {
                    now += Duration::from_millis(millis);
                    policy.tick(now)
                }
                _ => Vec::new(),
            };
            for action in actions {
                match action {
                    Action::Assign(waiter, connection) => {
                        proptest::prop_assert!(waiting.remove(&waiter));
                        proptest::prop_assert!(connections.contains(&connection));
                        leases.push(connection);
                        let found = policy.find(connection).unwrap();
                        proptest::prop_assert!(found.in_use <= found.usable);
                    }
                    Action::Fail(waiter) => proptest::prop_assert!(waiting.remove(&waiter)),
                    Action::Dial => dialing += 1,
                    Action::Close(connection) => {
                        proptest::prop_assert!(!connections.contains(&connection));
                    }
                }
            }
            proptest::prop_assert_eq!(policy.waiting.len(), waiting.len());
            proptest::prop_assert_eq!(policy.dialing, dialing);
            if !waiting.is_empty() {
                proptest::prop_assert!(policy.connections.iter().all(|c| c.in_use >= c.usable));
                proptest::prop_assert!(dialing > 0 || !connections.is_empty());
            }
            let held = leases.iter().filter(|id| connections.contains(id)).count();
            proptest::prop_assert_eq!(policy.in_use(), held);
        }
    }
}
