//! What a server answers when it refuses: the `Status` object, as an error.

use std::fmt;
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Status, StatusCause, StatusDetails};

/// The machine-readable reason of a refusal (`reason` of a `Status`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// 400: the request makes no sense to the server.
    BadRequest,
    /// 401: no or no valid credentials.
    Unauthorized,
    /// 403: the caller may not do this.
    Forbidden,
    /// 404: no such object, resource or path.
    NotFound,
    /// 405: the resource does not have this verb.
    MethodNotAllowed,
    /// 406: the server cannot answer in an accepted format.
    NotAcceptable,
    /// 409: an object of this name exists.
    AlreadyExists,
    /// 409: the object has changed since it was read, or a precondition does not hold.
    Conflict,
    /// 410: the asked version is no longer kept.
    Gone,
    /// 410: the asked version or continue token is too old.
    Expired,
    /// 413: the body is too large.
    RequestEntityTooLarge,
    /// 415: the format of the body is not supported.
    UnsupportedMediaType,
    /// 422: the object is not valid; the causes say which fields.
    Invalid,
    /// 429: the caller should slow down.
    TooManyRequests,
    /// 500: the server failed.
    InternalError,
    /// 500 or 504: the server could not finish; waiting helps.
    ServerTimeout,
    /// 503: the server does not serve now.
    ServiceUnavailable,
    /// 504: the time was up before the server was done.
    Timeout,
    /// Any other text, or none.
    Other(String),
}

const REASONS: [(Reason, &str, u16); 18] = [
    (Reason::BadRequest, "BadRequest", 400),
    (Reason::Unauthorized, "Unauthorized", 401),
    (Reason::Forbidden, "Forbidden", 403),
    (Reason::NotFound, "NotFound", 404),
    (Reason::MethodNotAllowed, "MethodNotAllowed", 405),
    (Reason::NotAcceptable, "NotAcceptable", 406),
    (Reason::AlreadyExists, "AlreadyExists", 409),
    (Reason::Conflict, "Conflict", 409),
    (Reason::Gone, "Gone", 410),
    (Reason::Expired, "Expired", 410),
    (Reason::RequestEntityTooLarge, "RequestEntityTooLarge", 413),
    (Reason::UnsupportedMediaType, "UnsupportedMediaType", 415),
    (Reason::Invalid, "Invalid", 422),
    (Reason::TooManyRequests, "TooManyRequests", 429),
    (Reason::InternalError, "InternalError", 500),
    (Reason::ServerTimeout, "ServerTimeout", 500),
    (Reason::ServiceUnavailable, "ServiceUnavailable", 503),
    (Reason::Timeout, "Timeout", 504),
];

impl Reason {
    /// The text of the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Other(text) => text,
            known => REASONS.iter().find(|(r, ..)| r == known).map_or("", |(_, text, _)| text),
        }
    }

    /// The HTTP code that goes with it; 500 for a reason that is not known.
    pub fn code(&self) -> u16 {
        REASONS.iter().find(|(r, ..)| r == self).map_or(500, |(.., code)| *code)
    }
}

impl From<&str> for Reason {
    fn from(text: &str) -> Self {
        match REASONS.iter().find(|(_, known, _)| *known == text) {
            Some((reason, ..)) => reason.clone(),
            None => Self::Other(text.to_owned()),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A refusal: a `v1` `Status` with `status: Failure`.
///
/// The predicates go by the reason, and by the HTTP code where the reason is not one Kubernetes defines,
/// as client-go's do.
#[derive(Clone, PartialEq)]
pub struct StatusError(Box<Status>);

impl StatusError {
    /// Takes a `Status` as a refusal, whatever its `status` field says.
    pub fn new(status: Status) -> Self {
        Self(Box::new(status))
    }

    /// A refusal with a reason, its code and a message.
    pub fn of(reason: Reason, message: impl Into<String>) -> Self {
        Self::new(Status {
            status: Some("Failure".into()),
            code: Some(i32::from(reason.code())),
            reason: Some(reason.as_str().to_owned()).filter(|text| !text.is_empty()),
            message: Some(message.into()),
            ..Status::default()
        })
    }

    /// With another HTTP code than the reason's own.
    #[must_use]
    pub fn with_code(mut self, code: u16) -> Self {
        self.0.code = Some(i32::from(code));
        self
    }

    /// With details: which kind and name, the causes, when to try again.
    #[must_use]
    pub fn with_details(mut self, details: StatusDetails) -> Self {
        self.0.details = Some(details);
        self
    }

    /// The whole `Status`.
    pub fn status(&self) -> &Status {
        &self.0
    }

    /// The reason.
    pub fn reason(&self) -> Reason {
        Reason::from(self.0.reason.as_deref().unwrap_or_default())
    }

    /// The HTTP code in the `Status`; 0 where it has none.
    pub fn code(&self) -> u16 {
        self.0.code.and_then(|code| u16::try_from(code).ok()).unwrap_or(0)
    }

    /// The message for people.
    pub fn message(&self) -> &str {
        self.0.message.as_deref().unwrap_or_default()
    }

    /// Which fields or conditions were the cause.
    pub fn causes(&self) -> &[StatusCause] {
        self.0.details.as_ref().and_then(|details| details.causes.as_deref()).unwrap_or_default()
    }

    /// How long the server asks to wait before the next try.
    pub fn retry_after(&self) -> Option<Duration> {
        let seconds = self.0.details.as_ref()?.retry_after_seconds?;
        u64::try_from(seconds).ok().filter(|seconds| *seconds > 0).map(Duration::from_secs)
    }

    fn is(&self, wanted: &Reason) -> bool {
        match self.reason() {
            // Several reasons share a code; without a known reason the code stands for its usual one.
            Reason::Other(_) => usual_reason(self.code()).as_ref() == Some(wanted),
            reason => reason == *wanted,
        }
    }

    /// 404.
    pub fn is_not_found(&self) -> bool {
        self.is(&Reason::NotFound)
    }

    /// 409 on create: the name is taken.
    pub fn is_already_exists(&self) -> bool {
        self.is(&Reason::AlreadyExists)
    }

    /// 409: read again, then repeat the change.
    pub fn is_conflict(&self) -> bool {
        self.is(&Reason::Conflict)
    }

    /// 410, by either name: the version or continue token is too old; list again.
    pub fn is_expired(&self) -> bool {
        matches!(self.reason(), Reason::Expired) || self.is(&Reason::Gone)
    }

    /// 401.
    pub fn is_unauthorized(&self) -> bool {
        self.is(&Reason::Unauthorized)
    }

    /// 403.
    pub fn is_forbidden(&self) -> bool {
        self.is(&Reason::Forbidden)
    }

    /// 400.
    pub fn is_bad_request(&self) -> bool {
        self.is(&Reason::BadRequest)
    }

    /// 405.
    pub fn is_method_not_allowed(&self) -> bool {
        self.is(&Reason::MethodNotAllowed)
    }

    /// 422.
    pub fn is_invalid(&self) -> bool {
        self.is(&Reason::Invalid)
    }

    /// 429.
    pub fn is_too_many_requests(&self) -> bool {
        self.is(&Reason::TooManyRequests)
    }

    /// 500, unless the server says that it only ran out of time.
    pub fn is_internal_error(&self) -> bool {
        self.is(&Reason::InternalError)
    }

    /// 503.
    pub fn is_service_unavailable(&self) -> bool {
        self.is(&Reason::ServiceUnavailable)
    }

    /// 504, or the server says that it ran out of time.
    pub fn is_timeout(&self) -> bool {
        self.is(&Reason::Timeout) || self.is(&Reason::ServerTimeout)
    }

    /// 413.
    pub fn is_request_entity_too_large(&self) -> bool {
        self.is(&Reason::RequestEntityTooLarge)
    }

    /// 415.
    pub fn is_unsupported_media_type(&self) -> bool {
        self.is(&Reason::UnsupportedMediaType)
    }

    /// 406.
    pub fn is_not_acceptable(&self) -> bool {
        self.is(&Reason::NotAcceptable)
    }

    /// The asked version is one that the server has not reached yet.
    ///
    /// Servers say so by a cause; some old ones (1.17 to 1.18.5) only by the message.
    pub fn is_resource_version_too_large(&self) -> bool {
        self.has_cause("ResourceVersionTooLarge")
            || (self.is_timeout() && self.message().contains("Too large resource version"))
    }

    /// The namespace is being deleted, so that nothing can be created in it.
    pub fn is_namespace_terminating(&self) -> bool {
        self.has_cause("NamespaceTerminating")
    }

    /// Whether a cause of this type (`causes[].reason`) is given.
    pub fn has_cause(&self, cause: &str) -> bool {
        self.causes().iter().any(|given| given.reason.as_deref() == Some(cause))
    }
}

fn usual_reason(code: u16) -> Option<Reason> {
    match code {
        // Of the reasons with another shared code the usual one stands first.
        409 => Some(Reason::Conflict),
        code => Some(REASONS.iter().find(|(.., known)| *known == code)?.0.clone()),
    }
}

/// Prints the message, the reason and the code: `pods "web" not found (NotFound, 404)`.
impl fmt::Display for StatusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = self.reason();
        let reason = if reason.as_str().is_empty() { "no reason given" } else { reason.as_str() };
        match self.message() {
            "" => write!(f, "the server refused ({reason}, {})", self.code()),
            message => write!(f, "{message} ({reason}, {})", self.code()),
        }
    }
}

impl fmt::Debug for StatusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StatusError({self})")
    }
}

impl std::error::Error for StatusError {}

#[cfg(test)]
#[path = "status_tests.rs"]
mod tests;
