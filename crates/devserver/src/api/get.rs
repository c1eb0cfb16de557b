//! `get`.

use http::{Response, StatusCode};

use super::Call;
use super::list_options::parse_version;
use crate::failure::{self, Result};
use crate::protocol::{self, Body};

pub(super) fn get(call: &Call<'_>) -> Result<Response<Body>> {
    let asked = call.query.text("resourceVersion").map(parse_version).transpose()?;
    let (found, current) = {
        let state = call.server.store.lock();
        (state.get(call.kind(), &call.key()), state.revision())
    };
    // The newest state is as new as any version but one from the future.
    if let Some(asked) = asked.filter(|asked| *asked > current) {
        return Err(failure::version_from_the_future(asked, current));
    }
    match found {
        Some(stored) => protocol::object(StatusCode::OK, call.kind(), &stored),
        None => Err(failure::not_found(call.kind(), call.name())),
    }
}
