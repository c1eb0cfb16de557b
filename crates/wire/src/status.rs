//! Telling a `Status` from an object, and reading one that may be broken.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Status, StatusCause, StatusDetails};
use kubewright_meta::{Reason, StatusError};
use serde_json::Value;

use crate::scan::{ObjectWalk, Scan, Scanner, Text};

/// Whether a document is a Kubernetes `Status`: `apiVersion` is `v1` *and* `kind` is `Status`.
///
/// Deletions answer with either the deleted object or a `Status`. Objects have a field `status` too, and a custom
/// resource may be of a kind `Status` in a group of its own, so neither alone tells.
pub fn is_status(json: impl AsRef<[u8]>) -> bool {
    let json = json.as_ref();
    matches!(types(json), Ok((Some(api_version), Some(kind)))
        if api_version.is(json, "v1") && kind.is(json, "Status"))
}

fn types(json: &[u8]) -> Scan<(Option<Text>, Option<Text>)> {
    let mut scanner = Scanner::new(json);
    scanner.skip_space();
    let (mut api_version, mut kind) = (None, None);
    let mut members = ObjectWalk::enter(&mut scanner)?;
    while let Some(key) = members.next_key(&mut scanner)? {
        let wanted = if key.is(json, "apiVersion") {
            &mut api_version
        } else if key.is(json, "kind") {
            &mut kind
        } else {
            scanner.skip_unchecked(1)?;
            continue;
        };
        *wanted = Some(scanner.text()?);
    }
    Ok((api_version, kind))
}

/// The refusal that an ERROR event or an unexpected document carries.
///
/// What cannot be read as a `Status` becomes an internal error with the cause `ClientWatchDecoding`, as in
/// client-go; reason, code and message are kept where they can be read.
pub(crate) fn refusal(json: &[u8]) -> StatusError {
    let error = match serde_json::from_slice::<Status>(json) {
        Ok(status) => return StatusError::new(status),
        Err(error) => error,
    };
    let parts: Value = serde_json::from_slice(json).unwrap_or_default();
    let text = |name: &str| parts.get(name).and_then(Value::as_str);
    let reason = text("reason").map_or(Reason::InternalError, Reason::from);
    let message = match text("message") {
        Some(message) => message.to_owned(),
        None => format!(
            "the server reported an error that is no Status (byte {} of it)",
            error.column()
        ),
    };
    let cause = StatusCause {
        reason: Some(DECODING.into()),
        message: Some("the error sent by the server could not be decoded".into()),
        ..StatusCause::default()
    };
    let details = StatusDetails { causes: Some(vec![cause]), ..StatusDetails::default() };
    let refusal = StatusError::of(reason, message).with_details(details);
    match parts.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok()) {
        Some(code) if code > 0 => refusal.with_code(code),
        _ => refusal,
    }
}

const DECODING: &str = "ClientWatchDecoding";

#[cfg(test)]
#[path = "status_tests.rs"]
mod tests;
