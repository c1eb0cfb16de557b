//! The requests of a run: what the model server answers, how it arrives, and where it breaks.

use std::time::{Duration, Instant};

use bytes::Bytes;
use kubewright_meta::{ListOptions, Reason, StatusError, WatchOptions};
use kubewright_wire::{FrameSplitter, ListEnd, ListSplitter, RawObject, RawWatchEvent};

use super::server::{self, Version, What};
use super::world::World;
use crate::{Action, Call, Cause, Failure, Step};

/// The request under way.
pub(super) enum Request {
    None,
    Sleeping(Instant),
    List { call: Call, body: Vec<u8>, at: usize, splitter: Box<ListSplitter> },
    Watch(Box<Watch>),
}

pub(super) struct Watch {
    call: Call,
    pub(super) replica: usize,
    /// Sent up to this version.
    pub(super) sent: u64,
    pub(super) wire: Vec<u8>,
    pub(super) at: usize,
    pub(super) frames: FrameSplitter,
    /// Nothing comes any more: the server has forgotten the version and does not say so.
    pub(super) mute: bool,
}

impl World {
    pub(super) fn advance_request(&mut self) {
        match &mut self.request {
            Request::None => self.begin_request(),
            Request::Sleeping(until) => {
                self.now = self.now.max(*until);
                self.request = Request::None;
            }
            Request::List { .. } => self.receive_list(),
            Request::Watch(_) => self.receive_watch(),
        }
    }

    fn begin_request(&mut self) {
        match self.core.next_action(self.now) {
            Action::Sleep(wait) => self.request = Request::Sleeping(self.now + wait),
            Action::List(call, request) => match self.answer_list(&request) {
                Ok(body) => {
                    self.request = Request::List {
                        call,
                        body: body.into_bytes(),
                        at: 0,
                        splitter: Box::default(),
                    };
                }
                Err(failure) => {
                    self.over.push(call);
                    self.core.list_failed(call, self.now, failure);
                }
            },
            Action::Watch(call, request) => match self.answer_watch(call, &request) {
                Ok(watch) => {
                    self.core.watch_opened(call);
                    self.request = Request::Watch(Box::new(watch));
                }
                Err(failure) => {
                    self.over.push(call);
                    self.core.watch_ended(call, self.now, Some(failure));
                }
            },
        }
    }

    fn answer_list(&mut self, request: &ListOptions) -> Result<String, Failure> {
        self.refuse_at_random()?;
        let limit = request.limit.map_or(usize::MAX, |limit| limit as usize);
        if let Some(token) = &request.continue_token {
            assert_eq!(request.resource_version, None, "a page is asked for by its token alone");
            let mut parts = token.split(':').map(|part| part.parse::<u64>().unwrap());
            let mut part = || parts.next().unwrap();
            let (restarts, version, from) = (part(), part(), part());
            if restarts != self.server.restarts || version < self.server.compacted {
                self.tally.expired += 1;
                return Err(refusal(Reason::Expired));
            }
            return Ok(self.page(version, from as usize, limit));
        }
        let replica = self.server.replicas[self.rng.usize(0..2)];
        let version = match request.resource_version.as_deref() {
            None => self.server.version,
            Some("0") => replica,
            // One that does not care what was asked for.
            Some(_) if self.faults && self.rng.u8(0..24) == 0 => replica,
            Some(wanted) if wanted.parse::<u64>().unwrap() > replica => {
                let message = format!("Too large resource version: {wanted}, current: {replica}");
                return Err(Failure::of_status(&StatusError::of(Reason::Timeout, message)));
            }
            Some(_) => replica,
        };
        // The watch cache ignores limits; a server without one does not.
        let cached = request.resource_version.is_some() && self.rng.bool();
        let limit = if cached { usize::MAX } else { limit };
        Ok(self.page(version, 0, limit))
    }

    fn page(&mut self, version: u64, from: usize, limit: usize) -> String {
        let restarts = self.server.restarts;
        let state = self.server.at(version);
        let token = |next| format!("{restarts}:{version}:{next}");
        server::page(&mut self.rng, &state, token, version, from, limit)
    }

    fn answer_watch(&mut self, call: Call, request: &WatchOptions) -> Result<Watch, Failure> {
        self.refuse_at_random()?;
        let from: u64 = request.resource_version.as_deref().unwrap().parse().unwrap();
        let forgotten = from < self.server.compacted;
        let mute = forgotten && self.faults && self.rng.u8(0..4) == 0;
        let mut wire = Vec::new();
        if forgotten && !mute {
            self.tally.expired += 1;
            if self.rng.bool() {
                return Err(refusal(Reason::Expired));
            }
            wire.extend_from_slice(EXPIRED.as_bytes());
        }
        let replica = self.rng.usize(0..2);
        let (at, frames) = (0, FrameSplitter::new());
        Ok(Watch { call, replica, sent: from, wire, at, frames, mute })
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
        let Request::List { call, body, at, splitter } = &mut self.request else {
            return;
        };
        let end = (*at + self.rng.usize(1..600)).min(body.len());
        splitter.feed(Bytes::copy_from_slice(&body[*at..end]));
        *at = end;
        while let Some(item) = splitter.next_item() {
            match RawObject::from_json(item.unwrap()) {
                Ok(object) => self.core.list_item(*call, object),
                Err(error) => self.core.bad_object(*call, error.object_key(), error.to_string()),
            }
        }
        if *at == body.len() {
            self.end_list();
        }
    }

    fn end_list(&mut self) {
        let Request::List { call, splitter, .. } =
            std::mem::replace(&mut self.request, Request::None)
        else {
            return;
        };
        self.over.push(call);
        match splitter.finish() {
            Ok(end) => {
                self.core.list_end(call, end).into_iter().for_each(|delta| self.fifo.push(delta))
            }
            Err(error) => {
                assert!(error.is_truncated(), "{error}");
                self.tally.cuts += 1;
                self.core.list_failed(call, self.now, Failure::new(Cause::Connection, "cut"));
            }
        }
    }

    fn receive_watch(&mut self) {
        let Request::Watch(watch) = &mut self.request else {
            return;
        };
        let expired = watch.sent < self.server.compacted && watch.wire.is_empty();
        let silent = watch.sent > self.server.version && (!self.faults || self.rng.u8(0..8) == 0);
        if watch.mute || silent || (expired && !self.faults) {
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
                server::frame(&mut text, kind, &name, change.object);
                if self.faults && self.rng.u8(0..16) == 0 {
                    // Once more, and a line without meaning.
                    self.tally.repeated += 1;
                    server::frame(&mut text, kind, &name, change.object);
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
        while let Request::Watch(watch) = &mut self.request
            && let Some(frame) = watch.frames.next_frame()
        {
            let call = watch.call;
            match RawWatchEvent::parse(frame.unwrap(), false) {
                Ok(event) => match self.core.watch_event(call, self.now, event) {
                    Step::Push(delta) => self.fifo.push(delta),
                    Step::Continue => {}
                    Step::Stop => {
                        self.request = Request::None;
                        self.over.push(call);
                    }
                },
                Err(error) => self.core.bad_object(call, error.object_key(), error.to_string()),
            }
        }
    }

    fn end_watch(&mut self, failure: Option<Failure>) {
        let Request::Watch(watch) = std::mem::replace(&mut self.request, Request::None) else {
            return;
        };
        self.over.push(watch.call);
        self.now += match self.rng.u8(0..4) {
            0 => Duration::from_secs(400),
            _ if !self.faults => Duration::from_secs(400),
            _ => Duration::from_millis(self.rng.u64(0..3000)),
        };
        self.core.watch_ended(watch.call, self.now, failure);
    }

    // --- faults

    /// The connection breaks, wherever it is.
    pub(super) fn break_request(&mut self) {
        match self.request {
            Request::None | Request::Sleeping(_) => {}
            Request::List { .. } => self.end_list(),
            Request::Watch(_) => {
                self.tally.cuts += 1;
                let broken = self.rng.bool().then(|| Failure::new(Cause::Connection, "reset"));
                self.end_watch(broken);
            }
        }
    }

    /// The server says in the watch that it cannot go on, or sends something a second time.
    pub(super) fn trouble_in_watch(&mut self) {
        let Request::Watch(watch) = &mut self.request else {
            return;
        };
        let is_future = watch.sent > self.server.version;
        if watch.wire == EXPIRED.as_bytes() || watch.mute || is_future {
            return;
        }
        match self.rng.u8(0..4) {
            0 => {
                self.tally.expired += 1;
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
                // Something about a name that exists is sent again.
                let known = self.server.at(watch.sent);
                let Some((name, Version { broken: false, .. })) = known.iter().next() else {
                    return;
                };
                let number: usize = name[1..].parse().unwrap();
                let old: Vec<Version> = self
                    .server
                    .changes(0, watch.sent)
                    .filter(|change| change.name == number && change.what != What::Deleted)
                    .map(|change| change.object)
                    .collect();
                let mut text = String::new();
                server::frame(&mut text, "ADDED", name, old[self.rng.usize(0..old.len())]);
                watch.wire.extend_from_slice(text.as_bytes());
                self.tally.repeated += 1;
            }
        }
    }

    /// Nobody waits any more for what was asked for.
    pub(super) fn abandon_request(&mut self) {
        match std::mem::replace(&mut self.request, Request::None) {
            Request::None | Request::Sleeping(_) => {}
            Request::List { call, .. } => self.over.push(call),
            Request::Watch(watch) => self.over.push(watch.call),
        }
    }

    /// An answer to something that is over: it changes nothing.
    pub(super) fn late_answer(&mut self) {
        if self.over.is_empty() || matches!(self.request, Request::None) {
            // The request that is over last counts as under way until the next is made.
            return;
        }
        let call = self.over[self.rng.usize(0..self.over.len())];
        let ghost = Version { uid: 999, version: 999_999_999, serial: 0, broken: false };
        let mut text = String::new();
        server::object(&mut text, "ghost", ghost);
        let ghost = RawObject::from_json(text).unwrap();
        let before = self.core.status();
        let failure = Failure::new(Cause::Expired, "late");
        match self.rng.u8(0..6) {
            0 => self.core.list_item(call, ghost),
            1 => {
                let end = ListEnd { resource_version: "999999999".into(), ..ListEnd::default() };
                assert!(self.core.list_end(call, end).is_none());
            }
            2 => self.core.list_failed(call, self.now, failure),
            3 => self.core.watch_ended(call, self.now, Some(failure)),
            4 => self.core.bad_object(call, Some(ghost.key()), "late"),
            _ => {
                let step = self.core.watch_event(call, self.now, RawWatchEvent::Added(ghost));
                assert!(matches!(step, Step::Stop), "{step:?}");
            }
        }
        assert_eq!(self.core.status(), before);
        self.tally.late_answers += 1;
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
