//! Opening one connection: TCP by [`dial`](super::dial), TLS, and the protocol that ALPN has chosen.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::client::conn::{http1, http2};
use hyper::rt::Executor;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::error::{TransportError, TransportErrorKind};
use super::policy::{Lane, MAX_STREAMS, Protocol};
use super::settings::{Settings, Windows, windows};
use super::trust::Trust;
use crate::body::Body;

/// What hyper takes for the peer's limit until the peer's settings are in. No peer announces this number, so it
/// shows whether they are; and it is a little more than what is used of any connection.
const UNKNOWN_LIMIT: usize = MAX_STREAMS + 1;
/// Cancelled streams that are remembered, for a second each.
const MAX_REMEMBERED_RESETS: usize = 1024;
/// Response headers: warnings and audit annotations can be long.
const MAX_HEADER_BYTES: u32 = 256 << 10;

/// Opens connections to one server.
pub(crate) struct Connector {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) tls: Option<(TlsConnector, ServerName<'static>)>,
    /// For the advice on a certificate that is not accepted.
    pub(crate) trust: Trust,
    pub(crate) settings: Settings,
}

/// A connection that can be used as long as its driver runs.
pub(crate) struct Connected {
    pub(crate) sender: Sender,
    pub(crate) driver: Driver,
    /// Streams the peer allows at a time.
    pub(crate) announced: usize,
}

pub(crate) enum Sender {
    Http1(http1::SendRequest<Body>),
    Http2(http2::SendRequest<Body>),
}

impl Sender {
    pub(crate) fn protocol(&self) -> Protocol {
        match self {
            Self::Http1(_) => Protocol::Http1,
            Self::Http2(_) => Protocol::Http2,
        }
    }
}

/// Moves the bytes of a connection; ends when the connection takes no more requests.
pub(crate) enum Driver {
    Http1(Pin<Box<dyn Future<Output = hyper::Result<()>> + Send>>),
    Http2(Pin<Box<dyn Http2Connection>>, Arc<Progress>),
}

pub(crate) trait Http2Connection: Future<Output = hyper::Result<()>> + Send {
    fn announced(&self) -> usize;
}

impl<T> Http2Connection for http2::Connection<T, Body, Tasks>
where
    T: hyper::rt::Read + hyper::rt::Write + Send + Unpin + 'static,
{
    fn announced(&self) -> usize {
        self.current_max_send_streams()
    }
}

impl Driver {
    /// Resolves to the number of streams the peer allows when that is not `known`, or to an error when the
    /// connection has ended.
    pub(crate) async fn next_limit(&mut self, known: usize) -> Result<usize, hyper::Result<()>> {
        match self {
            Self::Http1(connection) => Err(connection.as_mut().await),
            Self::Http2(connection, progress) => loop {
                let polled = poll_fn(|cx| match connection.as_mut().poll(cx) {
                    Poll::Ready(ended) => Poll::Ready(Err(ended)),
                    Poll::Pending if connection.announced() != known => {
                        Poll::Ready(Ok(connection.announced()))
                    }
                    Poll::Pending => Poll::Pending,
                });
                tokio::select! {
                    biased;
                    outcome = polled => {
                        // A peer that allows nothing yet is watched on: no request will be sent that would show a change.
                        let settled = !matches!(outcome, Ok(0));
                        progress.settled.store(settled, Ordering::Relaxed);
                        return outcome;
                    }
                    () = progress.ran.notified() => {}
                }
            },
        }
    }
}

impl Connector {
    pub(crate) async fn connect(&self, lane: Lane) -> Result<Connected, TransportError> {
        let tcp = self.dial().await?;
        let Some((connector, name)) = &self.tls else {
            return self.http1(tcp).await;
        };
        let handshake = connector.connect(name.clone(), tcp);
        let tls = match timeout(self.settings.tls, handshake).await {
            Ok(Ok(tls)) => tls,
            Ok(Err(error)) => {
                let hint = self.trust.hint(&error);
                return Err(TransportError::with_source_and_hint(
                    TransportErrorKind::Connect,
                    format!("TLS handshake with {}", self.peer()),
                    error,
                    hint,
                ));
            }
            Err(_) => return Err(self.timed_out("TLS handshake", self.settings.tls)),
        };
        match tls.get_ref().1.alpn_protocol() {
            Some(b"h2") => self.http2(lane, tls).await,
            _ => self.http1(tls).await,
        }
    }

    async fn http1<T>(&self, io: T) -> Result<Connected, TransportError>
    where
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (sender, connection) = http1::Builder::new()
            .handshake(TokioIo::new(io))
            .await
            .map_err(|error| self.failed("HTTP/1.1 handshake", error))?;
        Ok(Connected {
            sender: Sender::Http1(sender),
            driver: Driver::Http1(Box::pin(connection)),
            announced: 1,
        })
    }

    async fn http2<T>(&self, lane: Lane, io: T) -> Result<Connected, TransportError>
    where
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let Windows { stream, connection } = windows(lane);
        let progress = Arc::new(Progress::default());
        let (sender, connection) = http2::Builder::new(Tasks(progress.clone()))
            .timer(TokioTimer::new())
            .initial_stream_window_size(stream)
            .initial_connection_window_size(connection)
            .initial_max_send_streams(UNKNOWN_LIMIT)
            .max_header_list_size(MAX_HEADER_BYTES)
            // Answers to cancelled calls come late. h2 remembers few of the cancelled streams, takes what comes for
            // the others for a fault of the peer, and by default ends the connection at the 1024th of its life.
            .max_concurrent_reset_streams(MAX_REMEMBERED_RESETS)
            .max_local_error_reset_streams(None)
            .keep_alive_interval(self.settings.ping_interval)
            .keep_alive_timeout(self.settings.ping_timeout)
            // An unused connection that has died should not be found out by the next call.
            .keep_alive_while_idle(true)
            .handshake(TokioIo::new(io))
            .await
            .map_err(|error| self.failed("HTTP/2 handshake", error))?;
        let mut driver = Driver::Http2(Box::pin(connection), progress);
        // Every server sends its settings at once. Without them in time the usual limit is assumed.
        let settings = driver.next_limit(UNKNOWN_LIMIT);
        let announced = match timeout(self.settings.peer_settings, settings).await {
            Ok(Ok(announced)) => announced,
            Err(_) => UNKNOWN_LIMIT,
            Ok(Err(Err(error))) => return Err(self.failed("HTTP/2 handshake", error)),
            Ok(Err(Ok(()))) => {
                let what = format!("{} closed the connection at once", self.peer());
                return Err(TransportError::new(TransportErrorKind::Connect, what));
            }
        };
        Ok(Connected { sender: Sender::Http2(sender), driver, announced })
    }

    pub(crate) fn peer(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }

    pub(super) fn failed(
        &self,
        what: impl Into<String>,
        error: impl std::error::Error + Send + Sync + 'static,
    ) -> TransportError {
        TransportError::with_source(TransportErrorKind::Connect, what, error)
    }

    pub(super) fn timed_out(&self, what: &str, limit: Duration) -> TransportError {
        let what = format!("{what} ({}) took more than {limit:?}", self.peer());
        TransportError::new(TransportErrorKind::Connect, what)
    }
}

/// Runs hyper's tasks for a connection.
///
/// hyper can be asked for the peer's limit of streams but does not say when it is known. The limit comes in while
/// one of these tasks runs, so until it is there the driver looks again after each of their steps. (A later change
/// is seen when the next request is sent, which wakes the driver anyway.)
#[derive(Clone)]
pub(crate) struct Tasks(Arc<Progress>);

/// See [`Tasks`].
#[derive(Default)]
pub(crate) struct Progress {
    ran: Notify,
    settled: AtomicBool,
}

impl<F> Executor<F> for Tasks
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, task: F) {
        tokio::spawn(Watched { task: Box::pin(task), progress: self.0.clone() });
    }
}

struct Watched<F> {
    task: Pin<Box<F>>,
    progress: Arc<Progress>,
}

impl<F: Future<Output = ()>> Future for Watched<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let state = self.task.as_mut().poll(cx);
        if !self.progress.settled.load(Ordering::Relaxed) {
            self.progress.ran.notify_one();
        }
        state
    }
}
