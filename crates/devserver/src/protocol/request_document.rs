//! The document in the body of a request: JSON for all that comes after, whatever the client sent.
//!
//! Go's typed clients, and so `kubectl create KIND NAME`, write built-in kinds as protobuf. They accept answers in JSON.

use bytes::Bytes;
use http::HeaderMap;
use kubewright_wire::protobuf;

use super::{Target, negotiate};
use crate::api::Verb;
use crate::failure::{self, Result};
use crate::kinds::Subresource;

const JSON: &str = "application/json";

/// The document as JSON; 415 for a media type that is not taken.
///
/// Patches are left as they are: their media type says what they mean. So are bodies without a media type, which are
/// taken for JSON, and the missing body of a delete.
pub(super) fn read(verb: Verb, target: &Target, headers: &HeaderMap, body: Bytes) -> Result<Bytes> {
    match verb {
        Verb::Get | Verb::List | Verb::Watch | Verb::Patch => return Ok(body),
        Verb::Delete | Verb::DeleteCollection if body.is_empty() => return Ok(body),
        Verb::Create | Verb::Update | Verb::Delete | Verb::DeleteCollection => {}
    }
    let has_protobuf = has_protobuf(verb, target);
    match negotiate::content_type(headers).as_deref() {
        None | Some(JSON) => Ok(body),
        Some(protobuf::MEDIA_TYPE) if has_protobuf => to_json(&body),
        Some(_) if has_protobuf => {
            let accepted = format!("{JSON}, {}", protobuf::MEDIA_TYPE);
            Err(failure::unsupported_media_type(&accepted))
        }
        Some(_) => Err(failure::unsupported_media_type(JSON)),
    }
}

/// Objects of custom kinds have no protobuf form; their scale, and the options of deleting them, have.
fn has_protobuf(verb: Verb, target: &Target) -> bool {
    !target.kind.custom
        || target.subresource == Some(Subresource::Scale)
        || matches!(verb, Verb::Delete | Verb::DeleteCollection)
}

fn to_json(body: &[u8]) -> Result<Bytes> {
    let document = protobuf::to_json(body).map_err(|error| {
        failure::bad_request(format!("the object provided is unrecognized: {error}"))
    })?;
    let json = serde_json::to_vec(&document).map_err(failure::internal)?;
    Ok(json.into())
}
