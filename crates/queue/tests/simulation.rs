//! Plays random schedules of workers, adds, delays, panics, cancelled gets, shut-downs and time against the
//! queue's state machine, beside a model simple enough to be believed.
//!
//! `KUBEWRIGHT_SIM_SCHEDULES=1000000` plays more schedules; `KUBEWRIGHT_SIM_SEED=42` plays one again.

// The state machine is no public API; it is compiled into this test as it stands.
#[path = "../src/queue_core/mod.rs"]
mod queue_core;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use kubewright_queue::{ExponentialLimiter, RateLimiter};
use queue_core::{GetStep, QueueCore};
use tokio::time::Instant;

const SCHEDULES: u64 = 100_000;
const BASE: Duration = Duration::from_millis(5);
const CAP: Duration = Duration::from_millis(100);

#[test]
fn random_schedules_agree_with_the_model() {
    let number = |name: &str| {
        let value = std::env::var(name).ok()?;
        Some(
            value
                .parse::<u64>()
                .unwrap_or_else(|_| panic!("{name} must be a number, not {value:?}")),
        )
    };
    let seeds = match number("KUBEWRIGHT_SIM_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("KUBEWRIGHT_SIM_SCHEDULES").unwrap_or(SCHEDULES),
    };
    let mut total = Tally::default();
    for seed in seeds.clone() {
        match catch_unwind(AssertUnwindSafe(|| Simulation::new(seed).play())) {
            Ok(tally) => total.add(tally),
            Err(panic) => {
                eprintln!("schedule failed; again with KUBEWRIGHT_SIM_SEED={seed}");
                resume_unwind(panic);
            }
        }
    }
    println!("{} schedules: {total:?}", seeds.end - seeds.start);
    if seeds.end - seeds.start >= 1000 {
        total.assert_all_was_played();
    }
}

/// The queue as client-go describes it: two sets, a line, and a waiting list.
#[derive(Default)]
struct Model {
    line: VecDeque<u8>,
    dirty: BTreeSet<u8>,
    processing: BTreeSet<u8>,
    /// Key to time, and the order of asking for it.
    waiting: BTreeMap<u8, (Instant, u64)>,
    asked: u64,
    shut_down: bool,
    failures: BTreeMap<u8, u32>,
    /// Keys added and not started since: what must not be lost.
    owed: BTreeSet<u8>,
}

impl Model {
    fn add(&mut self, key: u8) {
        if !self.shut_down {
            self.admit(key);
        }
    }

    fn admit(&mut self, key: u8) {
        self.owed.insert(key);
        if self.dirty.insert(key) && !self.processing.contains(&key) {
            self.line.push_back(key);
        }
    }

    fn add_at(&mut self, key: u8, at: Instant) {
        if self.shut_down {
            return;
        }
        self.asked += 1;
        let entry = self.waiting.entry(key).or_insert((at, self.asked));
        if at < entry.0 {
            *entry = (at, self.asked);
        }
    }

    fn promote(&mut self, now: Instant) {
        let mut due: Vec<_> = self.waiting.iter().map(|(key, when)| (*when, *key)).collect();
        due.retain(|((at, _), _)| *at <= now);
        due.sort_unstable();
        for (_, key) in due {
            self.waiting.remove(&key);
            self.admit(key);
        }
    }

    fn take(&mut self) -> Option<u8> {
        let key = self.line.pop_front()?;
        self.dirty.remove(&key);
        self.owed.remove(&key);
        assert!(self.processing.insert(key), "key {key} is held by two workers");
        Some(key)
    }

    fn done(&mut self, key: u8) {
        if self.processing.remove(&key) && self.dirty.contains(&key) {
            self.line.push_back(key);
        }
    }

    fn shut_down(&mut self, now: Instant) {
        self.promote(now);
        self.shut_down = true;
        self.waiting.clear();
    }

    fn backoff(&mut self, key: u8) -> Duration {
        let failures = self.failures.entry(key).or_default();
        *failures += 1;
        (0..*failures - 1).fold(BASE, |wait, _| CAP.min(wait * 2))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Worker {
    Idle,
    /// In `get`: asleep until woken or until the time it was told.
    Asleep {
        until: Option<Instant>,
    },
    /// In `get`, woken, about to look.
    Woken,
    Holding(u8),
    Ended,
}

struct Simulation {
    random: fastrand::Rng,
    now: Instant,
    core: QueueCore<u8, usize>,
    model: Model,
    limiter: ExponentialLimiter<u8>,
    workers: Vec<Worker>,
    tickets: Vec<Option<u64>>,
    /// Running drains; the flag says a later shut-down aborted it.
    drains: Vec<(u64, bool)>,
    keys: u8,
    tally: Tally,
}

impl Simulation {
    fn new(seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let workers = random.usize(1..=5);
        Self {
            now: Instant::now(),
            core: QueueCore::new(),
            model: Model::default(),
            limiter: ExponentialLimiter::new(BASE, CAP),
            workers: vec![Worker::Idle; workers],
            tickets: vec![None; workers],
            drains: Vec::new(),
            keys: random.u8(1..=6),
            random,
            tally: Tally::default(),
        }
    }

    fn play(mut self) -> Tally {
        for _ in 0..self.random.u32(10..150) {
            self.step();
            self.settle();
        }
        self.run_out();
        self.tally
    }

    fn step(&mut self) {
        let key = self.random.u8(..self.keys);
        let worker = self.random.usize(..self.workers.len());
        match self.random.u16(..1000) {
            0..200 => self.add(key),
            200..320 => {
                let after = Duration::from_millis(self.random.u64(1..50));
                self.add_after(key, after);
            }
            320..400 => self.add_rate_limited(key),
            400..780 => self.turn(worker),
            780..820 => self.cancel_get(worker),
            820..840 => {
                let key = key_not_held(&self.workers, key);
                self.core.done(hash(key), &key);
            }
            840..970 => self.now += Duration::from_millis(self.random.u64(0..20)),
            970..990 => self.look(),
            990..995 => self.shut_down(),
            _ => self.start_drain(),
        }
    }

    fn add(&mut self, key: u8) {
        self.core.add(hash(key), key);
        self.model.add(key);
        self.tally.adds += 1;
    }

    fn add_after(&mut self, key: u8, after: Duration) {
        self.core.add_at(hash(key), key, self.now + after);
        self.model.add_at(key, self.now + after);
        self.tally.delays += 1;
    }

    fn add_rate_limited(&mut self, key: u8) {
        let wait = self.limiter.when(&key);
        assert_eq!(wait, self.model.backoff(key), "back-off of key {key}");
        self.add_after(key, wait);
    }

    /// One worker does what is next for it.
    fn turn(&mut self, worker: usize) {
        match self.workers[worker] {
            Worker::Idle | Worker::Woken => self.get(worker),
            // Futures may be polled for no reason.
            Worker::Asleep { .. } if self.random.u8(..4) == 0 => self.get(worker),
            Worker::Asleep { until } if until.is_some_and(|at| at <= self.now) => self.get(worker),
            Worker::Asleep { .. } | Worker::Ended => {}
            Worker::Holding(key) => match self.random.u8(..4) {
                // A panic: the guard calls `done` and nobody asks for a retry.
                0 => {
                    self.tally.panics += 1;
                    self.done(worker, key);
                }
                1 => {
                    self.add_rate_limited(key);
                    self.done(worker, key);
                }
                _ => {
                    self.limiter.forget(&key);
                    self.model.failures.remove(&key);
                    self.done(worker, key);
                }
            },
        }
    }

    fn get(&mut self, worker: usize) {
        let now = self.now;
        let step = self.core.poll_get(&mut self.tickets[worker], || now, || worker);
        self.model.promote(now);
        let expected = self.model.take();
        self.workers[worker] = match step {
            GetStep::Key(key) => {
                assert_eq!(Some(key), expected, "the key handed out, and in order");
                assert!(!self.workers.contains(&Worker::Holding(key)), "key {key} is held twice");
                self.tally.runs += 1;
                Worker::Holding(key)
            }
            GetStep::ShutDown => {
                assert!(self.model.shut_down && expected.is_none(), "ended before its time");
                Worker::Ended
            }
            GetStep::Wait(until) => {
                assert_eq!(expected, None, "sleeps though a key is ready");
                assert!(!self.model.shut_down, "sleeps though the queue is shut down");
                Worker::Asleep { until }
            }
        };
    }

    fn done(&mut self, worker: usize, key: u8) {
        self.core.done(hash(key), &key);
        self.model.done(key);
        self.workers[worker] = Worker::Idle;
    }

    fn cancel_get(&mut self, worker: usize) {
        if let Some(ticket) = self.tickets[worker].take() {
            self.core.leave(ticket);
            self.workers[worker] = Worker::Idle;
            self.tally.cancels += 1;
        }
    }

    fn look(&mut self) {
        let now = self.now;
        let len = self.core.ready_len(|| now);
        self.model.promote(now);
        assert_eq!(len, self.model.line.len());
    }

    fn shut_down(&mut self) {
        let now = self.now;
        self.core.shut_down(|| now);
        self.model.shut_down(now);
        self.drains.iter_mut().for_each(|(_, aborted)| *aborted = true);
        self.tally.shutdowns += 1;
    }

    fn start_drain(&mut self) {
        let now = self.now;
        self.drains.push((self.core.start_drain(|| now), false));
        self.model.shut_down(now);
        self.tally.drains += 1;
    }

    /// Delivers the wake-ups of the last operation, and checks what must hold after each.
    fn settle(&mut self) {
        while let Some(worker) = self.core.next_wake() {
            assert!(
                matches!(self.workers[worker], Worker::Asleep { .. }),
                "woken while not asleep"
            );
            self.workers[worker] = Worker::Woken;
        }
        let model = &self.model;
        assert_eq!(self.core.is_shutting_down(), model.shut_down);
        let drained = model.shut_down && model.line.is_empty() && model.processing.is_empty();
        for (drain, aborted) in &self.drains {
            assert_eq!(self.core.drain_is_over(*drain), *aborted || drained, "drain");
        }

        let asleep = self.workers.iter().any(|worker| matches!(worker, Worker::Asleep { .. }));
        let woken = self.workers.iter().filter(|worker| **worker == Worker::Woken).count();
        if asleep {
            assert!(woken >= model.line.len(), "a ready key and a sleeping worker, but no wake-up");
            assert!(woken > 0 || !model.shut_down, "asleep though the queue is shut down");
            if let Some((first, _)) = model.waiting.values().min() {
                let timed = self.workers.iter().any(
                    |worker| matches!(worker, Worker::Asleep { until: Some(at) } if at <= first),
                );
                assert!(timed || woken > 0, "nobody keeps the time for a waiting key");
            }
        }
    }

    /// No more input: workers act only when woken or timed, and everything owed must get done.
    fn run_out(&mut self) {
        for round in 0.. {
            assert!(round < 10_000, "the schedule does not come to rest");
            let mut moved = false;
            for worker in 0..self.workers.len() {
                match self.workers[worker] {
                    Worker::Idle | Worker::Woken => self.get(worker),
                    Worker::Asleep { until: Some(at) } if at <= self.now => self.get(worker),
                    Worker::Holding(key) => self.done(worker, key),
                    Worker::Asleep { .. } | Worker::Ended => continue,
                }
                moved = true;
                self.settle();
            }
            if moved {
                continue;
            }
            let timers = self.workers.iter().filter_map(|worker| match worker {
                Worker::Asleep { until } => *until,
                _ => None,
            });
            match timers.min() {
                Some(first) => self.now = first,
                None => break,
            }
        }
        let model = &self.model;
        assert!(model.processing.is_empty());
        assert!(model.owed.is_empty(), "added and never started: {:?}", model.owed);
        assert!(model.waiting.is_empty(), "its time never came: {:?}", model.waiting);
    }
}

/// The key, or one that no worker holds: a stray `done` must do no harm.
fn key_not_held(workers: &[Worker], key: u8) -> u8 {
    if workers.contains(&Worker::Holding(key)) { u8::MAX } else { key }
}

/// Few values, so that different keys collide.
fn hash(key: u8) -> u64 {
    u64::from(key % 4) << 60
}

/// How often each thing happened: a simulation that never does something proves nothing about it.
#[derive(Debug, Default)]
struct Tally {
    adds: u64,
    delays: u64,
    runs: u64,
    panics: u64,
    cancels: u64,
    shutdowns: u64,
    drains: u64,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.adds += other.adds;
        self.delays += other.delays;
        self.runs += other.runs;
        self.panics += other.panics;
        self.cancels += other.cancels;
        self.shutdowns += other.shutdowns;
        self.drains += other.drains;
    }

    fn assert_all_was_played(&self) {
        let Self { adds, delays, runs, panics, cancels, shutdowns, drains } = *self;
        let all = [adds, delays, runs, panics, cancels, shutdowns, drains];
        assert!(all.iter().all(|count| *count > 100), "{self:?}");
    }
}
