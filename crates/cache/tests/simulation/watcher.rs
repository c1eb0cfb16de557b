//! A handler that believes what it is told, and checks that it makes sense.

use kubewright_cache::{CachedObject, Event, PendingEvents};

use super::Object;
use super::server::State;

pub(crate) struct Watcher {
    pub(crate) pending: PendingEvents<Object>,
    pub(crate) told: State,
    /// The newest version it was told of each name.
    newest: State,
    pub(crate) synced: bool,
}

impl Watcher {
    pub(crate) fn new(bound: usize) -> Self {
        Self {
            pending: PendingEvents::new(bound),
            told: State::new(),
            newest: State::new(),
            synced: false,
        }
    }

    pub(crate) fn push(&mut self, event: Event<Object>) {
        self.synced |= self.pending.push(event);
    }

    pub(crate) fn end_initial(&mut self) {
        self.synced |= self.pending.end_initial();
    }

    /// Is told one event. False when none waits.
    pub(crate) fn step(&mut self) -> bool {
        let Some(event) = self.pending.pop() else {
            return false;
        };
        let name = event.key().name().to_owned();
        let before = self.told.get(&name).copied();
        match &event {
            Event::Added { object, .. } => {
                assert_eq!(before, None, "{event:?} of an object that is known");
                self.hold(&name, object, &event);
            }
            Event::Updated { old, new } => {
                assert_eq!(
                    before,
                    Some(state(old)),
                    "{event:?} does not go on from what is known"
                );
                assert_eq!(state(old).0, state(new).0, "{event:?} is of another object");
                assert!(state(old).1 < state(new).1, "{event:?} goes back");
                self.hold(&name, new, &event);
            }
            Event::Deleted { object, .. } => {
                let uid = before.map(|(uid, _)| uid);
                assert_eq!(
                    uid,
                    Some(state(object).0),
                    "{event:?} of an object that is not known"
                );
                self.told.remove(&name);
            }
        }
        self.synced |= self.pending.finished();
        true
    }

    fn hold(&mut self, name: &str, object: &CachedObject<Object>, event: &Event<Object>) {
        let now = state(object);
        if let Some((_, newest)) = self.newest.insert(name.to_owned(), now) {
            assert!(
                newest < now.1,
                "{event:?}: version {newest} was told before"
            );
        }
        self.told.insert(name.to_owned(), now);
    }
}

pub(crate) fn state(object: &CachedObject<Object>) -> (u64, u64) {
    let uid = object.uid().trim_start_matches('u').parse();
    (uid.unwrap(), object.resource_version().parse().unwrap())
}
