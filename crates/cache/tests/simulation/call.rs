//! The requests of a run: what the model server answers, how it arrives, and where it breaks.

use std::time::{Duration, Instant};

use bytes::Bytes;
use kubewright_cache::{Action, Cause, Failure, Step};
use kubewright_meta::{ListOptions, Reason, StatusError, WatchOptions};
use kubewright_wire::{FrameSplitter, ListSplitter, RawObject, RawWatchEvent};

use super::server::{self, What};
use super::world::World;

/// The request under way.
pub(crate) enum Call {
    None,
    Sleeping(Instant),
    List {
        body: Vec<u8>,
        at: usize,
        splitter: Box<ListSplitter>,
    },
    Watch(Box<Watch>),
}

pub(crate) struct Watch {
    pub(crate) replica: usize,
    /// Sent up to this version.
    pub(crate) sent: u64,
    pub(crate) wire: Vec<u8>,
    pub(crate) at: usize,
    pub(crate) frames: FrameSplitter,
    /// Nothing comes any more: the server has forgotten the version and does not say so.
    pub(crate) mute: bool,
}

impl World {
    pub(crate) fn advance_call(&mut self) {
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
                    let splitter = Box::default();
                    self.call = Call::List {
                        body: body.into_bytes(),
                        at: 0,
                        splitter,
                    };
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
            assert_eq!(
                request.resource_version, None,
                "a page is asked for by its token alone"
            );
            let (version, from) = token.split_once(':').unwrap();
            let (version, from) = (version.parse().unwrap(), from.parse().unwrap());
            if version < self.server.compacted {
                return Err(refusal(Reason::Expired));
            }
            return Ok(server::page(
                &mut self.rng,
                &self.server.at(version),
                version,
                from,
                limit,
            ));
        }
        let replica = self.server.replicas[self.rng.usize(0..2)];
        let version = match request.resource_version.as_deref() {
            None => self.server.version,
            Some("0") => replica,
            Some(wanted) if wanted.parse::<u64>().unwrap() > replica => {
                let message = format!("Too large resource version: {wanted}, current: {replica}");
                return Err(Failure::of_status(&StatusError::of(
                    Reason::Timeout,
                    message,
                )));
            }
            Some(_) => replica,
        };
        // The watch cache ignores limits; a server without one does not.
        let cached = request.resource_version.is_some() && self.rng.bool();
        let limit = if cached { usize::MAX } else { limit };
        Ok(server::page(
            &mut self.rng,
            &self.server.at(version),
            version,
            0,
            limit,
        ))
    }

    fn answer_watch(&mut self, request: &WatchOptions) -> Result<Watch, Failure> {
        self.refuse_at_random()?;
        let from: u64 = request
            .resource_version
            .as_deref()
            .unwrap()
            .parse()
            .unwrap();
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
        Ok(Watch {
            replica,
            sent: from,
            wire,
            at,
            frames,
            mute,
        })
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
                Failure {
                    retry_after,
                    ..refusal(Reason::TooManyRequests)
                }
            }
            _ => return Ok(()),
        })
    }

    fn receive_list(&mut self) {
        let Call::List { body, at, splitter } = &mut self.call else {
            return;
        };
        let end = (*at + self.rng.usize(1..400)).min(body.len());
        splitter.feed(Bytes::copy_from_slice(&body[*at..end]));
        *at = end;
        while let Some(item) = splitter.next_item() {
            self.core
                .list_item(RawObject::from_json(item.unwrap()).unwrap());
        }
        if *at == body.len() {
            self.end_list();
        }
    }

    fn end_list(&mut self) {
        let Call::List { splitter, .. } = std::mem::replace(&mut self.call, Call::None) else {
            return;
        };
        match splitter.finish() {
            Ok(end) => self
                .core
                .list_end(end)
                .into_iter()
                .for_each(|delta| self.fifo.push(delta)),
            Err(error) => {
                assert!(error.is_truncated(), "{error}");
                self.core
                    .list_failed(self.now, Failure::new(Cause::Connection, "cut"));
            }
        }
    }

    fn receive_watch(&mut self) {
        let Call::Watch(watch) = &mut self.call else {
            return;
        };
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
        watch
            .frames
            .feed(Bytes::copy_from_slice(&watch.wire[watch.at..end]));
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
    pub(crate) fn break_call(&mut self) {
        match self.call {
            Call::None | Call::Sleeping(_) => {}
            Call::List { .. } => self.end_list(),
            Call::Watch(_) => {
                let broken = self
                    .rng
                    .bool()
                    .then(|| Failure::new(Cause::Connection, "reset"));
                self.end_watch(broken);
            }
        }
    }

    /// The server says in the watch that it cannot go on, or sends something a second time.
    pub(crate) fn trouble_in_watch(&mut self) {
        let Call::Watch(watch) = &mut self.call else {
            return;
        };
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
                let Some((name, (uid, newest))) = known.iter().next() else {
                    return;
                };
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
