//! How a request can fail on its way, told apart by what may be done about it.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use crate::body::BoxError;

/// A failure of the transport. Cheap to clone, since one failed dial fails all who waited for it.
#[derive(Clone, Debug)]
pub(crate) struct TransportError(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    kind: TransportErrorKind,
    message: String,
    source: Option<BoxError>,
    /// What to try, shown at the end.
    hint: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TransportErrorKind {
    /// No connection could be made.
    Connect,
    /// All connections are in use; nothing was sent.
    Busy,
    /// The request was refused before anything was done with it; any verb may be sent again.
    Unprocessed,
    /// The connection failed after the request was (perhaps) seen, before there was a response.
    Lost,
    /// The connection failed in the middle of a response's body.
    Body,
    /// The credentials to send could not be had.
    Credentials,
}

impl TransportError {
    pub(crate) fn new(kind: TransportErrorKind, message: impl Into<String>) -> Self {
        Self::of(kind, message.into(), None, None)
    }

    pub(crate) fn with_source(
        kind: TransportErrorKind,
        message: impl Into<String>,
        source: impl Into<BoxError>,
    ) -> Self {
        Self::of(kind, message.into(), Some(source.into()), None)
    }

    /// With what to try, in place of the advice that goes with its kind.
    pub(crate) fn with_source_and_hint(
        kind: TransportErrorKind,
        message: impl Into<String>,
        source: impl Into<BoxError>,
        hint: Option<String>,
    ) -> Self {
        Self::of(kind, message.into(), Some(source.into()), hint)
    }

    fn of(
        kind: TransportErrorKind,
        message: String,
        source: Option<BoxError>,
        hint: Option<String>,
    ) -> Self {
        Self(Arc::new(Inner { kind, message, source, hint }))
    }

    /// What hyper reports for a request that got no response.
    pub(crate) fn of_request(error: hyper::Error) -> Self {
        let kind = match refused_unprocessed(&error) {
            true => TransportErrorKind::Unprocessed,
            false => TransportErrorKind::Lost,
        };
        Self::with_source(kind, "the connection failed before a response", error)
    }

    pub(crate) fn kind(&self) -> TransportErrorKind {
        self.0.kind
    }

    pub(crate) fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }
}

/// Whether the peer has named the stream as one it did nothing with: `REFUSED_STREAM`, or a graceful `GOAWAY`
/// that ends below it. (Streams that a graceful `GOAWAY` includes do not fail with it: they end as they would, or
/// with the connection. A `GOAWAY` for an error is no such promise, since the connection's end repeats it for all.)
fn refused_unprocessed(error: &hyper::Error) -> bool {
    let mut cause: Option<&(dyn StdError + 'static)> = error.source();
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<h2::Error>() {
            let wanted = match error.is_go_away() {
                true => h2::Reason::NO_ERROR,
                false => h2::Reason::REFUSED_STREAM,
            };
            return error.is_remote() && error.reason() == Some(wanted);
        }
        cause = error.source();
    }
    false
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        let mut cause = self.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        self.hint().iter().try_for_each(|hint| write!(f, "; {hint}"))
    }
}

impl StdError for TransportError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_ref().map(|source| source.as_ref() as _)
    }
}
