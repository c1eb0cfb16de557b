//! Refusals, in the words of a real API server.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{
    ListMeta, Status, StatusCause, StatusDetails,
};
use kubewright_meta::{Reason, StatusError};

use crate::kinds::ResourceKind;
use crate::validation::FieldErrors;

pub(crate) type Result<T> = std::result::Result<T, StatusError>;

const MODIFIED: &str =
    "the object has been modified; please apply your changes to the latest version and try again";

fn details(kind: &ResourceKind, name: &str) -> StatusDetails {
    StatusDetails {
        group: text(&kind.group),
        kind: text(&kind.plural),
        name: text(name),
        ..StatusDetails::default()
    }
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

pub(crate) fn not_found(kind: &ResourceKind, name: &str) -> StatusError {
    StatusError::of(Reason::NotFound, format!("{} \"{name}\" not found", kind.qualified_resource()))
        .with_details(details(kind, name))
}

pub(crate) fn no_such_path() -> StatusError {
    StatusError::of(Reason::NotFound, "the server could not find the requested resource")
        .with_details(StatusDetails::default())
}

pub(crate) fn already_exists(kind: &ResourceKind, name: &str) -> StatusError {
    let message = format!("{} \"{name}\" already exists", kind.qualified_resource());
    StatusError::of(Reason::AlreadyExists, message).with_details(details(kind, name))
}

pub(crate) fn object_being_deleted_exists(kind: &ResourceKind, name: &str) -> StatusError {
    let message =
        format!("object is being deleted: {} \"{name}\" already exists", kind.qualified_resource());
    StatusError::of(Reason::AlreadyExists, message).with_details(details(kind, name))
}

pub(crate) fn no_generated_name(kind: &ResourceKind, name: &str) -> StatusError {
    let message = format!(
        "{} \"{name}\" already exists, the server was not able to generate a unique name for the object",
        kind.qualified_resource()
    );
    let details = StatusDetails { retry_after_seconds: Some(1), ..details(kind, name) };
    StatusError::of(Reason::AlreadyExists, message).with_details(details)
}

pub(crate) fn conflict(kind: &ResourceKind, name: &str, why: &str) -> StatusError {
    conflict_on(kind, "", name, why)
}

/// A conflict on a subresource, which the message names.
pub(crate) fn conflict_on(
    kind: &ResourceKind,
    subresource: &str,
    name: &str,
    why: &str,
) -> StatusError {
    let slash = if subresource.is_empty() { "" } else { "/" };
    let plural = format!("{}{slash}{subresource}", kind.plural);
    let dotted = dotted(&plural, &kind.group);
    let message = format!("Operation cannot be fulfilled on {dotted} \"{name}\": {why}");
    let details = StatusDetails { kind: Some(plural), ..details(kind, name) };
    StatusError::of(Reason::Conflict, message).with_details(details)
}

/// A precondition of a delete that does not hold. Here a real server names the kind, not the resource.
pub(crate) fn precondition(kind: &ResourceKind, name: &str, why: &str) -> StatusError {
    let dotted = dotted(&kind.kind, &kind.group);
    let message = format!("Operation cannot be fulfilled on {dotted} \"{name}\": {why}");
    let details = StatusDetails { kind: text(&kind.kind), ..details(kind, name) };
    StatusError::of(Reason::Conflict, message).with_details(details)
}

fn dotted(name: &str, group: &str) -> String {
    if group.is_empty() { name.to_owned() } else { format!("{name}.{group}") }
}

pub(crate) fn modified(kind: &ResourceKind, name: &str) -> StatusError {
    conflict(kind, name, MODIFIED)
}

pub(crate) fn forbidden(
    kind: &ResourceKind,
    name: &str,
    why: &str,
    causes: Vec<StatusCause>,
) -> StatusError {
    let message = format!("{} \"{name}\" is forbidden: {why}", kind.qualified_resource());
    let details = StatusDetails {
        causes: Some(causes).filter(|causes| !causes.is_empty()),
        ..details(kind, name)
    };
    StatusError::of(Reason::Forbidden, message).with_details(details)
}

/// An object of `kind` that is invalid; one that is served under two groups by the group it is stored in.
pub(crate) fn invalid_object(kind: &ResourceKind, name: &str, errors: &FieldErrors) -> StatusError {
    let group = kind.conversion.map_or(&*kind.group, |conversion| conversion.stored_group);
    invalid(group, &kind.kind, name, errors)
}

/// `group` and `kind` of what is invalid: an object's, or `meta.k8s.io` and the name of an options type.
pub(crate) fn invalid(group: &str, kind: &str, name: &str, errors: &FieldErrors) -> StatusError {
    let dotted = dotted(kind, group);
    let message = format!("{dotted} \"{name}\" is invalid: {}", errors.summary());
    let details = StatusDetails {
        group: text(group),
        kind: text(kind),
        name: text(name),
        causes: Some(errors.causes()),
        ..StatusDetails::default()
    };
    StatusError::of(Reason::Invalid, message).with_details(details)
}

pub(crate) fn invalid_options(options: &str, errors: &FieldErrors) -> StatusError {
    invalid("meta.k8s.io", options, "", errors)
}

pub(crate) fn bad_request(message: impl Into<String>) -> StatusError {
    StatusError::of(Reason::BadRequest, message)
}

pub(crate) fn method_not_allowed() -> StatusError {
    let message = "the server does not allow this method on the requested resource";
    StatusError::of(Reason::MethodNotAllowed, message).with_details(StatusDetails::default())
}

pub(crate) fn too_large(why: &str) -> StatusError {
    StatusError::of(Reason::RequestEntityTooLarge, format!("Request entity too large: {why}"))
}

/// A real server hands on, without a reason, what etcd says.
pub(crate) fn too_large_to_store() -> StatusError {
    StatusError::of(Reason::Other(String::new()), "etcdserver: request is too large").with_code(500)
}

pub(crate) fn not_acceptable() -> StatusError {
    let message = "only the following media types are accepted: application/json, application/json;stream=watch";
    StatusError::of(Reason::NotAcceptable, message)
}

pub(crate) fn unsupported_media_type(accepted: &str) -> StatusError {
    let message = format!(
        "the body of the request was in an unknown format - accepted media types include: {accepted}"
    );
    StatusError::of(Reason::UnsupportedMediaType, message)
}

pub(crate) fn expired(message: impl Into<String>) -> StatusError {
    StatusError::of(Reason::Expired, message)
}

/// 410 for a page whose snapshot is gone, with a token that goes on in the newest state.
pub(crate) fn continue_expired(token: String) -> StatusError {
    let message = "The provided continue parameter is too old to display a consistent list result. You can start \
                   a new list without the continue parameter, or use the continue token in this response to \
                   retrieve the remainder of the results. Continuing with the provided token results in an \
                   inconsistent list - objects that were created, modified, or deleted between the time the \
                   first chunk was returned and now may show up in the list.";
    let mut status: Status = expired(message).status().clone();
    status.metadata = ListMeta { continue_: Some(token), ..ListMeta::default() };
    StatusError::new(status)
}

pub(crate) fn version_from_the_future(asked: u64, current: u64) -> StatusError {
    let message = format!("Timeout: Too large resource version: {asked}, current: {current}");
    let cause = StatusCause {
        reason: Some("ResourceVersionTooLarge".into()),
        message: Some("Too large resource version".into()),
        field: None,
    };
    let details = StatusDetails {
        causes: Some(vec![cause]),
        retry_after_seconds: Some(1),
        ..StatusDetails::default()
    };
    StatusError::of(Reason::Timeout, message).with_details(details)
}

/// 501: what a real server does and this one does not.
pub(crate) fn not_implemented(message: impl Into<String>) -> StatusError {
    StatusError::of(Reason::Other("NotImplemented".into()), message).with_code(501)
}

pub(crate) fn shutting_down() -> StatusError {
    StatusError::of(Reason::ServiceUnavailable, "the development server is shutting down")
}

/// Something that cannot happen did; said, not hidden.
pub(crate) fn internal(what: impl std::fmt::Display) -> StatusError {
    StatusError::of(Reason::InternalError, format!("Internal error occurred: {what}"))
}
