use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_meta::{Kind, ListOptions, Reason, StatusError};
use kubewright_wire::{ListEnd, RawObject};

use super::*;
use crate::Fifo;

mod lists;
mod watches;

struct Bench {
    core: ReflectorCore<ConfigMap>,
    store: Indexer<ConfigMap>,
    now: Instant,
    /// The request under way.
    call: Call,
}

impl Bench {
    fn new() -> Self {
        Self::with(ReflectorOptions::default())
    }

    fn with(options: ReflectorOptions) -> Self {
        let store = Indexer::new("configmaps/v1");
        let decoder = Decoder::new(&Kind::of(), 0);
        let options = ReflectorOptions { seed: Some(7), ..options };
        let core = ReflectorCore::new("ConfigMap", options, decoder, store.clone());
        Self { core, store, now: Instant::now(), call: Call(0) }
    }

    /// The next request, and how long it was waited for.
    fn request(&mut self) -> (Action, Duration) {
        let begin = self.now;
        loop {
            match self.core.next_action(self.now) {
                Action::Sleep(wait) => self.now += wait,
                request => {
                    if let Action::List(call, _) | Action::Watch(call, _) = request {
                        self.call = call;
                    }
                    return (request, self.now - begin);
                }
            }
        }
    }

    fn list(&mut self) -> ListOptions {
        match self.request().0 {
            Action::List(_, request) => request,
            other => panic!("{other:?}"),
        }
    }

    fn watch(&mut self) -> WatchOptions {
        match self.request().0 {
            Action::Watch(_, request) => request,
            other => panic!("{other:?}"),
        }
    }

    fn end(&mut self, version: &str, next: Option<&str>) -> Option<Delta<ConfigMap>> {
        self.core.list_end(
            self.call,
            ListEnd {
                resource_version: version.into(),
                continue_token: next.map(str::to_owned),
                ..ListEnd::default()
            },
        )
    }

    fn item(&mut self, raw: RawObject) {
        self.core.list_item(self.call, raw);
    }

    /// The queue and the store take over what a list gave.
    fn apply(&self, delta: Option<Delta<ConfigMap>>) {
        let mut fifo = Fifo::new();
        delta.into_iter().for_each(|delta| fifo.push(delta));
        while let Some(batch) = fifo.pop() {
            self.store.apply(batch).unwrap();
            fifo.done();
        }
    }

    fn stored(&self) -> Vec<String> {
        let objects = self.store.list();
        let mut stored: Vec<_> = objects
            .iter()
            .map(|object| format!("{}@{}", object.name(), object.resource_version()))
            .collect();
        stored.sort_unstable();
        stored
    }

    /// A first list that ends at `version`.
    fn listed(&mut self, version: &str) {
        self.list();
        self.end(version, None).unwrap();
    }

    fn closed(&mut self, after: Duration) {
        self.now += after;
        self.core.watch_ended(self.call, self.now, None);
    }

    fn list_fails(&mut self, cause: Cause) {
        self.core.list_failed(self.call, self.now, Failure::new(cause, "for a test"));
    }

    fn watch_fails(&mut self, cause: Cause) {
        self.core.watch_ended(self.call, self.now, Some(Failure::new(cause, "for a test")));
    }

    fn event(&mut self, event: RawWatchEvent) -> Step<ConfigMap> {
        self.core.watch_event(self.call, self.now, event)
    }
}

fn raw(name: &str, version: &str) -> RawObject {
    let json =
        format!(r#"{{"metadata":{{"name":"{name}","uid":"u","resourceVersion":"{version}"}}}}"#);
    RawObject::from_json(json).unwrap()
}

fn bookmark(version: &str) -> RawWatchEvent {
    RawWatchEvent::Bookmark { resource_version: version.into(), initial_events_end: false }
}

const MINUTE: Duration = Duration::from_secs(60);

fn version(request: &ListOptions) -> Option<&str> {
    request.resource_version.as_deref()
}
