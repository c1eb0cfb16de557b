//! One run: the real reflector, queue, store and handler buffers against the model server, with faults.

use std::time::{Duration, Instant};

use fastrand::Rng;
use kubewright_cache::{Decoder, Event, Fifo, Indexer, Phase, ReflectorCore, ReflectorOptions};
use kubewright_meta::Kind;

use super::Object;
use super::call::Call;
use super::server::{Server, State};
use super::watcher::{self, Watcher};

pub(crate) struct World {
    pub(crate) rng: Rng,
    pub(crate) server: Server,
    pub(crate) core: ReflectorCore<Object>,
    pub(crate) fifo: Fifo<Object>,
    pub(crate) store: Indexer<Object>,
    pub(crate) watchers: Vec<Watcher>,
    pub(crate) now: Instant,
    pub(crate) call: Call,
    /// The newest version the store has shown.
    pub(crate) shown: u64,
    pub(crate) faults: bool,
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let server = Server::new(&mut rng);
        let store = Indexer::new("configmaps/v1");
        let page_size = rng.bool().then(|| rng.u32(1..4));
        let options = ReflectorOptions {
            page_size,
            seed: Some(seed),
            ..Default::default()
        };
        let decoder = Decoder::new(&Kind::of(), 0);
        let core = ReflectorCore::new("ConfigMap", options, decoder, store.clone());
        store
            .add_index("last letter", |object| {
                object.name().chars().last().map(String::from)
            })
            .unwrap();
        let watchers = (0..rng.usize(0..3))
            .map(|_| Watcher::new(rng.usize(0..5)))
            .collect();
        Self {
            rng,
            server,
            core,
            fifo: Fifo::new(),
            store,
            watchers,
            now: Instant::now(),
            call: Call::None,
            shown: 0,
            faults: true,
        }
    }

    pub(crate) fn run(&mut self) {
        for _ in 0..self.rng.usize(20..160) {
            self.any_step();
        }
        self.faults = false;
        self.settle();
    }

    fn any_step(&mut self) {
        match self.rng.u8(0..32) {
            0..5 => self.server.change(&mut self.rng),
            5..8 => self.server.catch_up(&mut self.rng),
            8 => self.server.compact(&mut self.rng),
            9..12 => self.apply(),
            12..17 => {
                if !self.watchers.is_empty() {
                    let which = self.rng.usize(0..self.watchers.len());
                    self.watchers[which].step();
                }
            }
            17 if self.watchers.len() < 4 => self.late_watcher(),
            18 => self.now += Duration::from_millis(self.rng.u64(0..40_000)),
            19 => self.break_call(),
            20 => self.trouble_in_watch(),
            _ => self.advance_call(),
        }
    }

    /// Without further faults everything becomes true.
    fn settle(&mut self) {
        for _ in 0..5000 {
            self.server.catch_up_all();
            self.advance_call();
            self.apply();
            let told = self
                .watchers
                .iter_mut()
                .fold(false, |told, watcher| told | watcher.step());
            if !told && self.is_settled() {
                return self.check_settled();
            }
        }
        panic!("no end: {:?}", self.core.status());
    }

    fn is_settled(&self) -> bool {
        let Call::Watch(watch) = &self.call else {
            return false;
        };
        let version = self.server.version.max(watch.sent);
        let all_sent = watch.at == watch.wire.len() && watch.sent == version && !watch.mute;
        all_sent && self.fifo.is_empty()
    }

    fn check_settled(&self) {
        let held: State = self
            .store
            .list()
            .iter()
            .map(|object| (object.name().to_owned(), watcher::state(object)))
            .collect();
        assert_eq!(
            held, self.server.state,
            "the store is not what the server has"
        );
        for watcher in &self.watchers {
            assert_eq!(
                watcher.told, held,
                "a handler was not told what the store has"
            );
            assert!(watcher.synced, "a handler did not sync");
        }
        for name in held.keys() {
            let last = &name[name.len() - 1..];
            assert_eq!(self.store.by_index("last letter", last).unwrap().len(), 1);
        }
        assert_eq!(
            self.store.index_values("last letter").unwrap().len(),
            held.len()
        );
        assert_eq!(self.core.status().phase, Phase::Watching);
    }

    // --- the queue, the store and the handlers, as an informer connects them

    fn apply(&mut self) {
        let Some(batch) = self.fifo.pop() else { return };
        let synced = self.fifo.has_synced();
        for mut event in self.store.apply(batch).unwrap() {
            if let Event::Added { initial, .. } = &mut event {
                *initial = !synced;
            }
            self.watchers
                .iter_mut()
                .for_each(|watcher| watcher.push(event.clone()));
        }
        let shown = self.store.resource_version().parse().unwrap_or(0);
        assert!(
            shown >= self.shown,
            "the store went back from {} to {shown}",
            self.shown
        );
        self.shown = shown;
        if self.fifo.done() {
            self.watchers.iter_mut().for_each(Watcher::end_initial);
        }
    }

    fn late_watcher(&mut self) {
        let mut watcher = Watcher::new(self.rng.usize(0..5));
        for object in self.store.list() {
            watcher.push(Event::Added {
                object,
                initial: true,
            });
        }
        if self.fifo.has_synced() {
            watcher.end_initial();
        }
        self.watchers.push(watcher);
    }
}
