//! `update`: an object for an object, or one of its parts.

use http::{Response, StatusCode};
use kubewright_meta::{Object, Unstructured};

use super::update::{Part, Update};
use super::write_options::WriteOptions;
use super::{Call, create};
use crate::failure::{self, Result};
use crate::object;
use crate::protocol::{self, Body};

pub(super) fn replace(call: &Call<'_>) -> Result<Response<Body>> {
    let kind = call.kind();
    let options = WriteOptions::read(call.query, "UpdateOptions")?;
    let mut object = object::decode(kind, &call.body)?;
    create::check_namespace(call, &mut object)?;
    check_name(call.name(), &object)?;
    let part = Part::of(call.target.subresource);
    let mut state = call.server.store.lock();
    let Some(held) = state.get(kind, &call.key()) else {
        if part == Part::Main && kind.rules.create_on_update {
            object.metadata.resource_version = None;
            return create::insert(call, &mut state, object, options);
        }
        return Err(failure::not_found(kind, call.name()));
    };
    let old = held.decode()?;
    if let Some(uid) = object.metadata.uid.as_deref().filter(|uid| *uid != old.uid()) {
        let why = format!(
            "Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
            old.uid()
        );
        return Err(failure::conflict(kind, call.name(), &why));
    }
    let update = Update { call, part, dry_run: options.dry_run };
    let bytes = update.apply(&mut state, &held, old, object::to_stored(kind, object))?;
    Ok(protocol::json(StatusCode::OK, bytes))
}

/// The object must carry the name of the path.
pub(super) fn check_name(name: &str, object: &Unstructured) -> Result<()> {
    match object.name() {
        "" => Err(failure::bad_request(format!(
            "the name of the object ({name} based on URL) was undeterminable: name must be provided"
        ))),
        given if given != name => Err(failure::bad_request(format!(
            "the name of the object ({given}) does not match the name on the URL ({name})"
        ))),
        _ => Ok(()),
    }
}
