//! One connection: TLS, then HTTP in the version the client chose.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::ServerConfig;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tower_service::Service;

use super::ServeOptions;
use super::activity::Activity;
use super::authentication::Token;
use super::body::Served;
use super::serving::Tasks;
use crate::protocol::{self, Body};

/// A dead peer is found by a ping that is not answered.
const PING_PERIOD: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(15);
/// As a real server has it: heads of up to 1 MiB, and so much of request bodies on the way at once.
const MAX_HEAD: u32 = 1 << 20;
const STREAM_WINDOW: u32 = 256 << 10;
const CONNECTION_WINDOW: u32 = 4 << 20;

/// What answers the requests.
pub(super) trait ApiService:
    Service<Request<Incoming>, Response = Response<Body>, Error = crate::Error, Future: Send>
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<S> ApiService for S where
    S: Service<Request<Incoming>, Response = Response<Body>, Error = crate::Error, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// What all connections share.
pub(super) struct Connections<S> {
    pub(super) service: S,
    pub(super) token: Token,
    pub(super) tls: Arc<ServerConfig>,
    pub(super) options: ServeOptions,
    pub(super) tasks: Tasks,
}

impl<S: ApiService> Connections<S> {
    /// Looks after a connection to its end, in a task of its own.
    pub(super) fn start(self: &Arc<Self>, stream: TcpStream) {
        let connections = self.clone();
        self.tasks.spawn(async move {
            if let Some(stream) = connections.shake_hands(stream).await {
                connections.serve(stream).await;
            }
        });
    }

    /// What goes wrong here is the client's affair, and told at debug level: a port scan is no news.
    async fn shake_hands(&self, stream: TcpStream) -> Option<TlsStream<TcpStream>> {
        // Events are small and must not wait for each other.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
        let handshake = TlsAcceptor::from(self.tls.clone()).accept(stream);
        let handshake = tokio::time::timeout(self.options.handshake_timeout, handshake);
        let result = tokio::select! {
            result = handshake => result,
            () = self.tasks.stop.cancelled() => return None,
        };
        match result {
            Ok(Ok(stream)) => Some(stream),
            Ok(Err(error)) => {
                tracing::debug!(%error, "TLS handshake failed");
                None
            }
            Err(_) => {
                tracing::debug!("TLS handshake took too long");
                None
            }
        }
    }

    async fn serve(self: Arc<Self>, stream: TlsStream<TcpStream>) {
        let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        let activity = Activity::new();
        let requests = activity.clone();
        let connections = self.clone();
        let service = service_fn(move |request| {
            let (connections, busy) = (connections.clone(), requests.begin());
            async move {
                let answer = connections.answer(request).await?;
                let stop = connections.tasks.stop.clone();
                Ok::<_, crate::Error>(answer.map(|body| Served::new(body, stop, busy)))
            }
        });
        let stream = TokioIo::new(stream);
        if is_http2 {
            let connection = http2::Builder::new(self.tasks.clone())
                .timer(TokioTimer::new())
                .max_concurrent_streams(self.options.max_concurrent_streams)
                .initial_stream_window_size(STREAM_WINDOW)
                .initial_connection_window_size(CONNECTION_WINDOW)
                .max_header_list_size(MAX_HEAD)
                .keep_alive_interval(PING_PERIOD)
                .keep_alive_timeout(PING_TIMEOUT)
                .serve_connection(stream, service);
            self.drive(connection, |connection| connection.graceful_shutdown(), &activity).await;
        } else {
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(self.options.header_timeout)
                .serve_connection(stream, service);
            self.drive(connection, |connection| connection.graceful_shutdown(), &activity).await;
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Body>, crate::Error> {
        match self.token.check(&request) {
            // The service is always ready.
            Ok(()) => self.service.clone().call(request).await,
            Err(refusal) => Ok(protocol::failure(&refusal)),
        }
    }

    /// Runs a connection to its end. At the stop signal, or after an idle time, it takes no new requests and
    /// ends when those it has are answered.
    async fn drive<C>(&self, connection: C, end: impl Fn(Pin<&mut C>), activity: &Activity)
    where
        C: Future<Output = hyper::Result<()>>,
    {
        let mut connection = pin!(connection);
        let mut ending = false;
        loop {
            tokio::select! {
                result = connection.as_mut() => {
                    if let Err(error) = result {
                        tracing::debug!(%error, "a connection ended with an error");
                    }
                    return;
                }
                () = self.tasks.stop.cancelled(), if !ending => {}
                () = activity.idle_for(self.options.idle_timeout), if !ending => {}
            }
            ending = true;
            end(connection.as_mut());
        }
    }
}
