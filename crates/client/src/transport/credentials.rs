//! What is sent to say who calls, and how it is named when the server refuses it.

use std::time::Instant;

use http::Request;
use http::header::{AUTHORIZATION, HeaderValue};
use kubewright_config::{Config, Credentials, Secret, Setting, TokenFile};

use super::error::{TransportError, TransportErrorKind};
use crate::body::Body;
use crate::error::{Error, Kind};

/// Adds the configuration's credentials to requests.
pub(crate) struct Authorizer {
    bearer: Bearer,
    /// The parts of an answer to "what was sent?", without any secret.
    token: Option<String>,
    certificate: Option<String>,
    nothing: String,
}

enum Bearer {
    None,
    Fixed(HeaderValue),
    File(TokenFile),
}

/// What a request had in its `Authorization` header.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Header {
    /// Its own, put there by the caller or a layer.
    Own,
    /// The token of the configuration.
    Token,
    None,
}

/// On answers with 401: which credentials were sent, as a part of the error's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sent(pub(crate) String);

impl Sent {
    /// For a request that brought its own.
    pub(crate) fn own_header() -> Self {
        Self("sent was the request's own Authorization header".to_owned())
    }

    /// For what no transport of this crate has carried.
    pub(crate) fn by_service() -> Self {
        let text = "the client sent no credentials; its service has to add them";
        Self(text.to_owned())
    }
}

impl Authorizer {
    pub(crate) fn new(config: &Config) -> Result<Self, Error> {
        let bearer = match &config.credentials {
            Credentials::Token(token) => Bearer::Fixed(bearer(token)?),
            Credentials::TokenFile(file) => Bearer::File(file.clone()),
            _ => Bearer::None,
        };
        let origin = |setting| match config.origin(setting) {
            Some(origin) => origin.to_string(),
            None => "the caller's settings".to_owned(),
        };
        let token = match &bearer {
            Bearer::None => None,
            Bearer::Fixed(_) => Some(format!("the token of {}", origin(Setting::Credentials))),
            Bearer::File(file) => {
                let (path, origin) = (file.path().display(), config.origin(Setting::Credentials));
                // In a cluster the file itself is the origin.
                let entry = origin.filter(|origin| origin.file() != Some(file.path()));
                Some(match entry {
                    Some(entry) => format!("the token in {path}, the tokenFile of {entry}"),
                    None => format!("the token in {path}"),
                })
            }
        };
        let identity = config.tls.client_identity.as_ref();
        let certificate = identity
            .map(|_| format!("the client certificate of {}", origin(Setting::ClientIdentity)));
        let nothing = match config.origin(Setting::Credentials) {
            Some(user) => format!("{user} has neither a token nor a client certificate"),
            None => "the configuration has neither a token nor a client certificate".to_owned(),
        };
        Ok(Self { bearer, token, certificate, nothing })
    }

    /// Adds the token unless the request brings its own.
    pub(crate) fn authorize(
        &self,
        request: &mut Request<Body>,
        now: Instant,
    ) -> Result<Header, TransportError> {
        if request.headers().contains_key(AUTHORIZATION) {
            return Ok(Header::Own);
        }
        let failed = |error: Box<dyn std::error::Error + Send + Sync>| {
            let what = "no token to send";
            TransportError::with_source(TransportErrorKind::Credentials, what, error)
        };
        let value = match &self.bearer {
            Bearer::None => return Ok(Header::None),
            Bearer::Fixed(value) => value.clone(),
            Bearer::File(file) => {
                let token = file.token(now).map_err(|error| failed(error.into()))?;
                bearer(&token).map_err(|error| failed(error.into()))?
            }
        };
        request.headers_mut().insert(AUTHORIZATION, value);
        Ok(Header::Token)
    }

    /// The server has refused a request begun at `started`: a token's file is read again, and what was sent is named.
    pub(crate) fn refused(&self, header: Header, started: Instant) -> Sent {
        if let (Header::Token, Bearer::File(file)) = (header, &self.bearer) {
            file.invalidate(started);
        }
        let token = match header {
            Header::Own => return Sent::own_header(),
            Header::Token => self.token.as_deref(),
            Header::None => None,
        };
        let sent: Vec<_> = token.into_iter().chain(self.certificate.as_deref()).collect();
        Sent(match sent.is_empty() {
            true => format!("no credentials were sent: {}", self.nothing),
            false => {
                format!("sent: {}; is it one for this server, and not expired?", sent.join(" and "))
            }
        })
    }
}

fn bearer(token: &Secret) -> Result<HeaderValue, Error> {
    let text = [b"Bearer ", token.expose()].concat();
    // The cause is left out: nothing of the token may be shown.
    let mut value = HeaderValue::from_bytes(&text).map_err(|_| Kind::Config {
        source: None,
        what: "the token cannot stand in an HTTP header",
    })?;
    value.set_sensitive(true);
    Ok(value)
}
