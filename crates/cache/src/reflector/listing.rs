//! How a reflector lists: which version it asks for, in which pages, and when a list counts.

use std::time::Instant;

use kubewright_meta::ListOptions;
use kubewright_wire::{ListEnd, RawObject};

use super::core::{Next, ReflectorCore};
use super::failure::{Cause, Failure};
use super::status::Phase;
use crate::{CachedObject, Delta};

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
}

impl<K> ReflectorCore<K> {
    pub(super) fn list_request(&mut self) -> ListOptions {
        self.status.change(|status| status.phase = Phase::Listing);
        let version = self.list_version();
        let listing = self.listing.get_or_insert_with(|| Listing {
            version,
            continue_token: None,
            whole: false,
            list_version: None,
            objects: Vec::new(),
        });
        let mut request = ListOptions {
            labels: self.options.select.labels.clone(),
            fields: self.options.select.fields.clone(),
            ..ListOptions::default()
        };
        let served_from_cache = !matches!(listing.version.as_str(), "" | "0");
        request.limit = match self.options.page_size {
            _ if listing.whole => None,
            Some(size) => Some(size),
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

    /// An object of the list.
    pub fn list_item(&mut self, raw: RawObject) {
        if raw.name().is_empty() {
            self.bad_object(None, "an object without a name");
            return;
        }
        // What is held already is not kept a second time while a long list is read.
        let held = self
            .store
            .get(raw.key())
            .filter(|held| held.is_version(&raw));
        let object = held.unwrap_or_else(|| CachedObject::new(raw, &self.decoder));
        if let Some(listing) = &mut self.listing {
            listing.objects.push(object);
        }
    }

    /// The end of a page. Gives the whole list when it was the last.
    pub fn list_end(&mut self, end: ListEnd) -> Option<Delta<K>> {
        let mut listing = self.listing.take()?;
        let list_version = listing.list_version.take().unwrap_or(end.resource_version);
        if let Some(token) = end.continue_token {
            self.server_pages |= listing.version == "0";
            listing.continue_token = Some(token);
            listing.list_version = Some(list_version);
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
        })
    }

    /// A page could not be read to its end. What was read of the list is dropped.
    pub fn list_failed(&mut self, now: Instant, failure: Failure) {
        let listing = self.listing.take();
        let (version, paged) = listing
            .map(|listing| (listing.version, listing.continue_token.is_some()))
            .unwrap_or_default();
        match failure.cause {
            // The pages took longer than the server keeps a state: once more, in one piece.
            Cause::Expired if paged => {
                self.note(&failure);
                self.listing = Some(Listing {
                    version,
                    continue_token: None,
                    whole: true,
                    list_version: None,
                    objects: Vec::new(),
                });
            }
            Cause::Expired | Cause::VersionTooLarge if !version.is_empty() => {
                self.note(&failure);
                self.version_unusable = true;
            }
            _ => self.back_off(now, &failure),
        }
    }
}
