//! One run: the real reflector, queue, store and handler buffers against the model server, with faults.

use std::time::{Duration, Instant};

use bytes::Bytes;
use fastrand::Rng;
use kubewright_cache::{
    Action, Cause, Decoder, Event, Failure, Fifo, Indexer, Phase, ReflectorCore, ReflectorOptions,
    Step,
};
use kubewright_meta::{Kind, ListOptions, Reason, StatusError, WatchOptions};
use kubewright_wire::{FrameSplitter, ListSplitter, RawObject, RawWatchEvent};

use super::Object;
use super::server::{self, Server, State, What};
use super::watcher::{self, Watcher};

pub struct World {
    rng: Rng,
    server: Server,
    core: ReflectorCore<Object>,
    fifo: Fifo<Object>,
    store: Indexer<Object>,
    watchers: Vec<Watcher>,
    now: Instant,
    call: Call,
    /// The newest version the store has shown.
    shown: u64,
    faults: bool,
}

/// The request under way.
enum Call {
    None,
    Sleeping(Instant),
    List { body: Vec<u8>, at: usize, splitter: ListSplitter },
    Watch(Box<Watch>),
}

struct Watch {
    replica: usize,
    /// Sent up to this version.
    sent: u64,
    wire: Vec<u8>,
    at: usize,
    frames: FrameSplitter,
    /// Nothing comes any more: the server has forgotten the version and does not say so.
    mute: bool,
}

impl World {
    pub fn new(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let server = Server::new(&mut rng);
        let store = Indexer::new("configmaps/v1");
        let page_size = rng.bool().then(|| rng.u32(1..4));
        let mut options = ReflectorOptions::default();
        options.page_size = page_size;
        options.seed = Some(seed);
        let decoder = Decoder::new(&Kind::of(), 0);
        let core = ReflectorCore::new("ConfigMap", options, decoder, store.clone());
        store
            .add_index("last letter", |object| object.name().chars().last().map(String::from))
            .unwrap();
        let watchers = (0..rng.usize(0..3)).map(|_| Watcher::new(rng.usize(0..5))).collect();
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

    pub fn run(&mut self) {
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
            let told = self.watchers.iter_mut().fold(false, |told, watcher| told | watcher.step());
            if !told && self.is_settled() {
                return self.check_settled();
            }
        }
        panic!("no end: {:?}", self.core.status());
    }

    fn is_settled(&self) -> bool {
        let Call::Watch(watch) = &self.call else { return false };
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
        assert_eq!(held, self.server.state, "the store is not what the server has");
        for watcher in &self.watchers {
            assert_eq!(watcher.told, held, "a handler was not told what the store has");
            assert!(watcher.synced, "a handler did not sync");
        }
        for name in held.keys() {
            let last = &name[name.len() - 1..];
            assert_eq!(self.store.by_index("last letter", last).unwrap().len(), 1);
        }
        assert_eq!(self.store.index_values("last letter").unwrap().len(), held.len());
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
            self.watchers.iter_mut().for_each(|watcher| watcher.push(event.clone()));
        }
        let shown = self.store.resource_version().parse().unwrap_or(0);
        assert!(shown >= self.shown, "the store went back from {} to {shown}", self.shown);
        self.shown = shown;
        if self.fifo.done() {
            self.watchers.iter_mut().for_each(Watcher::end_initial);
        }
    }

    fn late_watcher(&mut self) {
        let mut watcher = Watcher::new(self.rng.usize(0..5));
        for object in self.store.list() {
            watcher.push(Event::Added { object, initial: true });
        }
        if self.fifo.has_synced() {
            watcher.end_initial();
        }
        self.watchers.push(watcher);
    }

    // --- the call under way

    fn advance_call(&mut self) {
        match &mut self.call {
            Call::None => self.begin_call(),
            Call::Sleeping(until) => {
                self.now = self.now.max(*until);
                self.call = Call::None;
            }
            Call::List { .. } => self.receive_list(),
            Call::Watch(_) => self.receive_watch(),
        }
    }

    fn begin_call(&mut self) {
        match self.core.next_action(self.now) {
            Action::Sleep(wait) => self.call = Call::Sleeping(self.now + wait),
            Action::List(request) => match self.answer_list(&request) {
                Ok(body) => {
                    let splitter = ListSplitter::new();
                    self.call = Call::List { body: body.into_bytes(), at: 0, splitter };
                }
                Err(failure) => self.core.list_failed(self.now, failure),
            },
            Action::Watch(request) => match self.answer_watch(&request) {
                Ok(watch) => {
                    self.core.watch_opened();
                    self.call = Call::Watch(Box::new(watch));
                }
                Err(failure) => self.core.watch_ended(self.now, Some(failure)),
            },
        }
    }

    fn answer_list(&mut self, request: &ListOptions) -> Result<String, Failure> {
        self.refuse_at_random()?;
        let limit = request.limit.map_or(usize::MAX, |limit| limit as usize);
        if let Some(token) = &request.continue_token {
            assert_eq!(request.resource_version, None, "a page is asked for by its token alone");
            let (version, from) = token.split_once(':').unwrap();
            let (version, from) = (version.parse().unwrap(), from.parse().unwrap());
            if version < self.server.compacted {
                return Err(refusal(Reason::Expired));
            }
            return Ok(server::page(&mut self.rng, &self.server.at(version), version, from, limit));
        }
        let replica = self.server.replicas[self.rng.usize(0..2)];
        let version = match request.resource_version.as_deref() {
            None => self.server.version,
            Some("0") => replica,
            Some(wanted) if wanted.parse::<u64>().unwrap() > replica => {
                let message = format!("Too large resource version: {wanted}, current: {replica}");
                return Err(Failure::of_status(&StatusError::of(Reason::Timeout, message)));
            }
            Some(_) => replica,
        };
        // The watch cache ignores limits; a server without one does not.
        let cached = request.resource_version.is_some() && self.rng.bool();
        let limit = if cached { usize::MAX } else { limit };
        Ok(server::page(&mut self.rng, &self.server.at(version), version, 0, limit))
    }

    fn answer_watch(&mut self, request: &WatchOptions) -> Result<Watch, Failure> {
        self.refuse_at_random()?;
        let from: u64 = request.resource_version.as_deref().unwrap().parse().unwrap();
        let forgotten = from < self.server.compacted;
        let mute = forgotten && self.faults && self.rng.u8(0..4) == 0;
        let mut wire = Vec::new();
        if forgotten && !mute {
            if self.rng.bool() {
                return Err(refusal(Reason::Expired));
            }
            wire.extend_from_slice(EXPIRED.as_bytes());
        }
        let replica = self.rng.usize(0..2);
        let (at, frames) = (0, FrameSplitter::new());
        Ok(Watch { replica, sent: from, wire, at, frames, mute })
    }

    fn refuse_at_random(&mut self) -> Result<(), Failure> {
        if !self.faults {
            return Ok(());
        }
        Err(match self.rng.u8(0..24) {
            0 => Failure::new(Cause::Connection, "connection refused"),
            1 => refusal(Reason::TooManyRequests),
            2 => refusal(Reason::InternalError),
            3 => {
                let retry_after = Some(Duration::from_secs(self.rng.u64(0..90)));
                Failure { retry_after, ..refusal(Reason::TooManyRequests) }
            }
            _ => return Ok(()),
        })
    }

    fn receive_list(&mut self) {
        let Call::List { body, at, splitter } = &mut self.call else { return };
        let end = (*at + self.rng.usize(1..400)).min(body.len());
        splitter.feed(Bytes::copy_from_slice(&body[*at..end]));
        *at = end;
        while let Some(item) = splitter.next_item() {
            self.core.list_item(RawObject::from_json(item.unwrap()).unwrap());
        }
        if *at == body.len() {
            self.end_list();
        }
    }

    fn end_list(&mut self) {
        let Call::List { splitter, .. } = std::mem::replace(&mut self.call, Call::None) else { return };
        match splitter.finish() {
            Ok(end) => self.core.list_end(end).into_iter().for_each(|delta| self.fifo.push(delta)),
            Err(error) => {
                assert!(error.is_truncated(), "{error}");
                self.core.list_failed(self.now, Failure::new(Cause::Connection, "cut"));
            }
        }
    }

    fn receive_watch(&mut self) {
        let Call::Watch(watch) = &mut self.call else { return };
        let expired = watch.sent < self.server.compacted && watch.wire.is_empty();
        if watch.mute || (expired && !self.faults) {
            return self.end_watch(None);
        }
        // What the server has to send by now.
        let to = self.server.replicas[watch.replica];
        let mut text = String::new();
        if watch.wire != EXPIRED.as_bytes() {
            for change in self.server.changes(watch.sent, to) {
                let kind = match change.what {
                    What::Added => "ADDED",
                    What::Modified => "MODIFIED",
                    What::Deleted => "DELETED",
                };
                let name = format!("o{}", change.name);
                server::frame(&mut text, kind, &name, change.uid, change.version);
                if self.faults && self.rng.u8(0..16) == 0 {
                    // Once more, and a line without meaning.
                    server::frame(&mut text, kind, &name, change.uid, change.version);
                    text.push_str("\r\n{\"type\":\"ODD\",\"object\":{}}\n\n");
                }
            }
            if to > watch.sent {
                watch.sent = to;
                if self.rng.bool() {
                    text.push_str(&format!(
                        r#"{{"type":"BOOKMARK","object":{{"metadata":{{"resourceVersion":"{to}"}}}}}}"#
                    ));
                    text.push('\n');
                }
            }
        }
        watch.wire.extend_from_slice(text.as_bytes());
        let end = (watch.at + self.rng.usize(1..600)).min(watch.wire.len());
        watch.frames.feed(Bytes::copy_from_slice(&watch.wire[watch.at..end]));
        watch.at = end;
        while let Call::Watch(watch) = &mut self.call
            && let Some(frame) = watch.frames.next_frame()
        {
            match RawWatchEvent::parse(frame.unwrap(), false) {
                Ok(event) => match self.core.watch_event(self.now, event) {
                    Step::Push(delta) => self.fifo.push(delta),
                    Step::Continue => {}
                    Step::Stop => self.call = Call::None,
                },
                Err(error) => {
                    assert!(error.is_unknown_event(), "{error}");
                    self.core.bad_object(None, error.to_string());
                }
            }
        }
    }

    fn end_watch(&mut self, failure: Option<Failure>) {
        self.call = Call::None;
        self.now += Duration::from_millis(self.rng.u64(0..3000));
        self.core.watch_ended(self.now, failure);
    }

    // --- faults

    /// The connection breaks, wherever it is.
    fn break_call(&mut self) {
        match self.call {
            Call::None | Call::Sleeping(_) => {}
            Call::List { .. } => self.end_list(),
            Call::Watch(_) => {
                let broken = self.rng.bool().then(|| Failure::new(Cause::Connection, "reset"));
                self.end_watch(broken);
            }
        }
    }

    /// The server says in the watch that it cannot go on, or sends something a second time.
    fn trouble_in_watch(&mut self) {
        let Call::Watch(watch) = &mut self.call else { return };
        if watch.wire == EXPIRED.as_bytes() || watch.mute {
            return;
        }
        match self.rng.u8(0..4) {
            0 => {
                watch.wire.extend_from_slice(EXPIRED.as_bytes());
                // Nothing comes behind it.
                watch.mute = false;
            }
            1 => {
                let slow = r#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"TooManyRequests","code":429}}"#;
                watch.wire.extend_from_slice(slow.as_bytes());
                watch.wire.push(b'\n');
            }
            _ => {
                // An object that exists is sent again at a version that is not its newest.
                let known = self.server.at(watch.sent);
                let Some((name, (uid, newest))) = known.iter().next() else { return };
                let old = self.server.history.iter().find(|change| change.uid == *uid);
                let version = old.map_or(*newest, |change| change.version);
                let mut text = String::new();
                server::frame(&mut text, "ADDED", name, *uid, version);
                watch.wire.extend_from_slice(text.as_bytes());
            }
        }
    }
}

const EXPIRED: &str = concat!(
    r#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","#,
    r#""message":"too old resource version","reason":"Expired","code":410}}"#,
    "\n"
);

fn refusal(reason: Reason) -> Failure {
    Failure::of_status(&StatusError::of(reason, "for a test"))
}
