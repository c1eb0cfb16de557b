//! The failure of a connection, of serving or of a set-up, as opposed to a refusal, which is an ordinary answer.

use std::fmt;
use std::io;
use std::net::SocketAddr;

/// The connection broke before the answer was complete, the server could not be served at all, or it was asked for a
/// fault that makes no sense.
///
/// The server itself never fails a call: refusals are answers with a `Status` body. A call fails as one over
/// a network does, where a [`Fault`](crate::Fault) asks for it or where the request's own body could not be
/// read.
pub struct Error(Kind);

enum Kind {
    Fault(&'static str),
    RequestBody(Box<dyn std::error::Error + Send + Sync>),
    Listen { address: SocketAddr, error: io::Error },
    Certificate(Box<dyn std::error::Error + Send + Sync>),
    Token,
    RandomBytes,
    InvalidFault(String),
}

impl Error {
    pub(crate) fn fault(what: &'static str) -> Self {
        Self(Kind::Fault(what))
    }

    pub(crate) fn request_body(source: Box<dyn std::error::Error + Send + Sync>) -> Self {
        Self(Kind::RequestBody(source))
    }

    pub(crate) fn cannot_listen(address: SocketAddr, error: io::Error) -> Self {
        Self(Kind::Listen { address, error })
    }

    pub(crate) fn no_certificate(source: Box<dyn std::error::Error + Send + Sync>) -> Self {
        Self(Kind::Certificate(source))
    }

    pub(crate) fn bad_token() -> Self {
        Self(Kind::Token)
    }

    pub(crate) fn no_random_bytes() -> Self {
        Self(Kind::RandomBytes)
    }

    pub(crate) fn invalid_fault(why: String) -> Self {
        Self(Kind::InvalidFault(why))
    }

    /// Whether a [`Fault`](crate::Fault) was not injected, since no request could ever meet it.
    pub fn is_invalid_fault(&self) -> bool {
        matches!(self.0, Kind::InvalidFault(_))
    }

    /// Whether the port to serve at is taken; port 0 takes a free one.
    pub fn is_address_in_use(&self) -> bool {
        matches!(&self.0, Kind::Listen { error, .. } if error.kind() == io::ErrorKind::AddrInUse)
    }

    /// Whether an injected [`Fault`](crate::Fault) broke the connection.
    pub fn is_injected(&self) -> bool {
        matches!(self.0, Kind::Fault(_))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Fault(what) => write!(f, "the development server broke the connection on request: {what}"),
            Kind::RequestBody(source) => write!(f, "the body of the request could not be read: {source}"),
            Kind::Listen { address, error } => {
                write!(f, "the development server cannot listen on {address}: {error}; port 0 takes a free port")
            }
            Kind::Certificate(source) => {
                write!(f, "the development server cannot make its certificate: {source}")
            }
            Kind::Token => f.write_str(
                "the token for the development server cannot be sent in a header: use letters, digits and -._~+/=",
            ),
            Kind::InvalidFault(why) => write!(f, "no request would ever meet the fault: {why}"),
            Kind::RandomBytes => {
                f.write_str("the system gave no random bytes for the development server's token; pass a token")
            }
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({self})")
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0 {
            Kind::Fault(_) | Kind::Token | Kind::RandomBytes | Kind::InvalidFault(_) => None,
            Kind::Listen { error, .. } => Some(error),
            Kind::RequestBody(source) | Kind::Certificate(source) => Some(&**source),
        }
    }
}
