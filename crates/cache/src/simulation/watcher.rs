//! A handler that believes what it is told, checks that it makes sense, and may panic over it.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::resume_unwind;
use std::sync::Arc;

use fastrand::Rng;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::Object;
use super::server::{State, Version};
use crate::informer::handler::{HandlerFn, HandlerState};
use crate::{CachedObject, Event};

pub(super) struct Watcher {
    pub(super) state: Arc<HandlerState<Object>>,
    code: HandlerFn<Object>,
    told: Arc<Mutex<Told>>,
    panics: bool,
}

/// What the handler's code knows.
#[derive(Default)]
struct Told {
    objects: State,
    /// The newest version it was told of each name.
    newest: State,
    /// How often each name may go back, since the server was set back.
    may_go_back: BTreeMap<String, u32>,
    /// What its code made of it: all but the events over which it panicked.
    made: State,
    /// Names over whose last event it panicked.
    lost: BTreeSet<String>,
    synced: bool,
    resyncs: bool,
    panic_now: bool,
    events: u64,
    panics: u64,
    /// What did not make sense. A panic would not get through.
    fault: Option<String>,
}

impl Watcher {
    pub(super) fn new(rng: &mut Rng) -> Self {
        let told = Arc::new(Mutex::new(Told::default()));
        let inside = told.clone();
        let code = Box::new(move |event| inside.lock().hear(&event));
        let token = CancellationToken::new();
        let state = HandlerState::new("watcher".into(), rng.usize(0..5), None, token, code);
        let code = state.take_code().unwrap();
        Self { state: Arc::new(state), code, told, panics: rng.bool() }
    }

    /// Is told one event. False when none waits.
    pub(super) fn step(&mut self, rng: &mut Rng) -> bool {
        {
            let mut told = self.told.lock();
            told.synced = self.state.has_synced();
            told.panic_now = self.panics && rng.u8(0..6) == 0;
        }
        let stepped = self.state.step(&mut self.code);
        let told = self.told.lock();
        assert_eq!(told.fault, None);
        let status = self.state.status();
        assert_eq!((status.handled, status.panics), (told.events, told.panics));
        stepped
    }

    pub(super) fn will_resync(&self) {
        self.told.lock().resyncs = true;
    }

    /// The store was set back: so may be what the handler is told of these.
    pub(super) fn may_go_back(&self, names: impl Iterator<Item = String>) {
        let mut told = self.told.lock();
        for name in names {
            *told.may_go_back.entry(name).or_default() += 1;
        }
    }

    pub(super) fn panicked(&self) -> u64 {
        self.told.lock().panics
    }

    /// It was told all there is, and its own state is that but for what it panicked over last.
    pub(super) fn check(&self, held: &State) {
        let mut told = self.told.lock();
        let told = &mut *told;
        assert_eq!(&told.objects, held, "a handler was not told what the store has");
        assert!(self.state.has_synced(), "a handler did not sync");
        let mut held = held.clone();
        for name in &told.lost {
            held.remove(name);
            told.made.remove(name);
        }
        assert_eq!(told.made, held, "a panic cost more than its event");
    }
}

impl Told {
    fn hear(&mut self, event: &Event<Object>) {
        self.events += 1;
        let name = event.key().name().to_owned();
        if let Err(fault) = self.check(&name, event) {
            self.fault.get_or_insert(format!("{event:?} {fault}"));
        }
        if self.panic_now {
            self.panics += 1;
            self.lost.insert(name);
            // As a panic, without the noise.
            resume_unwind(Box::new("planned"));
        }
        self.lost.remove(&name);
        match event {
            Event::Added { object, .. } | Event::Updated { new: object, .. } => {
                self.made.insert(name, version(object))
            }
            Event::Deleted { .. } => self.made.remove(&name),
        };
    }

    fn check(&mut self, name: &str, event: &Event<Object>) -> Result<(), String> {
        let before = self.objects.get(name).copied();
        match event {
            Event::Added { object, initial } => {
                if before.is_some() {
                    return Err("is of an object that is known".into());
                }
                if *initial && self.synced {
                    return Err("is initial, and the handler had synced".into());
                }
                self.hold(name, version(object))
            }
            Event::Updated { old, new } => {
                let (was, now) = (version(old), version(new));
                if before != Some(was) {
                    return Err(format!("does not go on from {before:?}"));
                }
                if self.resyncs && old.ptr_eq(new) {
                    return Ok(());
                }
                if was.uid != now.uid {
                    return Err("is of another object".into());
                }
                self.hold(name, now)
            }
            Event::Deleted { object, .. } => {
                if before.map(|before| before.uid) != Some(version(object).uid) {
                    return Err("is of an object that is not known".into());
                }
                self.objects.remove(name);
                Ok(())
            }
        }
    }

    fn hold(&mut self, name: &str, now: Version) -> Result<(), String> {
        self.objects.insert(name.to_owned(), now);
        let newest = self.newest.insert(name.to_owned(), now);
        if newest.is_none_or(|newest| newest.version < now.version) {
            return Ok(());
        }
        match self.may_go_back.get_mut(name) {
            Some(times) if *times > 0 => {
                *times -= 1;
                Ok(())
            }
            _ => Err(format!("comes behind {newest:?}")),
        }
    }
}

pub(super) fn version(object: &CachedObject<Object>) -> Version {
    Version {
        uid: object.uid().trim_start_matches('u').parse().unwrap(),
        version: object.resource_version().parse().unwrap(),
        serial: object.label("serial").unwrap().parse().unwrap(),
        broken: false,
    }
}
