//! `deletecollection`: each object that a list would give, one by one.

use http::Response;

use super::delete::delete_one;
use super::delete_options::DeleteOptions;
use super::list_options::{Filter, ListOptions};
use super::{Call, list};
use crate::failure::Result;
use crate::protocol::{self, Body};

/// Answers with the list of what was there. As on a real server the whole is not atomic: the lock is free
/// between two objects, and one that is gone by then is passed over.
pub(super) fn delete_collection(call: &Call<'_>) -> Result<Response<Body>> {
    // All that may be refused is checked before anything is deleted, a bad selector above all.
    let filter = Filter::read(call.kind(), call.namespace(), call.query)?;
    let list_options = ListOptions::read(call.query)?;
    let options = DeleteOptions::read(call)?;
    let page = list::page(call, &filter, &list_options)?;
    for (key, _) in &page.items {
        let name = key.rsplit('/').next().unwrap_or_default();
        let mut state = call.server.store.lock();
        match delete_one(&mut state, &call.server.clock, call.kind(), key, name, &options) {
            Err(refusal) if !refusal.is_not_found() => return Err(refusal),
            _ => {}
        }
    }
    protocol::list(
        call.kind(),
        &page.metadata,
        page.items.into_iter().map(|(_, stored)| stored).collect(),
    )
}
