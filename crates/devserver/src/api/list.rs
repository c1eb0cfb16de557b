//! `list`, whole or by pages.

use std::ops::Bound;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use http::Response;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ListMeta;
use serde::{Deserialize, Serialize};

use super::Call;
use super::list_options::{Filter, ListOptions, ListVersion};
use crate::failure::{self, Result};
use crate::kinds::ResourceKind;
use crate::protocol::{self, Body};
use crate::store::{Objects, Stored};

const TOKEN_VERSION: &str = "meta.k8s.io/v1";
/// A token with this version goes on in the newest state.
const NEWEST: i64 = -1;
const EXPIRED: &str = "The resourceVersion for the provided list is too old.";

pub(super) fn list(call: &Call<'_>) -> Result<Response<Body>> {
    let filter = Filter::read(call.kind(), call.namespace(), call.query)?;
    let options = ListOptions::read(call.query)?;
    let page = page(call, &filter, &options)?;
    protocol::list(
        call.kind(),
        &page.metadata,
        page.items.into_iter().map(|(_, stored)| stored).collect(),
    )
}

pub(super) struct Page {
    pub(super) metadata: ListMeta,
    /// With their keys in the store.
    pub(super) items: Vec<(Arc<str>, Arc<Stored>)>,
}

pub(super) fn page(call: &Call<'_>, filter: &Filter, options: &ListOptions) -> Result<Page> {
    let kind = call.kind();
    let token = options.continue_token.as_deref().map(Token::decode).transpose()?;
    let (objects, revision) = state_of(call, options, token.as_ref())?;
    let start = token.as_ref().map(|token| token.key(filter));
    let range = (
        match (start.as_deref(), filter.prefix()) {
            (Some(start), _) => Bound::Included(start),
            (None, Some(prefix)) => Bound::Included(prefix),
            (None, None) => Bound::Unbounded,
        },
        Bound::Unbounded,
    );
    let limit = if options.limit == 0 { usize::MAX } else { options.limit };
    let mut matching = objects
        .range::<_, str>(range)
        .take_while(|(key, _)| filter.covers(key))
        .filter(|(key, stored)| filter.matches(kind, key, stored));
    let items: Vec<_> =
        matching.by_ref().take(limit).map(|(key, stored)| (key.clone(), stored.clone())).collect();
    let mut metadata =
        ListMeta { resource_version: Some(revision.to_string()), ..ListMeta::default() };
    if let Some((next, _)) = matching.next() {
        let next = next.clone();
        let left =
            if filter.selects() {
                None
            } else {
                // Only the first page counts; the others show the same moment.
                let known =
                    token.as_ref().filter(|token| token.rv != NEWEST).and_then(|token| token.left);
                Some(known.map_or_else(
                    || matching.count() + 1,
                    |known| known.saturating_sub(items.len()),
                ))
            };
        metadata.remaining_item_count = left.and_then(|left| i64::try_from(left).ok());
        metadata.continue_ = Some(Token::encode(revision, &next, left, filter)?);
    }
    Ok(Page { metadata, items })
}

fn state_of(
    call: &Call<'_>,
    options: &ListOptions,
    token: Option<&Token>,
) -> Result<(Objects, u64)> {
    let kind: &ResourceKind = call.kind();
    let state = call.server.store.lock();
    let current = state.revision();
    let wanted = match (token, options.version) {
        (Some(token), _) if token.rv == NEWEST => return Ok((state.snapshot(kind), current)),
        (Some(token), _) => token.rv.cast_unsigned(),
        (None, ListVersion::Exact(version)) => version,
        (None, ListVersion::NotOlderThan(version)) if version > current => {
            return Err(failure::version_from_the_future(version, current));
        }
        (None, _) => return Ok((state.snapshot(kind), current)),
    };
    if wanted > current {
        return Err(failure::version_from_the_future(wanted, current));
    }
    match (state.snapshot_at(kind, wanted), token) {
        (Ok(objects), _) => Ok((objects, wanted)),
        (Err(_), None) => Err(failure::expired(EXPIRED)),
        (Err(_), Some(token)) => {
            let again = Token { rv: NEWEST, ..token.clone() };
            Err(failure::continue_expired(again.text()?))
        }
    }
}

/// Where a page goes on: at which version, at which key. The form is that of a real server.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Token {
    v: String,
    rv: i64,
    /// The key of the next object, without the namespace where the list is of one.
    start: String,
    /// How many objects are left from there on, where that is known. An addition of this server's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    left: Option<usize>,
}

impl Token {
    fn encode(revision: u64, next: &str, left: Option<usize>, filter: &Filter) -> Result<String> {
        let start = filter.prefix().and_then(|prefix| next.strip_prefix(prefix)).unwrap_or(next);
        let rv = revision.cast_signed();
        Self { v: TOKEN_VERSION.into(), rv, start: start.into(), left }.text()
    }

    fn text(&self) -> Result<String> {
        let json = serde_json::to_vec(self).map_err(failure::internal)?;
        Ok(BASE64_URL_SAFE_NO_PAD.encode(json))
    }

    fn decode(text: &str) -> Result<Self> {
        let refused = |why: &str| failure::bad_request(format!("continue key is not valid{why}"));
        let json =
            BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|error| refused(&format!(": {error}")))?;
        let token: Self =
            serde_json::from_slice(&json).map_err(|error| refused(&format!(": {error}")))?;
        if token.v != TOKEN_VERSION {
            return Err(refused(&format!(
                ": server does not recognize this encoded version {}",
                token.v
            )));
        }
        if token.rv == 0 || token.rv < NEWEST {
            return Err(refused(
                ": incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
            ));
        }
        // Keys have no such parts; whoever sends one tries to leave the collection.
        if token.start.split('/').any(|part| part == "..") {
            return Err(refused(&format!(": {}", token.start)));
        }
        if token.start.is_empty() {
            return Err(refused(": encoded start key empty (version meta.k8s.io/v1)"));
        }
        Ok(token)
    }

    /// The full key. It always stays inside the namespace of the list.
    fn key(&self, filter: &Filter) -> String {
        format!("{}{}", filter.prefix().unwrap_or_default(), self.start)
    }
}
