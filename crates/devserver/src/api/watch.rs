//! `watch`: a stream of changes, read from the shared history at the reader's own pace.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Status;
use kubewright_meta::StatusError;
use tokio::sync::watch::Receiver;
use tokio::time::Instant;

use super::Call;
use super::list_options::Filter;
use crate::failure::{self, Result};
use crate::kinds::ResourceKind;
use crate::object;
use crate::protocol::{self, Body, Query};
use crate::server::Inner;
use crate::store::{Change, ChangeKind, Stored, TooOld};
use crate::validation::FieldErrors;

/// Changes looked at under one lock.
const BATCH: usize = 256;
/// Bytes after which those events are handed on, so that large objects do not pile up.
const BATCH_BYTES: usize = 1 << 20;
/// Bytes after which synthetic events are handed on.
const PIECE: usize = 64 << 10;
const SHORTEST_TIMEOUT: u64 = 1800;
/// The last bookmark comes so long before the timeout.
const BEFORE_TIMEOUT: Duration = Duration::from_secs(2);

pub(super) fn watch(call: &Call<'_>) -> Result<Response<Body>> {
    let filter = Filter::read(call.kind(), call.namespace(), call.query)?;
    check_options(call.query)?;
    let start = match call.query.text("resourceVersion") {
        None | Some("0") => None,
        Some(text) => Some(text.parse::<u64>().map_err(|_| not_a_version(call.kind(), text))?),
    };
    let now = Instant::now();
    let timeout = match call
        .query
        .number("timeoutSeconds")?
        .and_then(|seconds| u64::try_from(seconds).ok())
    {
        None | Some(0) => SHORTEST_TIMEOUT + fastrand::u64(..SHORTEST_TIMEOUT),
        Some(seconds) => seconds.min(u64::from(u32::MAX)),
    };
    let deadline = now + Duration::from_secs(timeout);
    let bookmarks = call.query.flag("allowWatchBookmarks");
    let (revision, objects, changed) = {
        let state = call.server.store.lock();
        let objects = start.is_none().then(|| state.snapshot(call.kind()));
        (state.revision(), objects.unwrap_or_default(), state.subscribe(call.kind()))
    };
    let selected = objects.iter().filter(|(key, stored)| filter.matches(call.kind(), key, stored));
    let initial: Vec<Arc<Stored>> = selected.map(|(_, stored)| stored.clone()).collect();
    let watcher = Watcher {
        server: call.server.clone(),
        kind: call.kind().clone(),
        filter,
        cursor: start.unwrap_or(revision),
        started: start.is_none(),
        initial: initial.into_iter(),
        changed,
        deadline,
        next_bookmark: bookmarks
            .then(|| next_bookmark(call.server.bookmark_period, now, deadline))
            .flatten(),
        ended: false,
    };
    Ok(protocol::watch(futures_util::stream::unfold(watcher, |mut watcher| async move {
        watcher.next().await.map(|bytes| (bytes, watcher))
    })))
}

fn check_options(query: &Query) -> Result<()> {
    let mut errors = FieldErrors::default();
    let initial = query.optional_flag("sendInitialEvents").is_some();
    let rule = query.text("resourceVersionMatch");
    let field = "resourceVersionMatch";
    if initial {
        if rule != Some("NotOlderThan") {
            errors.forbidden(
                field,
                "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
            );
        }
        let why =
            "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
        errors.forbidden("sendInitialEvents", why);
    }
    if let Some(rule) = rule {
        if !initial {
            errors.forbidden(
                field,
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
            );
        }
        if rule != "NotOlderThan" {
            errors.unsupported(field, rule, &["NotOlderThan"]);
        }
        if query.text("continue").is_some() {
            errors.forbidden(field, "resourceVersionMatch is forbidden when continue is provided");
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(failure::invalid_options("ListOptions", &errors)) }
}

fn not_a_version(kind: &ResourceKind, text: &str) -> StatusError {
    let mut errors = FieldErrors::default();
    errors.invalid("resourceVersion", text, "strconv.ParseUint: invalid syntax");
    failure::invalid(&kind.group, &kind.plural, "", &errors)
}

struct Watcher {
    server: Arc<Inner>,
    kind: Arc<ResourceKind>,
    filter: Filter,
    /// All changes up to this revision were sent, or need not be.
    cursor: u64,
    /// Whether history was found to reach back to where the watch begins.
    started: bool,
    /// What exists and still has to be announced.
    initial: std::vec::IntoIter<Arc<Stored>>,
    changed: Receiver<u64>,
    deadline: Instant,
    next_bookmark: Option<Instant>,
    ended: bool,
}

impl Watcher {
    /// The next bytes of the stream, whole events only; `None` at its end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            // Also without anything to wait for, a reader that never stops must let others run.
            tokio::task::consume_budget().await;
            if self.ended || self.server.shutdown.is_cancelled() || Instant::now() >= self.deadline
            {
                return None;
            }
            match self.announce() {
                Ok(bytes) if bytes.is_empty() => {}
                Ok(bytes) => return Some(bytes),
                Err(refusal) => return self.fail(&refusal),
            }
            match self.read() {
                Ok(Read::Nothing) => {}
                Ok(Read::Unselected) => continue,
                Ok(Read::Events(bytes)) => return Some(bytes),
                Err(refusal) => return self.fail(&refusal),
            }
            if self.next_bookmark.is_some_and(|at| Instant::now() >= at) {
                self.next_bookmark =
                    next_bookmark(self.server.bookmark_period, Instant::now(), self.deadline);
                return Some(self.bookmark());
            }
            self.wait().await;
        }
    }

    async fn wait(&mut self) {
        let wake = self.next_bookmark.unwrap_or(self.deadline).min(self.deadline);
        tokio::select! {
            _ = self.changed.changed() => {}
            () = tokio::time::sleep_until(wake) => {}
            () = self.server.shutdown.cancelled() => {}
        }
    }

    /// Synthetic events for the next part of what exists; empty when all is announced.
    fn announce(&mut self) -> Result<Bytes> {
        let mut bytes = Vec::new();
        while bytes.len() < PIECE {
            let Some(stored) = self.initial.next() else {
                break;
            };
            bytes.extend_from_slice(
                &ChangeKind::Added.frame(&protocol::served_bytes(&self.kind, &stored)?),
            );
        }
        Ok(bytes.into())
    }

    fn read(&mut self) -> Result<Read> {
        self.changed.mark_unchanged();
        let changes = {
            let state = self.server.store.lock();
            let changes = state.changes_after(&self.kind, self.cursor, self.started, BATCH);
            let changes = changes.map_err(|TooOld { oldest }| {
                failure::expired(format!("too old resource version: {} ({oldest})", self.cursor))
            })?;
            self.started = true;
            if changes.is_empty() {
                // Nothing was missed up to now. A version from the future stays: its changes are to come.
                self.cursor = self.cursor.max(state.revision());
                return Ok(Read::Nothing);
            }
            changes
        };
        let (mut frames, mut size) = (Vec::new(), 0);
        for change in &changes {
            if let Some(frame) = self.event(change)? {
                size += frame.len();
                frames.push(frame);
            }
            self.cursor = self.cursor.max(change.revision());
            if size >= BATCH_BYTES {
                break;
            }
        }
        Ok(match frames.len() {
            0 => Read::Unselected,
            1 => Read::Events(frames.swap_remove(0)),
            _ => Read::Events(frames.concat().into()),
        })
    }

    /// What a change looks like through the selectors: one that brings an object in is its creation, one
    /// that takes it out its deletion.
    fn event(&self, change: &Change) -> Result<Option<Bytes>> {
        let (kind, key) = (&self.kind, &change.key);
        if !self.filter.covers(key) {
            return Ok(None);
        }
        let before =
            change.previous.as_ref().is_some_and(|held| self.filter.matches(kind, key, held));
        let after =
            change.kind != ChangeKind::Deleted && self.filter.matches(kind, key, &change.object);
        match (before, after) {
            (false, false) => Ok(None),
            (false, true) => self.frame(ChangeKind::Added, change.kind, &change.object).map(Some),
            (true, true) => self.frame(ChangeKind::Modified, change.kind, &change.object).map(Some),
            (true, false) if change.kind == ChangeKind::Deleted => {
                self.frame(ChangeKind::Deleted, change.kind, &change.object).map(Some)
            }
            (true, false) => Ok(Some(ChangeKind::Deleted.frame(&change.left(kind)?))),
        }
    }

    /// The frame that announces `stored` as `shown`; its own one where it was encoded as that.
    fn frame(&self, shown: ChangeKind, encoded: ChangeKind, stored: &Stored) -> Result<Bytes> {
        if self.kind.stored_elsewhere {
            Ok(shown.frame(&protocol::served_bytes(&self.kind, stored)?))
        } else if shown == encoded {
            Ok(stored.frame().clone())
        } else {
            Ok(shown.frame(stored.bytes()))
        }
    }

    fn bookmark(&self) -> Bytes {
        let start = object::type_prefix(&self.kind);
        let version = self.cursor;
        let text = format!(
            "{{\"type\":\"BOOKMARK\",\"object\":{start}\"metadata\":{{\"resourceVersion\":\"{version}\"}}}}}}\n"
        );
        text.into()
    }

    /// A watch that has begun is refused by its last event.
    fn fail(&mut self, refusal: &StatusError) -> Option<Bytes> {
        self.ended = true;
        Some(error_frame(refusal.status()))
    }
}

enum Read {
    /// No change since.
    Nothing,
    /// Changes, none of them selected.
    Unselected,
    Events(Bytes),
}

fn error_frame(status: &Status) -> Bytes {
    let status = serde_json::to_string(status).unwrap_or_default();
    format!("{{\"type\":\"ERROR\",\"object\":{status}}}\n").into()
}

/// Once a period, and once shortly before the end.
fn next_bookmark(period: Duration, now: Instant, deadline: Instant) -> Option<Instant> {
    let last = deadline.checked_sub(BEFORE_TIMEOUT).filter(|last| *last > now)?;
    Some(now.checked_add(period).map_or(last, |next| next.min(last)))
}
