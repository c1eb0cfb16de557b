//! The same thing again and again is one event with a count.
//!
//! The first occurrence is an event, the second makes it a series and is sent, further ones are only counted here;
//! the count is sent every half hour while it goes on, and once more when it has been quiet for six minutes.

use std::time::Duration;

use hashbrown::HashMap;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::{Event, EventSeries};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use tokio::time::Instant;

use super::spam::SpamFilter;

/// A series whose count has grown is sent this often.
const REFRESH: Duration = Duration::from_secs(30 * 60);
/// After this much silence a series is over.
const FINISH: Duration = Duration::from_secs(6 * 60);
/// How many events, and how many objects, are kept in mind.
const MAX_TRACKED: usize = 4096;

/// Something to tell the API server.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Request {
    /// A new event.
    Create(Box<Event>),
    /// An event whose series has grown; it carries the new series.
    Update(Box<Event>),
}

/// What happened lately.
pub(super) struct SeriesBook {
    entries: HashMap<SeriesKey, Entry>,
    spam: SpamFilter<SpamKey>,
}

/// What makes two occurrences the same thing: all that people read. The note is part of it, since an event keeps only one:
/// the names of four out of five created pods would be lost.
#[derive(Clone, PartialEq, Eq, Hash)]
struct SeriesKey {
    event_type: Option<String>,
    reason: Option<String>,
    action: Option<String>,
    note: Option<String>,
    regarding: Reference,
    related: Option<Reference>,
}

/// The object and the type of event; why is not part of it.
type SpamKey = (Reference, Option<String>);

/// An object reference without its resource version, which would make every occurrence another thing.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct Reference([Option<String>; 6]);

impl Reference {
    fn of(object: &ObjectReference) -> Self {
        let ObjectReference { api_version, kind, namespace, name, uid, field_path, .. } = object;
        Self([api_version, kind, namespace, name, uid, field_path].map(Clone::clone))
    }
}

struct Entry {
    event: Event,
    count: i32,
    /// The count that the API server was last told; 1 for an event without series.
    sent_count: i32,
    sent_at: Instant,
    last_at: Instant,
    last_time: Timestamp,
}

impl Entry {
    /// The event with its series as it is now, if the API server has not been told.
    fn update(&mut self, now: Instant) -> Option<Request> {
        if self.count == self.sent_count {
            return None;
        }
        self.sent_count = self.count;
        self.sent_at = now;
        let last_observed_time = MicroTime(self.last_time);
        self.event.series = Some(EventSeries { count: self.count, last_observed_time });
        Some(Request::Update(Box::new(self.event.clone())))
    }

    fn is_over(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.last_at) >= FINISH
    }
}

/// What to send after an occurrence.
pub(super) enum Observed {
    /// Up to two: an older series that ends to make room, and this.
    Send(Vec<Request>),
    /// Nothing now, it was counted.
    Counted,
    /// Nothing ever: there was too much about this object.
    Suppressed,
}

impl SeriesBook {
    pub(super) fn new() -> Self {
        Self { entries: HashMap::new(), spam: SpamFilter::new(MAX_TRACKED) }
    }

    /// Something happened at `now`, which is `time` on the wall.
    pub(super) fn observe(&mut self, event: Event, now: Instant, time: Timestamp) -> Observed {
        let regarding = event.regarding.as_ref().map(Reference::of).unwrap_or_default();
        let spam_key = (regarding.clone(), event.type_.clone());
        let key = SeriesKey {
            event_type: event.type_.clone(),
            reason: event.reason.clone(),
            action: event.action.clone(),
            note: event.note.clone(),
            regarding,
            related: event.related.as_ref().map(Reference::of),
        };
        let mut requests = Vec::new();
        match self.entries.get_mut(&key) {
            Some(entry) if !entry.is_over(now) => {
                entry.count = entry.count.saturating_add(1);
                entry.last_at = now;
                entry.last_time = time;
                let is_new_series = entry.sent_count == 1;
                if is_new_series && self.spam.allow(&spam_key, now) {
                    requests.extend(entry.update(now));
                }
            }
            ended => {
                requests.extend(ended.and_then(|entry| entry.update(now)));
                self.entries.remove(&key);
                if !self.spam.allow(&spam_key, now) {
                    return if requests.is_empty() {
                        Observed::Suppressed
                    } else {
                        Observed::Send(requests)
                    };
                }
                requests.extend(self.make_room(now));
                requests.push(Request::Create(Box::new(event.clone())));
                let entry = Entry {
                    event,
                    count: 1,
                    sent_count: 1,
                    sent_at: now,
                    last_at: now,
                    last_time: time,
                };
                self.entries.insert(key, entry);
            }
        }
        if requests.is_empty() { Observed::Counted } else { Observed::Send(requests) }
    }

    /// The updates that are due; to be asked about once a minute.
    pub(super) fn due(&mut self, now: Instant) -> Vec<Request> {
        self.spam.prune(now);
        let mut requests = Vec::new();
        self.entries.retain(|_, entry| {
            let over = entry.is_over(now);
            if over || now.saturating_duration_since(entry.sent_at) >= REFRESH {
                requests.extend(entry.update(now));
            }
            !over
        });
        requests
    }

    /// Ends every series: the updates that are still to be sent.
    pub(super) fn finish(&mut self, now: Instant) -> Vec<Request> {
        self.entries.drain().filter_map(|(_, mut entry)| entry.update(now)).collect()
    }

    /// Ends the series that has been quiet longest, if there are too many.
    fn make_room(&mut self, now: Instant) -> Option<Request> {
        if self.entries.len() < MAX_TRACKED {
            return None;
        }
        let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.last_at);
        let key = oldest.map(|(key, _)| key.clone())?;
        self.entries.remove(&key)?.update(now)
    }
}

#[cfg(test)]
#[path = "series_tests.rs"]
mod tests;
