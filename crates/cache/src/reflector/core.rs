//! What a reflector does next: a state machine without IO.
//!
//! It is told what came and when, and answers what to do and what to put into the queue. The task in
//! `task.rs` is its only caller in production; a simulation plays other schedules to it.
//!
//! The rules are client-go's, with these differences, each of which only saves requests or keeps the store truer:
//! a broken connection leads to another watch from the same version, not to a list; a watch counts as
//! too short when it brought no *progress*, not only when it brought no event; several watches in a row without any news,
//! short or long, lead to a list, since a server that was set back to an older state keeps a watch from a version
//! that it has not reached silent; and a version never goes back within a watch.
//!
//! Each request has a [`Call`], and what comes for another than the newest is ignored: an answer that comes late, or
//! after its end, changes nothing.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use kubewright_meta::{ObjectKey, WatchOptions};
use kubewright_wire::RawWatchEvent;

use super::action::{Action, Call, ReflectorOptions, Step};
use super::backoff::Backoff;
use super::failure::{Cause, Failure};
use super::listing::Listing;
use super::status::{Phase, ReflectorMonitor, ReflectorStatus};
use crate::object::Decoder;
use crate::version::is_older;
use crate::{CachedObject, Delta, Indexer};

/// A watch that ends sooner, without progress, is a failure.
const VERY_SHORT: Duration = Duration::from_secs(1);
/// After so many watches in a row without news the version is suspect: the reflector lists again.
const SILENT_WATCHES_BEFORE_LIST: u32 = 3;
/// Where a list did not help, it takes four times as many each time, up to this.
const MOST_SILENT_WATCHES: u32 = 48;
/// The least a watch is asked to last when nothing else is said; the most is twice that.
pub(super) const MIN_WATCH_TIMEOUT: Duration = Duration::from_secs(300);
/// What may be said instead.
const SENSIBLE_WATCH_TIMEOUTS: RangeInclusive<Duration> =
    Duration::from_secs(1)..=Duration::from_secs(86_400);
/// However long the server asks to wait.
const MOST_WAIT: Duration = Duration::from_secs(600);

/// The state of a reflector.
pub struct ReflectorCore<K> {
    pub(super) options: ReflectorOptions,
    kind: String,
    pub(super) decoder: Decoder<K>,
    pub(super) store: Indexer<K>,
    random: fastrand::Rng,
    backoff: Backoff,
    /// The request under way.
    call: Option<Call>,
    calls: u64,
    pub(super) next: Next,
    not_before: Option<Instant>,
    /// The version seen last: of the last list, or of the last event or bookmark behind it.
    pub(super) version: String,
    /// The server no longer has that version, or not yet: the next list asks for the newest state.
    pub(super) version_unusable: bool,
    /// The server cut a list at version 0 into pages, so it has no watch cache that answers lists.
    pub(super) server_pages: bool,
    pub(super) listing: Option<Listing<K>>,
    watch: Option<Watching>,
    silent_watches: u32,
    silent_watches_allowed: u32,
    pub(super) status: ReflectorMonitor,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Next {
    List,
    Watch,
}

#[derive(Clone, Copy, PartialEq)]
enum Change {
    Added,
    Modified,
    Deleted,
}

struct Watching {
    began: Instant,
    from: String,
    opened: bool,
    /// Something came that was not older than what was known.
    heard: bool,
    /// Whether versions of events count. A watch from no version or from 0 begins with additions in any order.
    ordered: bool,
}

impl<K> ReflectorCore<K> {
    /// A reflector at its beginning. `kind` is the object's kind, such as `Pod`: events about others are left out.
    /// `store` is where its deltas end up: what a list has in common with it is not kept twice.
    pub fn new(
        kind: impl Into<String>,
        options: ReflectorOptions,
        decoder: Decoder<K>,
        store: Indexer<K>,
    ) -> Self {
        let random = options.seed.map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed);
        Self {
            options,
            kind: kind.into(),
            decoder,
            store,
            random,
            backoff: Backoff::new(),
            call: None,
            calls: 0,
            next: Next::List,
            not_before: None,
            version: String::new(),
            version_unusable: false,
            server_pages: false,
            listing: None,
            watch: None,
            silent_watches: 0,
            silent_watches_allowed: SILENT_WATCHES_BEFORE_LIST,
            status: ReflectorMonitor::default(),
        }
    }

    /// What it is doing and has seen.
    pub fn status(&self) -> ReflectorStatus {
        self.status.status()
    }

    /// A view of that for others.
    pub fn monitor(&self) -> ReflectorMonitor {
        self.status.clone()
    }

    /// What to do at `now`. A request that is under way is over with this: nothing that comes of it still counts.
    pub fn next_action(&mut self, now: Instant) -> Action {
        self.call = None;
        self.watch = None;
        self.drop_half_a_page();
        if let Some(until) = self.not_before {
            if now < until {
                self.status.change(|status| status.phase = Phase::BackingOff);
                return Action::Sleep(until - now);
            }
            self.not_before = None;
        }
        self.calls += 1;
        let call = Call(self.calls);
        self.call = Some(call);
        match self.next {
            Next::List => Action::List(call, self.list_request()),
            Next::Watch => Action::Watch(call, self.watch_request(now)),
        }
    }

    /// Whether what comes of `call` counts.
    pub(super) fn is_under_way(&self, call: Call) -> bool {
        self.call == Some(call)
    }

    /// The same, and ends it.
    pub(super) fn end(&mut self, call: Call) -> bool {
        let counts = self.is_under_way(call);
        if counts {
            self.call = None;
        }
        counts
    }

    fn watch_request(&mut self, now: Instant) -> WatchOptions {
        self.status.change(|status| {
            status.phase = Phase::Watching;
            status.watches += 1;
        });
        self.watch = Some(Watching {
            began: now,
            from: self.version.clone(),
            opened: false,
            heard: false,
            ordered: !matches!(self.version.as_str(), "" | "0"),
        });
        let min = self.options.min_watch_timeout.unwrap_or(MIN_WATCH_TIMEOUT);
        let min = min.clamp(*SENSIBLE_WATCH_TIMEOUTS.start(), *SENSIBLE_WATCH_TIMEOUTS.end());
        WatchOptions {
            labels: self.options.labels.clone(),
            fields: self.options.fields.clone(),
            resource_version: Some(self.version.clone()).filter(|version| !version.is_empty()),
            timeout: Some(min.mul_f64(1.0 + self.random.f64())),
            ..WatchOptions::default()
        }
    }

    /// An object of a list, or an event, could not be read; `key` says of which object, where that much is known. It is
    /// counted and logged, and the others go on. The store keeps what it has of the object, also where a list names
    /// it: that it cannot be read does not mean that it is gone.
    pub fn bad_object(&mut self, call: Call, key: Option<&ObjectKey>, message: impl Into<String>) {
        if !self.is_under_way(call) {
            return;
        }
        let message = message.into();
        tracing::warn!(
            kind = self.kind,
            ?key,
            error = message,
            "object left out: it cannot be read"
        );
        if let Some(listing) = &mut self.listing {
            listing.unreadable.extend(key.cloned());
        }
        self.status.change(|status| {
            status.bad_objects += 1;
            status.last_error = Some(message);
        });
    }

    /// The server has accepted the watch.
    pub fn watch_opened(&mut self, call: Call) {
        if self.is_under_way(call)
            && let Some(watch) = &mut self.watch
        {
            watch.opened = true;
        }
    }

    /// An event of the watch.
    pub fn watch_event(&mut self, call: Call, now: Instant, event: RawWatchEvent) -> Step<K> {
        if !self.is_under_way(call) || self.watch.is_none() {
            return Step::Stop;
        }
        let (raw, change) = match event {
            RawWatchEvent::Added(raw) => (raw, Change::Added),
            RawWatchEvent::Modified(raw) => (raw, Change::Modified),
            RawWatchEvent::Deleted(raw) => (raw, Change::Deleted),
            RawWatchEvent::Bookmark { resource_version, .. } => {
                self.status.change(|status| status.bookmarks += 1);
                return match self.advance(&resource_version, false) {
                    true => Step::Push(Delta::Bookmark { resource_version }),
                    false => Step::Continue,
                };
            }
            RawWatchEvent::Error(status) => {
                self.watch_refused(now, Failure::of_status(&status));
                return Step::Stop;
            }
        };
        let kind = raw.kind().filter(|kind| *kind != self.kind).map(str::to_owned);
        if let Some(kind) = kind {
            let message = format!("an event about a {kind} came in a watch of {}", self.kind);
            self.bad_object(call, Some(raw.key()), message);
            return Step::Continue;
        }
        if raw.name().is_empty() {
            self.bad_object(call, None, "an event about an object without a name");
            return Step::Continue;
        }
        self.status.change(|status| status.events += 1);
        let object = CachedObject::new(raw, &self.decoder);
        self.advance(object.resource_version(), change == Change::Added);
        Step::Push(match change {
            Change::Added => Delta::Added(object),
            Change::Modified => Delta::Updated(object),
            Change::Deleted => Delta::Deleted(object),
        })
    }

    /// Moves the version from which the next watch goes on. False when `version` is older than that.
    fn advance(&mut self, version: &str, added: bool) -> bool {
        let older = version.is_empty() || is_older(version, &self.version);
        if let Some(watch) = &mut self.watch {
            watch.heard |= !older;
            if !watch.ordered && added {
                return true;
            }
            watch.ordered = true;
        }
        if older {
            return false;
        }
        version.clone_into(&mut self.version);
        self.status.change(|status| version.clone_into(&mut status.resource_version));
        true
    }

    /// The watch ended: the server closed it (`None`), or something failed.
    pub fn watch_ended(&mut self, call: Call, now: Instant, failure: Option<Failure>) {
        if !self.end(call) {
            return;
        }
        let Some(watch) = self.watch.take() else {
            return;
        };
        match failure {
            // An open stream that breaks is a stream that ended.
            Some(failure) if watch.opened && failure.cause == Cause::Connection => {
                self.note(&failure);
                self.watch_closed(now, watch);
            }
            Some(failure) => self.watch_refused(now, failure),
            None => self.watch_closed(now, watch),
        }
    }

    fn watch_closed(&mut self, now: Instant, watch: Watching) {
        let lasted = now.saturating_duration_since(watch.began);
        let short = lasted < VERY_SHORT;
        if watch.from != self.version || (watch.heard && !short) {
            self.silent_watches = 0;
            self.silent_watches_allowed = SILENT_WATCHES_BEFORE_LIST;
            return;
        }
        // Some servers end a watch from a version they no longer have without saying so, and all are silent about one
        // they have not reached.
        self.silent_watches += 1;
        if self.silent_watches >= self.silent_watches_allowed {
            self.next = Next::List;
            self.silent_watches = 0;
            self.silent_watches_allowed =
                (self.silent_watches_allowed * 4).min(MOST_SILENT_WATCHES);
        }
        let message = format!("the watch from {} ended after {lasted:?} without news", watch.from);
        if short {
            self.back_off(now, &Failure::new(Cause::Other, message));
        } else {
            tracing::debug!(kind = self.kind, next = ?self.next, "{message}");
        }
    }

    fn watch_refused(&mut self, now: Instant, failure: Failure) {
        self.call = None;
        self.watch = None;
        self.next = match failure.cause {
            // Nothing is wrong with the version.
            Cause::TooManyRequests | Cause::Connection => Next::Watch,
            // A list that asks for at least the version seen is enough, even where that one is gone.
            Cause::Expired | Cause::VersionTooLarge | Cause::Other => Next::List,
        };
        self.back_off(now, &failure);
    }

    pub(super) fn back_off(&mut self, now: Instant, failure: &Failure) {
        self.note(failure);
        let wait = self.backoff.after_failure(now, &mut self.random);
        let asked = failure.retry_after.unwrap_or_default().min(MOST_WAIT);
        let wait = wait.max(asked);
        tracing::warn!(kind = self.kind, error = failure.message, ?wait, "reflector waits");
        self.not_before = Some(now + wait);
    }

    pub(super) fn note(&self, failure: &Failure) {
        tracing::debug!(kind = self.kind, error = failure.message, "reflector has to try again");
        self.status.change(|status| {
            status.failures += 1;
            status.last_error = Some(failure.message.clone());
        });
    }
}

#[cfg(test)]
#[path = "core_tests/mod.rs"]
mod tests;
