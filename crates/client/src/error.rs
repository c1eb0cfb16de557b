//! Everything that can go wrong with a call, said so that the reader knows which call, what came back, what to try.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use kubewright_meta::StatusError;

use crate::body::BoxError;
use crate::transport::{TransportError, TransportErrorKind};

/// Why a call failed, or why a client could not be made.
///
/// The predicates say what may be done about it. The text names verb and path of the call; it never holds a
/// credential, a query string or a piece of a body other than the server's own message.
pub struct Error(Box<Inner>);

struct Inner {
    call: Option<CallName>,
    kind: Kind,
    /// What to try, where the kind does not say it.
    hint: Option<String>,
}

/// Method and path of a call, as errors and logs show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallName {
    pub(crate) method: http::Method,
    pub(crate) path: String,
}

impl fmt::Display for CallName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

pub(crate) enum Kind {
    /// Refused before anything was sent.
    InvalidRequest(String),
    /// The configuration cannot be used.
    Config { what: &'static str, source: Option<kubewright_config::Error> },
    /// The TLS material cannot be used.
    Tls { what: String, source: Option<BoxError> },
    /// The server refused.
    Status(StatusError),
    /// The connection, or what stands in for it, failed.
    Transport(BoxError),
    /// No answer in time. With the last failure, where the call was being repeated.
    Timeout { limit: Duration, last: Option<Error> },
    /// An answer that cannot be understood.
    Decode { what: String, source: Option<BoxError> },
    /// An answer beyond the limit.
    TooLarge { limit: usize },
    /// A list or a watch that is not what it should be.
    Wire(kubewright_wire::Error),
}

impl Error {
    pub(crate) fn invalid(why: impl Into<String>) -> Self {
        Kind::InvalidRequest(why.into()).into()
    }

    pub(crate) fn at(mut self, call: &CallName) -> Self {
        self.0.call.get_or_insert_with(|| call.clone());
        self
    }

    pub(crate) fn with_hint(mut self, hint: Option<String>) -> Self {
        self.0.hint = hint;
        self
    }

    pub(crate) fn wire(error: kubewright_wire::Error) -> Self {
        match error.status() {
            Some(status) => Kind::Status(status.clone()).into(),
            None => Kind::Wire(error).into(),
        }
    }

    /// What failed underneath, if it was the transport.
    pub(crate) fn transport_kind(&self) -> Option<TransportErrorKind> {
        self.transport().map(TransportError::kind)
    }

    fn transport(&self) -> Option<&TransportError> {
        match &self.0.kind {
            Kind::Transport(error) => {
                // Layers around the transport may have wrapped its error.
                let mut cause: Option<&(dyn StdError + 'static)> = Some(error.as_ref());
                while let Some(error) = cause {
                    if let Some(error) = error.downcast_ref::<TransportError>() {
                        return Some(error);
                    }
                    cause = error.source();
                }
                None
            }
            _ => None,
        }
    }

    /// The server's refusal, if there was one.
    pub fn status(&self) -> Option<&StatusError> {
        match &self.0.kind {
            Kind::Status(status) => Some(status),
            Kind::Timeout { last: Some(last), .. } => last.status(),
            _ => None,
        }
    }

    fn refused(&self, predicate: impl FnOnce(&StatusError) -> bool) -> bool {
        match &self.0.kind {
            Kind::Status(status) => predicate(status),
            _ => false,
        }
    }

    /// How long the server asks to wait before the next try.
    pub fn retry_after(&self) -> Option<Duration> {
        self.status().and_then(StatusError::retry_after)
    }

    /// 404: no such object, or no such resource.
    pub fn is_not_found(&self) -> bool {
        self.refused(StatusError::is_not_found)
    }

    /// 409 on create: the name is taken.
    pub fn is_already_exists(&self) -> bool {
        self.refused(StatusError::is_already_exists)
    }

    /// 409: the object has changed since it was read; read it again, then repeat the change.
    pub fn is_conflict(&self) -> bool {
        self.refused(StatusError::is_conflict)
    }

    /// 410, `Expired` or `Gone`: the version or continue token is too old; list again.
    pub fn is_expired(&self) -> bool {
        self.refused(StatusError::is_expired)
    }

    /// 401.
    pub fn is_unauthorized(&self) -> bool {
        self.refused(StatusError::is_unauthorized)
    }

    /// 403.
    pub fn is_forbidden(&self) -> bool {
        self.refused(StatusError::is_forbidden)
    }

    /// 400.
    pub fn is_bad_request(&self) -> bool {
        self.refused(StatusError::is_bad_request)
    }

    /// 405: the resource does not have this verb.
    pub fn is_method_not_allowed(&self) -> bool {
        self.refused(StatusError::is_method_not_allowed)
    }

    /// 422: the object is not valid; the causes in [`status`](Self::status) say which fields.
    pub fn is_invalid(&self) -> bool {
        self.refused(StatusError::is_invalid)
    }

    /// 429, after the repetitions that the server asked for.
    pub fn is_too_many_requests(&self) -> bool {
        self.refused(StatusError::is_too_many_requests)
    }

    /// 500.
    pub fn is_internal_error(&self) -> bool {
        self.refused(StatusError::is_internal_error)
    }

    /// 503.
    pub fn is_service_unavailable(&self) -> bool {
        self.refused(StatusError::is_service_unavailable)
    }

    /// 504: the time was up on the server's side. See [`is_timeout`](Self::is_timeout) for this side's.
    pub fn is_server_timeout(&self) -> bool {
        self.refused(StatusError::is_timeout)
    }

    /// 413.
    pub fn is_request_entity_too_large(&self) -> bool {
        self.refused(StatusError::is_request_entity_too_large)
    }

    /// 415.
    pub fn is_unsupported_media_type(&self) -> bool {
        self.refused(StatusError::is_unsupported_media_type)
    }

    /// 406.
    pub fn is_not_acceptable(&self) -> bool {
        self.refused(StatusError::is_not_acceptable)
    }

    /// The asked version is one that the server has not reached yet.
    pub fn is_resource_version_too_large(&self) -> bool {
        self.refused(StatusError::is_resource_version_too_large)
    }

    /// The namespace is being deleted, so that nothing can be created in it.
    pub fn is_namespace_terminating(&self) -> bool {
        self.refused(StatusError::is_namespace_terminating)
    }

    /// The deadline of the call has passed on this side.
    pub fn is_timeout(&self) -> bool {
        matches!(self.0.kind, Kind::Timeout { .. })
    }

    /// No connection to the server could be made.
    pub fn is_connect(&self) -> bool {
        self.transport_kind() == Some(TransportErrorKind::Connect)
    }

    /// The server could not be reached, the connection failed, or a list was cut short. Whether a write was carried
    /// out is then not known, unless it is [`is_connect`](Self::is_connect); a read or a watch can be tried again.
    pub fn is_transport(&self) -> bool {
        match &self.0.kind {
            Kind::Transport(_) => true,
            Kind::Wire(error) => error.is_truncated(),
            _ => false,
        }
    }

    /// The server's answer could not be understood.
    pub fn is_decode(&self) -> bool {
        match &self.0.kind {
            Kind::Decode { .. } | Kind::TooLarge { .. } => true,
            Kind::Wire(error) => !error.is_truncated(),
            _ => false,
        }
    }

    /// The call makes no sense and was refused before anything was sent.
    pub fn is_invalid_request(&self) -> bool {
        matches!(self.0.kind, Kind::InvalidRequest(_))
    }

    /// The configuration or its TLS material cannot be used; only from making a client.
    pub fn is_config(&self) -> bool {
        matches!(self.0.kind, Kind::Config { .. } | Kind::Tls { .. })
    }
}

impl From<Kind> for Error {
    fn from(kind: Kind) -> Self {
        Self(Box::new(Inner { call: None, kind, hint: None }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(call) = &self.0.call {
            write!(f, "{call}: ")?;
        }
        match &self.0.kind {
            Kind::InvalidRequest(why) => write!(f, "not sent: {why}"),
            Kind::Config { what, source } => {
                write!(f, "cannot make a client: {what}")?;
                source.iter().try_for_each(|source| write!(f, ": {source}"))
            }
            Kind::Tls { what, source } => {
                write!(f, "cannot make a client: {what}")?;
                source.iter().try_for_each(|source| write!(f, ": {source}"))
            }
            Kind::Status(status) => {
                write!(f, "{status}")?;
                let mut hint = self.0.hint.iter();
                hint.try_for_each(|hint| write!(f, "; {hint}"))
            }
            Kind::Transport(error) => {
                write!(f, "{error}")?;
                let Some(transport) = self.transport() else {
                    return Ok(());
                };
                match transport.kind() {
                    // Its text says already what to try.
                    _ if transport.hint().is_some() => Ok(()),
                    TransportErrorKind::Connect => {
                        f.write_str("; check the server's address and whether it is up")
                    }
                    TransportErrorKind::Busy => {
                        f.write_str("; drop watches and bodies that nobody reads")
                    }
                    TransportErrorKind::Lost if self.0.call.as_ref().is_some_and(writes) => {
                        f.write_str("; read the object to see whether it was changed")
                    }
                    _ => Ok(()),
                }
            }
            Kind::Timeout { limit, last } => {
                write!(f, "no complete answer within {limit:?}")?;
                match last {
                    Some(last) => write!(f, "; the last try said: {}", last.0.kind_text()),
                    None => f.write_str("; allow more time by the call's or the client's timeout"),
                }
            }
            Kind::Decode { what, source } => {
                write!(f, "cannot understand the answer: {what}")?;
                source.iter().try_for_each(|source| write!(f, ": {source}"))
            }
            Kind::TooLarge { limit } => write!(
                f,
                "the answer is larger than {limit} bytes; ask for less, or read it as a stream"
            ),
            Kind::Wire(error) => write!(f, "{error}"),
        }
    }
}

fn writes(call: &CallName) -> bool {
    call.method != http::Method::GET
}

impl Inner {
    /// The text without the call's name, to stand inside another.
    fn kind_text(&self) -> String {
        match &self.kind {
            Kind::Status(status) => status.to_string(),
            Kind::Transport(error) => error.to_string(),
            _ => "a failure".to_owned(),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "client::Error({self})")
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.0.kind {
            Kind::Status(status) => Some(status),
            Kind::Config { source, .. } => source.as_ref().map(|source| source as _),
            Kind::Tls { source, .. } | Kind::Decode { source, .. } => {
                source.as_ref().map(|source| source.as_ref() as _)
            }
            Kind::Transport(error) => Some(error.as_ref()),
            Kind::Timeout { last, .. } => last.as_ref().map(|last| last as _),
            Kind::Wire(error) => Some(error),
            Kind::InvalidRequest(_) | Kind::TooLarge { .. } => None,
        }
    }
}
