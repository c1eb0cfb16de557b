//! Making a refusal of an answer that is no success, whatever its body looks like.

use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Status, StatusCause, StatusDetails};
use kubewright_meta::{Reason, StatusError};

use super::retry::retry_after_seconds;
use super::send::Subject;
use crate::calls::Verb;

/// So much of a refusal's body is read.
pub(crate) const MAX_ERROR_BYTES: usize = 1 << 20;
/// So much of a text that is no `Status` is shown.
const MAX_TEXT_BYTES: usize = 2048;
const UNEXPECTED: &str = "UnexpectedServerResponse";

/// The refusal in an answer with this code.
pub(crate) fn refusal(
    code: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    verb: Verb,
    subject: &Subject,
) -> StatusError {
    let retry_after = retry_after_seconds(headers).and_then(|seconds| i32::try_from(seconds).ok());
    match read(body) {
        Some(mut status) if status.status.as_deref() != Some("Success") => {
            if status.code.is_none_or(|code| code == 0) {
                status.code = Some(i32::from(code.as_u16()));
            }
            if let Some(seconds) = retry_after {
                let details = status.details.get_or_insert_default();
                details.retry_after_seconds.get_or_insert(seconds);
            }
            StatusError::new(status)
        }
        _ => by_code(code, headers, body, verb, subject, retry_after),
    }
}

/// Whether a 404 is about the resource and not about an object of it. Servers say so by this message; for a group that
/// they do not serve at all by a 404 that is no `Status`.
pub(crate) fn is_unknown_resource(status: &StatusError) -> bool {
    let names_object = status
        .status()
        .details
        .as_ref()
        .is_some_and(|details| details.name.as_deref().is_some_and(|name| !name.is_empty()));
    status.has_cause(UNEXPECTED)
        || (!names_object
            && status.message().starts_with("the server could not find the requested resource"))
}

/// The `Status` that a body is, if it is one: `v1` and `Status`, both.
pub(crate) fn read(body: &[u8]) -> Option<Status> {
    kubewright_wire::is_status(body).then(|| serde_json::from_slice(body).ok()).flatten()
}

/// What a code says by itself, as client-go reads it.
fn by_code(
    code: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    verb: Verb,
    subject: &Subject,
    retry_after: Option<i32>,
) -> StatusError {
    let (reason, meaning) = match code.as_u16() {
        400 => (Reason::BadRequest, "the server cannot make sense of the request"),
        401 => (Reason::Unauthorized, "the server asks for other credentials"),
        403 => (Reason::Forbidden, "the server does not allow this"),
        404 => (Reason::NotFound, "the server does not have what was asked for"),
        405 => (Reason::MethodNotAllowed, "the server does not allow this verb here"),
        406 => (Reason::NotAcceptable, "the server has none of the formats that were asked for"),
        409 if verb == Verb::Create => (Reason::AlreadyExists, "the server has this already"),
        409 => (Reason::Conflict, "the server reports a conflict"),
        410 => (Reason::Gone, "the server no longer has what was asked for"),
        413 => (Reason::RequestEntityTooLarge, "the request is too large for the server"),
        415 => (Reason::UnsupportedMediaType, "the server cannot read this format"),
        422 => (Reason::Invalid, "the server rejects the request as not valid"),
        429 => (Reason::TooManyRequests, "the server has received too many requests"),
        503 => (Reason::ServiceUnavailable, "the server cannot serve now"),
        504 => (Reason::Timeout, "the server could not finish in time"),
        500.. => (Reason::InternalError, "the server failed"),
        _ => (Reason::Other(String::new()), "the server answered with a code of no known meaning"),
    };
    let text = text_of(headers, body);
    let mut message = format!("{meaning}{}", about(verb, subject));
    if let Some(text) = &text {
        message.push_str(": ");
        message.push_str(text);
    }
    let cause = StatusCause {
        reason: Some(UNEXPECTED.to_owned()),
        message: Some(text.unwrap_or_else(|| "unknown".to_owned())),
        ..StatusCause::default()
    };
    let some = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    let details = StatusDetails {
        group: some(&subject.group),
        kind: some(&subject.resource),
        name: some(&subject.name),
        causes: Some(vec![cause]),
        retry_after_seconds: retry_after,
        ..StatusDetails::default()
    };
    StatusError::of(reason, message).with_code(code.as_u16()).with_details(details)
}

/// ` (get pods "web")`.
fn about(verb: Verb, subject: &Subject) -> String {
    match (subject.resource.as_str(), subject.name.as_str()) {
        ("", _) => String::new(),
        (resource, "") => format!(" ({verb} {resource})"),
        (resource, name) => format!(" ({verb} {resource} {name:?})"),
    }
}

/// The body as a message for people: only text, and not too much of it.
fn text_of(headers: &HeaderMap, body: &[u8]) -> Option<String> {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if !content_type.is_none_or(|text| text.to_ascii_lowercase().starts_with("text/")) {
        return None;
    }
    let cut = &body[..body.len().min(MAX_TEXT_BYTES)];
    let mut text = match std::str::from_utf8(cut) {
        Ok(text) => text,
        // Cut within a character, or not text at all.
        Err(error) if cut.len() < body.len() && error.error_len().is_none() => {
            std::str::from_utf8(&cut[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return None,
    };
    text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
#[path = "status_tests.rs"]
mod tests;
