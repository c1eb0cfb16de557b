//! What a reflector does next: a state machine without IO.
//!
//! It is told what came and when, and answers what to do and what to put into the queue. The task in
//! `task.rs` is its only caller in production; a simulation plays other schedules to it.
//!
//! The rules are client-go's, with these differences, each of which only saves requests or keeps the store truer:
//! a broken connection leads to another watch from the same version, not to a list; a watch counts as
//! too short when it brought no *progress*, not only when it brought no event; and a version never goes back within a
//! watch.

use std::time::{Duration, Instant};

use kubewright_meta::{ObjectKey, WatchOptions};
use kubewright_wire::RawWatchEvent;

use super::action::{Action, ReflectorOptions, Step};
use super::backoff::Backoff;
use super::failure::{Cause, Failure};
use super::listing::Listing;
use super::status::{Phase, ReflectorMonitor, ReflectorStatus};
use crate::object::Decoder;
use crate::version::is_older;
use crate::{CachedObject, Delta, Indexer};

/// A watch that ends sooner, without progress, is a failure.
const VERY_SHORT: Duration = Duration::from_secs(1);
/// After so many such watches in a row the version is suspect: the reflector lists again.
const SHORT_WATCHES_BEFORE_LIST: u32 = 3;
/// The least a watch is asked to last when nothing else is said; the most is twice that.
pub(super) const MIN_WATCH_TIMEOUT: Duration = Duration::from_secs(300);

/// The state of a reflector.
pub struct ReflectorCore<K> {
    pub(super) options: ReflectorOptions,
    kind: String,
    pub(super) decoder: Decoder<K>,
    pub(super) store: Indexer<K>,
    random: fastrand::Rng,
    backoff: Backoff,
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
    short_watches: u32,
    short_watches_allowed: u32,
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
        let random = options
            .seed
            .map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed);
        Self {
            options,
            kind: kind.into(),
            decoder,
            store,
            random,
            backoff: Backoff::new(),
            next: Next::List,
            not_before: None,
            version: String::new(),
            version_unusable: false,
            server_pages: false,
            listing: None,
            watch: None,
            short_watches: 0,
            short_watches_allowed: SHORT_WATCHES_BEFORE_LIST,
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

    /// What to do at `now`.
    pub fn next_action(&mut self, now: Instant) -> Action {
        if let Some(until) = self.not_before {
            if now < until {
                self.status
                    .change(|status| status.phase = Phase::BackingOff);
                return Action::Sleep(until - now);
            }
            self.not_before = None;
        }
        match self.next {
            Next::List => Action::List(self.list_request()),
            Next::Watch => Action::Watch(self.watch_request(now)),
        }
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
            ordered: !matches!(self.version.as_str(), "" | "0"),
        });
        let min = self.options.min_watch_timeout.unwrap_or(MIN_WATCH_TIMEOUT);
        WatchOptions {
            labels: self.options.select.labels.clone(),
            fields: self.options.select.fields.clone(),
            resource_version: Some(self.version.clone()).filter(|version| !version.is_empty()),
            timeout: Some(min.mul_f64(1.0 + self.random.f64())),
            ..WatchOptions::default()
        }
    }

    /// An object of a list, or an event, could not be read. The others go on. Where the list still names it, the
    /// version that the store has stays.
    pub fn bad_object(&mut self, key: Option<&ObjectKey>, message: impl Into<String>) {
        let message = message.into();
        tracing::warn!(
            kind = self.kind,
            ?key,
            error = message,
            "object left out: it cannot be read"
        );
        if let (Some(listing), Some(key)) = (&mut self.listing, key) {
            listing.objects.extend(self.store.get(key));
        }
        self.status.change(|status| {
            status.bad_objects += 1;
            status.last_error = Some(message);
        });
    }

    /// The server has accepted the watch.
    pub fn watch_opened(&mut self) {
        if let Some(watch) = &mut self.watch {
            watch.opened = true;
        }
    }

    /// An event of the watch.
    pub fn watch_event(&mut self, now: Instant, event: RawWatchEvent) -> Step<K> {
        let (raw, change) = match event {
            RawWatchEvent::Added(raw) => (raw, Change::Added),
            RawWatchEvent::Modified(raw) => (raw, Change::Modified),
            RawWatchEvent::Deleted(raw) => (raw, Change::Deleted),
            RawWatchEvent::Bookmark {
                resource_version, ..
            } => {
                self.status.change(|status| status.bookmarks += 1);
                self.advance(&resource_version, false);
                return Step::Push(Delta::Bookmark { resource_version });
            }
            RawWatchEvent::Error(status) => {
                self.watch_refused(now, Failure::of_status(&status));
                return Step::Stop;
            }
        };
        let kind = raw
            .kind()
            .filter(|kind| *kind != self.kind)
            .map(str::to_owned);
        if let Some(kind) = kind {
            let message = format!("an event about a {kind} came in a watch of {}", self.kind);
            self.bad_object(Some(&raw.key().clone()), message);
            return Step::Continue;
        }
        if raw.name().is_empty() {
            self.bad_object(None, "an event about an object without a name");
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

    /// Moves the version from which the next watch goes on.
    fn advance(&mut self, version: &str, added: bool) {
        if let Some(watch) = &mut self.watch {
            if !watch.ordered && added {
                return;
            }
            watch.ordered = true;
        }
        if version.is_empty() || is_older(version, &self.version) {
            return;
        }
        version.clone_into(&mut self.version);
        self.status
            .change(|status| version.clone_into(&mut status.resource_version));
    }

    /// The watch ended: the server closed it (`None`), or something failed.
    pub fn watch_ended(&mut self, now: Instant, failure: Option<Failure>) {
        let opened = self.watch.as_ref().is_some_and(|watch| watch.opened);
        match failure {
            // An open stream that breaks is a stream that ended.
            Some(failure) if opened && failure.cause == Cause::Connection => {
                self.note(&failure);
                self.watch_closed(now);
            }
            Some(failure) => self.watch_refused(now, failure),
            None => self.watch_closed(now),
        }
    }

    fn watch_closed(&mut self, now: Instant) {
        let Some(watch) = self.watch.take() else {
            return;
        };
        let lasted = now.saturating_duration_since(watch.began);
        if lasted >= VERY_SHORT || watch.from != self.version {
            self.short_watches = 0;
            self.short_watches_allowed = SHORT_WATCHES_BEFORE_LIST;
            return;
        }
        // Some servers end a watch from a version they no longer have without saying so.
        self.short_watches += 1;
        if self.short_watches >= self.short_watches_allowed {
            self.next = Next::List;
            self.short_watches = 0;
            // If a new list does not help, the version was not the reason.
            self.short_watches_allowed = self.short_watches_allowed.saturating_mul(4);
        }
        let message = format!(
            "the watch from {} ended after {lasted:?} without news",
            watch.from
        );
        self.back_off(now, &Failure::new(Cause::Other, message));
    }

    fn watch_refused(&mut self, now: Instant, failure: Failure) {
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
        let wait = wait.max(failure.retry_after.unwrap_or_default());
        tracing::warn!(
            kind = self.kind,
            error = failure.message,
            ?wait,
            "reflector waits"
        );
        self.not_before = Some(now + wait);
    }

    pub(super) fn note(&self, failure: &Failure) {
        tracing::debug!(
            kind = self.kind,
            error = failure.message,
            "reflector has to try again"
        );
        self.status.change(|status| {
            status.failures += 1;
            status.last_error = Some(failure.message.clone());
        });
    }
}

#[cfg(test)]
#[path = "core_tests.rs"]
mod tests;
