//! From requests to bytes on connections: the pool, TLS, and the credentials.
//!
//! hyper's own pool puts every request for a host on one HTTP/2 connection and leaves those beyond the peer's limit
//! of streams waiting for ever, which a program with more than 100 watches meets at once. Here [`policy`] decides
//! which connection takes a request, [`pool`] holds connections and those who wait, [`connect`] opens one.

mod body;
mod connect;
mod credentials;
mod dial;
mod error;
mod lease;
mod policy;
mod pool;
mod settings;
mod tls;
mod trust;

use http::header::{HOST, HeaderValue};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{Request, Response, StatusCode, Uri};
use kubewright_config::Config;
use tokio_rustls::TlsConnector;

use crate::body::Body;
use crate::error::{Error, Kind};
use connect::Connector;
use credentials::Authorizer;
use policy::Protocol;
use pool::Pool;
use settings::Settings;
use trust::Trust;

pub(crate) use credentials::Sent;
pub(crate) use error::{TransportError, TransportErrorKind};
pub(crate) use policy::Lane;

/// A request that never left this process is put on another connection so many times: each of them has closed just
/// when it was chosen.
const MAX_UNSENT: usize = 5;

/// One server, reached over as many connections as it takes.
pub(crate) struct Transport {
    pool: Pool,
    scheme: Scheme,
    authority: Authority,
    host_header: HeaderValue,
    credentials: Authorizer,
}

impl Transport {
    /// Nothing is opened before the first request.
    pub(crate) fn new(config: &Config, base: &Uri) -> Result<Self, Error> {
        Self::with_settings(config, base, Settings::default())
    }

    pub(crate) fn with_settings(
        config: &Config,
        base: &Uri,
        settings: Settings,
    ) -> Result<Self, Error> {
        let unusable = || {
            Error::from(Kind::Config { source: None, what: "the server's address is incomplete" })
        };
        let authority = base.authority().ok_or_else(unusable)?.clone();
        let scheme = base.scheme().ok_or_else(unusable)?.clone();
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let https = scheme == Scheme::HTTPS;
        let tls = match https {
            false => None,
            true => {
                let client = tls::client_config(&config.tls)?;
                Some((TlsConnector::from(client), tls::server_name(&config.tls, &host)?))
            }
        };
        let port = authority.port_u16().unwrap_or(if https { 443 } else { 80 });
        let host_header = HeaderValue::from_str(authority.as_str()).map_err(|_| unusable())?;
        let credentials = Authorizer::new(config)?;
        let pool = Pool::new(Connector { host, port, tls, trust: Trust::of(config), settings });
        Ok(Self { pool, scheme, authority, host_header, credentials })
    }

    /// Sends a request whose URI is a path; see [`Lane`] for the extension that says what it is for.
    pub(crate) async fn call(
        &self,
        mut request: Request<Body>,
    ) -> Result<Response<Body>, TransportError> {
        let lane = request.extensions().get::<Lane>().copied().unwrap_or(Lane::Call);
        let started = std::time::Instant::now();
        let sent = self.credentials.authorize(&mut request, started)?;
        let path = request.uri().path_and_query().cloned();
        let path = path.unwrap_or_else(|| PathAndQuery::from_static("/"));

        let mut unsent = 0;
        let (mut response, lease) = loop {
            let mut lease = self.pool.acquire(lane).await?;
            self.address(&mut request, &path, lease.protocol());
            match lease.send(request).await {
                Ok(response) => break (response, lease),
                Err(failure) => {
                    let failure = *failure;
                    unsent += 1;
                    match failure.unsent {
                        Some(again) if unsent < MAX_UNSENT => request = again,
                        Some(_) => {
                            let kind = TransportErrorKind::Unprocessed;
                            let what = "every connection closed before the request was sent";
                            return Err(TransportError::with_source(kind, what, failure.error));
                        }
                        None => return Err(failure.error),
                    }
                }
            }
        };
        if response.status() == StatusCode::UNAUTHORIZED {
            let sent = self.credentials.refused(sent, started);
            response.extensions_mut().insert(sent);
        }
        Ok(response.map(|incoming| Body::stream(body::Leased::new(incoming, lease))))
    }

    /// HTTP/2 takes scheme and authority from the URI, HTTP/1.1 a path and the `Host` header.
    fn address(
        &self,
        request: &mut Request<Body>,
        path: &PathAndQuery,
        protocol: Option<Protocol>,
    ) {
        let mut parts = http::uri::Parts::default();
        parts.path_and_query = Some(path.clone());
        if protocol == Some(Protocol::Http2) {
            parts.scheme = Some(self.scheme.clone());
            parts.authority = Some(self.authority.clone());
            *request.version_mut() = http::Version::HTTP_2;
            request.headers_mut().remove(HOST);
        } else {
            *request.version_mut() = http::Version::HTTP_11;
            request.headers_mut().insert(HOST, self.host_header.clone());
        }
        // Parts that were valid apart are valid together; the request then keeps the URI it has.
        if let Ok(uri) = Uri::from_parts(parts) {
            *request.uri_mut() = uri;
        }
    }

    /// Where the requests go, for error messages.
    pub(crate) fn peer(&self) -> String {
        self.pool.connector().peer()
    }

    /// Open connections and running requests of all lanes.
    pub(crate) fn stats(&self) -> (usize, usize) {
        let lanes = Lane::ALL.map(|lane| self.pool.stats(lane));
        let connections = lanes.iter().map(|stats| stats.connections).sum();
        (connections, lanes.iter().map(|stats| stats.streams).sum())
    }
}

#[cfg(test)]
mod test_server;

#[cfg(test)]
mod hostile_server;
#[cfg(test)]
#[path = "hostile_tests.rs"]
mod hostile_tests;
#[cfg(test)]
#[path = "transport_tests.rs"]
mod tests;
