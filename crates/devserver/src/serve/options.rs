//! How to serve.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

/// Options of [`DevServer::serve`](crate::DevServer::serve).
#[derive(Clone)]
pub struct ServeOptions {
    /// The address to listen on, which the certificate is made for too, besides `localhost`, `127.0.0.1`
    /// and `::1`. Default: `127.0.0.1`. Beyond loopback the token is all that protects the server.
    pub address: IpAddr,
    /// The port to listen on; 0 takes a free one. Default: 0.
    pub port: u16,
    /// The bearer token to ask for: letters, digits and `-._~+/=`. Default: a random one.
    pub token: Option<String>,
    /// How many requests a client may have going on one HTTP/2 connection, watches included. A client
    /// with more waits or opens another connection. Default: 100, as a real server has it.
    pub max_concurrent_streams: u32,
    /// How long a client may take for the TLS handshake. Default: 10 seconds.
    pub handshake_timeout: Duration,
    /// How long an HTTP/1.1 client may take until the head of its next request is there. Default: 32
    /// seconds, as a real server has it.
    pub header_timeout: Duration,
    /// How long a request may take until its answer begins, with the time its body takes to arrive; then it
    /// gets 504. Default: a minute, as a real server has it.
    pub request_timeout: Duration,
    /// After how long without a request a connection is closed. Default: 90 seconds, as a real server has
    /// it.
    pub idle_timeout: Duration,
    /// How long [`Serving::shutdown`](crate::Serving::shutdown) waits for requests that are going on before
    /// it breaks their connections. Watches are not waited for. Default: 5 seconds.
    pub shutdown_timeout: Duration,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            address: Ipv4Addr::LOCALHOST.into(),
            port: 0,
            token: None,
            max_concurrent_streams: 100,
            handshake_timeout: Duration::from_secs(10),
            header_timeout: Duration::from_secs(32),
            request_timeout: Duration::from_secs(60),
            idle_timeout: Duration::from_secs(90),
            shutdown_timeout: Duration::from_secs(5),
        }
    }
}

impl fmt::Debug for ServeOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServeOptions")
            .field("address", &self.address)
            .field("port", &self.port)
            .field("token", &self.token.as_ref().map(|_| "redacted"))
            .field("max_concurrent_streams", &self.max_concurrent_streams)
            .field("handshake_timeout", &self.handshake_timeout)
            .field("header_timeout", &self.header_timeout)
            .field("request_timeout", &self.request_timeout)
            .field("idle_timeout", &self.idle_timeout)
            .field("shutdown_timeout", &self.shutdown_timeout)
            .finish()
    }
}
