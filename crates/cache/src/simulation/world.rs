//! One run: the real reflector, queue, store and handlers against the model server, with faults.

use std::time::{Duration, Instant};

use fastrand::Rng;
use kubewright_meta::Kind;

use super::Object;
use super::request::Request;
use super::server::{Server, State};
use super::watcher::{self, Watcher};
use crate::informer::delivery::{Delivery, Handlers};
use crate::{Batch, Call, Decoder, Fifo, Indexer, Phase, ReflectorCore, ReflectorOptions};

pub(super) struct World {
    pub(super) rng: Rng,
    pub(super) server: Server,
    pub(super) core: ReflectorCore<Object>,
    pub(super) fifo: Fifo<Object>,
    store: Indexer<Object>,
    handlers: Handlers<Object>,
    delivery: Delivery<Object>,
    watchers: Vec<Watcher>,
    pub(super) now: Instant,
    pub(super) request: Request,
    /// Requests that are over, or that nobody waits for any more.
    pub(super) over: Vec<Call>,
    /// The newest version the store has shown.
    shown: u64,
    /// How often the server was set back and the store was not yet.
    set_back: u32,
    pub(super) faults: bool,
    pub(super) tally: Tally,
}

/// How often things happened, so that nobody takes a run in which they do not for a good one.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) lists: u64,
    pub(super) cuts: u64,
    pub(super) expired: u64,
    pub(super) repeated: u64,
    pub(super) late_answers: u64,
    pub(super) unreadable: u64,
    kept_unreadable: u64,
    restarts: u64,
    stores_set_back: u64,
    late_handlers: u64,
    removed_handlers: u64,
    resyncs: u64,
    merged: u64,
    panics: u64,
}

impl World {
    pub(super) fn new(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let server = Server::new(&mut rng);
        let store = Indexer::new("configmaps/v1");
        let page_size = rng.bool().then(|| rng.u32(1..4));
        let options = ReflectorOptions { page_size, seed: Some(seed), ..Default::default() };
        let decoder = Decoder::new(&Kind::of(), 0);
        let core = ReflectorCore::new("ConfigMap", options, decoder, store.clone());
        store
            .add_index("last letter", |object| object.name().chars().last().map(String::from))
            .unwrap();
        let handlers = Handlers::new();
        let delivery = Delivery::new(store.clone(), handlers.clone());
        let mut world = Self {
            rng,
            server,
            core,
            fifo: Fifo::new(),
            store,
            handlers,
            delivery,
            watchers: Vec::new(),
            now: Instant::now(),
            request: Request::None,
            over: Vec::new(),
            shown: 0,
            set_back: 0,
            faults: true,
            tally: Tally::default(),
        };
        for _ in 0..world.rng.usize(0..3) {
            world.add_watcher();
        }
        world
    }

    pub(super) fn run(mut self) -> Tally {
        for _ in 0..self.rng.usize(20..160) {
            self.any_step();
        }
        self.faults = false;
        self.settle();
        let status = self.core.status();
        self.tally.lists = status.lists;
        self.tally.unreadable = status.bad_objects;
        for watcher in std::mem::take(&mut self.watchers) {
            self.forget(watcher);
        }
        self.tally
    }

    fn any_step(&mut self) {
        match self.rng.u8(0..36) {
            0..5 => self.server.change(&mut self.rng),
            5..8 => self.server.catch_up(&mut self.rng),
            8 => self.server.compact(&mut self.rng),
            9..12 => self.apply(),
            12..17 => {
                if let Some(which) = self.any_watcher() {
                    self.watchers[which].step(&mut self.rng);
                }
            }
            17 if self.watchers.len() < 4 => {
                self.tally.late_handlers += 1;
                self.add_watcher();
            }
            18 => self.now += Duration::from_millis(self.rng.u64(0..40_000)),
            19 => self.break_request(),
            20 => self.trouble_in_watch(),
            21 => self.late_answer(),
            22 if self.rng.u8(0..3) == 0 => self.abandon_request(),
            23 if self.rng.u8(0..3) == 0 => self.restart_server(),
            24 if self.rng.u8(0..3) == 0 => self.remove_watcher(),
            25 if self.rng.u8(0..3) == 0 => self.resync(),
            _ => self.advance_request(),
        }
    }

    /// Without further faults everything becomes true.
    fn settle(&mut self) {
        for _ in 0..5000 {
            self.server.catch_up_all();
            self.advance_request();
            self.apply();
            let mut told = false;
            for watcher in &mut self.watchers {
                told |= watcher.step(&mut self.rng);
            }
            if !told && self.is_settled() {
                return self.check_settled();
            }
        }
        panic!("no end: {:?}", self.core.status());
    }

    fn is_settled(&self) -> bool {
        let Request::Watch(watch) = &self.request else {
            return false;
        };
        let all_sent = watch.at == watch.wire.len() && watch.sent == self.server.version;
        all_sent && !watch.mute && self.fifo.is_empty()
    }

    fn check_settled(&self) {
        let held: State = self
            .store
            .list()
            .iter()
            .map(|object| (object.name().to_owned(), watcher::version(object)))
            .collect();
        let (mut readable, mut server) = (held.clone(), self.server.state.clone());
        // Of what cannot be read the store may have an earlier version.
        for (name, _) in server.extract_if(.., |_, version| version.broken) {
            readable.remove(&name);
        }
        assert_eq!(readable, server, "the store is not what the server has");
        for watcher in &self.watchers {
            watcher.check(&held);
        }
        assert_eq!(self.handlers.all().len(), self.watchers.len());
        for name in held.keys() {
            let last = &name[name.len() - 1..];
            assert_eq!(self.store.by_index("last letter", last).unwrap().len(), 1);
        }
        assert_eq!(self.store.index_values("last letter").unwrap().len(), held.len());
        assert_eq!(self.core.status().phase, Phase::Watching);
    }

    fn apply(&mut self) {
        let Some(batch) = self.fifo.pop() else { return };
        let mut kept = Vec::new();
        if let Batch::ReplacedAll { unreadable, .. } = &batch {
            kept.extend(unreadable.iter().filter(|key| self.store.get(key).is_some()));
        }
        let kept: Vec<_> = kept.into_iter().cloned().collect();
        self.delivery.apply(batch).unwrap();
        if self.fifo.done() {
            self.delivery.end_initial();
        }
        for key in kept {
            assert!(self.store.get(&key).is_some(), "{key} was not kept");
            self.tally.kept_unreadable += 1;
        }
        let shown = self.store.resource_version().parse().unwrap_or(0);
        if shown < self.shown {
            assert!(self.set_back > 0, "the store went back from {} to {shown}", self.shown);
            self.set_back -= 1;
            self.tally.stores_set_back += 1;
            for watcher in &self.watchers {
                watcher.may_go_back((0..6).map(|name| format!("o{name}")));
            }
        }
        self.shown = shown;
    }

    // --- handlers

    fn any_watcher(&mut self) -> Option<usize> {
        (!self.watchers.is_empty()).then(|| self.rng.usize(0..self.watchers.len()))
    }

    fn add_watcher(&mut self) {
        let watcher = Watcher::new(&mut self.rng);
        self.delivery.add(watcher.state.clone());
        // Unreadable since the server was set back.
        let left = self.store.list().into_iter();
        let left = left.filter(|object| watcher::version(object).version > self.shown);
        watcher.may_go_back(left.map(|object| object.name().to_owned()));
        self.watchers.push(watcher);
    }

    fn remove_watcher(&mut self) {
        let Some(which) = self.any_watcher() else {
            return;
        };
        let mut watcher = self.watchers.swap_remove(which);
        watcher.state.remove();
        assert!(!watcher.step(&mut self.rng), "told after its removal");
        self.tally.removed_handlers += 1;
        self.forget(watcher);
    }

    fn forget(&mut self, watcher: Watcher) {
        self.tally.panics += watcher.panicked();
        self.tally.merged += watcher.state.status().merged;
    }

    fn resync(&mut self) {
        if let Some(which) = self.any_watcher() {
            self.watchers[which].will_resync();
            self.delivery.resync(&self.watchers[which].state);
            self.tally.resyncs += 1;
        }
    }

    // --- the server

    fn restart_server(&mut self) {
        let seen = self.core.status().resource_version.parse().unwrap_or(0);
        self.tally.restarts += 1;
        self.set_back += u32::from(self.server.restart(&mut self.rng, seen));
        self.break_request();
    }
}

impl Tally {
    fn counts(&mut self) -> [(&'static str, &mut u64); 14] {
        [
            ("lists", &mut self.lists),
            ("cuts", &mut self.cuts),
            ("expired", &mut self.expired),
            ("repeated", &mut self.repeated),
            ("late answers", &mut self.late_answers),
            ("unreadable", &mut self.unreadable),
            ("kept unreadable", &mut self.kept_unreadable),
            ("restarts", &mut self.restarts),
            ("stores set back", &mut self.stores_set_back),
            ("late handlers", &mut self.late_handlers),
            ("removed handlers", &mut self.removed_handlers),
            ("resyncs", &mut self.resyncs),
            ("merged", &mut self.merged),
            ("panics", &mut self.panics),
        ]
    }

    pub(super) fn add(&mut self, other: &Self) {
        let mut other = other.clone();
        for ((_, sum), (_, more)) in self.counts().into_iter().zip(other.counts()) {
            *sum += *more;
        }
    }

    pub(super) fn assert_all_happened(&mut self) {
        for (what, count) in self.counts() {
            assert!(*count > 0, "no {what} in all these schedules");
        }
    }
}
