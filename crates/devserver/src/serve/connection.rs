//! One connection: TLS, then HTTP in the version the client chose.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use http::header::{CONTENT_LENGTH, HeaderValue};
use http::{Method, Request, Response};
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use kubewright_meta::{Reason, StatusError};
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
/// How long the farewell of a connection without requests may take.
const LINGER: Duration = Duration::from_secs(1);
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
                let is_head = request.method() == Method::HEAD;
                let mut answer = connections.answer(request).await?;
                if is_head {
                    answer = without_body(answer);
                }
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
        if let Err(refusal) = self.token.check(&request) {
            return Ok(protocol::failure(&refusal));
        }
        // The service is always ready.
        let answer = self.service.clone().call(request);
        match tokio::time::timeout(self.options.request_timeout, answer).await {
            Ok(answer) => answer,
            Err(_) => {
                let message = "Timeout: request did not complete within the allotted timeout";
                Ok(protocol::failure(&StatusError::of(Reason::Timeout, message)))
            }
        }
    }

    /// Runs a connection to its end. At the stop signal, or after an idle time, it takes no new requests and
    /// ends when those it has are answered. A client that does not do its part in that is not waited for.
    async fn drive<C>(&self, connection: C, end: impl Fn(Pin<&mut C>), activity: &Activity)
    where
        C: Future<Output = hyper::Result<()>>,
    {
        let mut connection = pin!(connection);
        let mut ending = false;
        loop {
            let gone = async {
                tokio::time::sleep(LINGER).await;
                activity.idle_for(Duration::ZERO).await;
            };
            tokio::select! {
                result = connection.as_mut() => {
                    if let Err(error) = result {
                        tracing::debug!(%error, "a connection ended with an error");
                    }
                    return;
                }
                () = self.tasks.stop.cancelled(), if !ending => {}
                () = activity.idle_for(self.options.idle_timeout), if !ending => {}
                () = gone, if ending => return,
            }
            ending = true;
            end(connection.as_mut());
        }
    }
}

/// The answer to `HEAD`: over HTTP/2 a body would be a breach of protocol.
fn without_body(mut answer: Response<Body>) -> Response<Body> {
    if let Some(length) = answer.body().size_hint().exact() {
        answer.headers_mut().entry(CONTENT_LENGTH).or_insert(HeaderValue::from(length));
    }
    answer.map(|_| Body::whole(""))
}
