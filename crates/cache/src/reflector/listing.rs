//! How a reflector lists: which version it asks for, in which pages, and when a list counts.

use std::time::Instant;

use kubewright_meta::{ListOptions, ObjectKey};
use kubewright_wire::{ListEnd, RawObject};

use super::action::Call;
use super::core::{Next, ReflectorCore};
use super::failure::{Cause, Failure};
use super::status::Phase;
use crate::version::is_older;
use crate::{CachedObject, Delta, Indexer};

/// The page size of a first list. The server's watch cache, which answers most lists, ignores it.
const DEFAULT_PAGE_SIZE: u32 = 500;

/// A list being read. Nothing of it counts before its end.
pub(super) struct Listing<K> {
    pub(super) version: String,
    pub(super) continue_token: Option<String>,
    /// Without pages, since a page token expired.
    pub(super) whole: bool,
    /// The version of the first page: later pages are of the same state, or of a newer one.
    pub(super) list_version: Option<String>,
    pub(super) objects: Vec<CachedObject<K>>,
    /// Objects of the list that could not be read.
    pub(super) unreadable: Vec<ObjectKey>,
    /// Whether what the store has of the same version may stand for what comes.
    reuse: bool,
    /// How many of both are of pages that were read to their ends.
    paged: (usize, usize),
}

impl<K> Listing<K> {
    fn of(version: String, store: &Indexer<K>) -> Self {
        // A server that was set back may use a version twice. A list that asks for no version may be of such a server;
        // and where the store is newer than what is asked for, it has yet to be set back itself.
        let reuse = !version.is_empty() && !is_older(&version, &store.resource_version());
        Self {
            version,
            reuse,
            continue_token: None,
            whole: false,
            list_version: None,
            objects: Vec::new(),
            unreadable: Vec::new(),
            paged: (0, 0),
        }
    }
}

impl<K> ReflectorCore<K> {
    pub(super) fn list_request(&mut self) -> ListOptions {
        self.status.change(|status| status.phase = Phase::Listing);
        let version = self.list_version();
        let listing = self.listing.get_or_insert_with(|| Listing::of(version, &self.store));
        let mut request = ListOptions {
            labels: self.options.labels.clone(),
            fields: self.options.fields.clone(),
            ..ListOptions::default()
        };
        let served_from_cache = !matches!(listing.version.as_str(), "" | "0");
        request.limit = match self.options.page_size {
            _ if listing.whole => None,
            Some(size) => Some(size).filter(|size| *size > 0),
            None if self.server_pages || !served_from_cache => Some(DEFAULT_PAGE_SIZE),
            None => None,
        };
        match &listing.continue_token {
            // The token says which state it continues; a version beside it is an error.
            Some(token) => request.continue_token = Some(token.clone()),
            None => {
                request.resource_version =
                    Some(listing.version.clone()).filter(|version| !version.is_empty());
            }
        }
        request
    }

    /// The version a list asks for: the first takes what the server has at hand; later ones must not go back behind
    /// what was seen.
    fn list_version(&self) -> String {
        match (self.version_unusable, self.version.as_str()) {
            (true, _) => String::new(),
            (false, "") => "0".to_owned(),
            (false, seen) => seen.to_owned(),
        }
    }

    /// What came of a page that was not read to its end is not of the list.
    pub(super) fn drop_half_a_page(&mut self) {
        if let Some(listing) = &mut self.listing {
            listing.objects.truncate(listing.paged.0);
            listing.unreadable.truncate(listing.paged.1);
        }
    }

    /// An object of the list.
    pub fn list_item(&mut self, call: Call, raw: RawObject) {
        if !self.is_under_way(call) {
            return;
        }
        if raw.name().is_empty() {
            self.bad_object(call, None, "an object without a name");
            return;
        }
        let Some(listing) = &mut self.listing else {
            return;
        };
        // What is held already is not kept a second time while a long list is read.
        let held = match listing.reuse {
            true => self.store.get(raw.key()),
            false => None,
        };
        let object = held
            .filter(|held| held.is_version(&raw))
            .unwrap_or_else(|| CachedObject::new(raw, &self.decoder));
        listing.objects.push(object);
    }

    /// The end of a page. Gives the whole list when it was the last.
    pub fn list_end(&mut self, call: Call, end: ListEnd) -> Option<Delta<K>> {
        if !self.end(call) {
            return None;
        }
        let mut listing = self.listing.take()?;
        let list_version = listing.list_version.take().unwrap_or(end.resource_version);
        if is_older(&list_version, &listing.version) {
            let message = format!(
                "the list is of version {list_version}, and at least {} was asked for",
                listing.version
            );
            self.note(&Failure::new(Cause::VersionTooLarge, message));
            self.version_unusable = true;
            return None;
        }
        if let Some(token) = end.continue_token {
            self.server_pages |= listing.version == "0";
            listing.continue_token = Some(token);
            listing.list_version = Some(list_version);
            listing.paged = (listing.objects.len(), listing.unreadable.len());
            self.listing = Some(listing);
            return None;
        }
        self.version.clone_from(&list_version);
        self.version_unusable = false;
        self.next = Next::Watch;
        self.status.change(|status| {
            status.lists += 1;
            status.resource_version.clone_from(&list_version);
        });
        Some(Delta::ReplacedAll {
            resource_version: list_version,
            objects: listing.objects,
            unreadable: listing.unreadable,
        })
    }

    /// A page could not be read to its end. What was read of the list is dropped.
    pub fn list_failed(&mut self, call: Call, now: Instant, failure: Failure) {
        if !self.end(call) {
            return;
        }
        let listing = self.listing.take();
        let (version, paged) = listing
            .map(|listing| (listing.version, listing.continue_token.is_some()))
            .unwrap_or_default();
        match failure.cause {
            // The pages took longer than the server keeps a state: once more, in one piece.
            Cause::Expired if paged => {
                self.note(&failure);
                self.listing = Some(Listing { whole: true, ..Listing::of(version, &self.store) });
            }
            Cause::Expired | Cause::VersionTooLarge if !version.is_empty() => {
                self.note(&failure);
                self.version_unusable = true;
            }
            _ => self.back_off(now, &failure),
        }
    }
}
