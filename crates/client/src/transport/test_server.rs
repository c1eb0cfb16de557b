//! A server on loopback whose answers are chosen by path, and which counts what it sees.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body::{Body, Frame};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use kubewright_config::Config;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

#[derive(Clone)]
pub(super) struct Options {
    pub(super) tls: bool,
    pub(super) http2: bool,
    pub(super) max_streams: u32,
    /// Names the certificate is for.
    pub(super) names: Vec<String>,
    /// Require a client certificate signed by this authority.
    pub(super) client_ca: Option<rustls::RootCertStore>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tls: true,
            http2: true,
            max_streams: 100,
            names: vec!["127.0.0.1".into(), "localhost".into()],
            client_ca: None,
        }
    }
}

/// Connections and requests, and the end of connections on demand.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) accepted: AtomicUsize,
    pub(super) open: watch::Sender<usize>,
    /// Answers that are being given.
    pub(super) running: watch::Sender<usize>,
    pub(super) most_on_one: AtomicUsize,
    pub(super) requests: AtomicUsize,
    /// Incremented to send a GOAWAY on all connections.
    pub(super) go_away: watch::Sender<usize>,
}

impl Seen {
    pub(super) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    pub(super) fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    pub(super) async fn until_open(&self, wanted: usize) {
        self.open.subscribe().wait_for(|open| *open == wanted).await.unwrap();
    }

    pub(super) async fn until_running(&self, wanted: usize) {
        self.running.subscribe().wait_for(|running| *running == wanted).await.unwrap();
    }
}

pub(super) struct TestServer {
    pub(super) address: SocketAddr,
    pub(super) ca: Vec<u8>,
    pub(super) seen: Arc<Seen>,
    tls: bool,
}

impl TestServer {
    pub(super) async fn start(options: Options) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (ca, acceptor) = tls(&options);
        let seen = Arc::new(Seen::default());
        let server = Self { address, ca, seen: seen.clone(), tls: options.tls };
        tokio::spawn(async move {
            loop {
                let (tcp, _) = listener.accept().await.unwrap();
                let (acceptor, seen, options) = (acceptor.clone(), seen.clone(), options.clone());
                tokio::spawn(async move {
                    seen.accepted.fetch_add(1, Ordering::SeqCst);
                    let _open = Count::up(&seen.open);
                    if !options.tls {
                        return serve(tcp, &options, &seen).await;
                    }
                    if let Ok(tls) = acceptor.accept(tcp).await {
                        serve(tls, &options, &seen).await;
                    }
                });
            }
        });
        server
    }

    pub(super) fn config(&self) -> Config {
        self.config_at(self.address)
    }

    pub(super) fn config_at(&self, address: SocketAddr) -> Config {
        let scheme = if self.tls { "https" } else { "http" };
        let mut config = Config::new(format!("{scheme}://{address}"));
        config.tls.ca = self.tls.then(|| self.ca.clone());
        config
    }
}

/// A certificate of its own, and TLS with it.
pub(super) fn tls(options: &Options) -> (Vec<u8>, TlsAcceptor) {
    let certified = rcgen::generate_simple_self_signed(options.names.clone()).unwrap();
    let ca = certified.cert.pem().into_bytes();
    let key = certified.signing_key.serialize_pem();
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = match options.client_ca.clone() {
        None => builder.with_no_client_auth(),
        Some(roots) => builder.with_client_cert_verifier(
            rustls::server::WebPkiClientVerifier::builder_with_provider(roots.into(), provider)
                .build()
                .unwrap(),
        ),
    };
    let mut tls = builder.with_single_cert(vec![certified.cert.der().clone()], key).unwrap();
    tls.alpn_protocols = match options.http2 {
        true => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
        false => vec![b"http/1.1".to_vec()],
    };
    (ca, TlsAcceptor::from(Arc::new(tls)))
}

async fn serve<T>(io: T, options: &Options, seen: &Arc<Seen>)
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let here = Arc::new(AtomicUsize::new(0));
    let service = service_fn({
        let seen = seen.clone();
        move |request| answer(seen.clone(), here.clone(), request)
    });
    let mut go_away = seen.go_away.subscribe();
    let io = TokioIo::new(io);
    // A client that resets its connection is no fault of the server.
    if options.http2 && options.tls {
        let connection = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
            .max_concurrent_streams(options.max_streams)
            .serve_connection(io, service);
        tokio::pin!(connection);
        tokio::select! {
            _ = connection.as_mut() => return,
            _ = go_away.changed() => connection.as_mut().graceful_shutdown(),
        }
        let _ = connection.await;
    } else {
        let _ = hyper::server::conn::http1::Builder::new().serve_connection(io, service).await;
    }
}

async fn answer(
    seen: Arc<Seen>,
    here: Arc<AtomicUsize>,
    request: Request<Incoming>,
) -> Result<Response<Answer>, Infallible> {
    seen.requests.fetch_add(1, Ordering::SeqCst);
    let on_this = here.fetch_add(1, Ordering::SeqCst) + 1;
    seen.most_on_one.fetch_max(on_this, Ordering::SeqCst);
    let counts = (Count::up(&seen.running), Down(here));
    let query: HashMap<String, String> =
        form_urlencoded::parse(request.uri().query().unwrap_or_default().as_bytes())
            .into_owned()
            .collect();
    let chunks = query.get("chunks").and_then(|chunks| chunks.parse().ok());
    let mut response =
        Response::new(Answer { kind: Kind::Chunks(1, b"{}"), _counts: Some(counts) });
    match request.uri().path() {
        "/small" => {}
        "/hold" => response.body_mut().kind = Kind::Hold { sent: false },
        "/flood" => response.body_mut().kind = Kind::Chunks(chunks.unwrap_or(usize::MAX), FLOOD),
        "/never" => std::future::pending().await,
        "/who" => {
            let token = request.headers().get("authorization").and_then(|v| v.to_str().ok());
            if token == Some("Bearer old") {
                *response.status_mut() = StatusCode::UNAUTHORIZED;
            }
            let text = token.unwrap_or("nobody").to_owned();
            response.body_mut().kind = Kind::Text(Some(text.into()));
        }
        "/refused" => *response.status_mut() = StatusCode::UNAUTHORIZED,
        "/host" => {
            let host = request.headers().get("host").and_then(|v| v.to_str().ok());
            let host = host.or(request.uri().authority().map(|a| a.as_str()));
            let text = format!("{} {:?}", host.unwrap_or_default(), request.version());
            response.body_mut().kind = Kind::Text(Some(text.into()));
        }
        _ => *response.status_mut() = StatusCode::NOT_FOUND,
    }
    Ok(response)
}

const FLOOD: &[u8] = &[b'x'; 16 << 10];

pub(super) struct Answer {
    kind: Kind,
    _counts: Option<(Count, Down)>,
}

enum Kind {
    Text(Option<Bytes>),
    Chunks(usize, &'static [u8]),
    Hold { sent: bool },
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let chunk = match &mut self.kind {
            Kind::Text(text) => text.take(),
            Kind::Chunks(0, _) => None,
            Kind::Chunks(left, chunk) => {
                *left -= 1;
                Some(Bytes::from_static(chunk))
            }
            Kind::Hold { sent: true } => return Poll::Pending,
            Kind::Hold { sent } => {
                *sent = true;
                Some(Bytes::from_static(b"one"))
            }
        };
        Poll::Ready(chunk.map(|chunk| Ok(Frame::data(chunk))))
    }
}

/// Counts itself for as long as it lives.
pub(super) struct Count(watch::Sender<usize>);

impl Count {
    fn up(counter: &watch::Sender<usize>) -> Self {
        counter.send_modify(|count| *count += 1);
        Self(counter.clone())
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

pub(super) struct Down(Arc<AtomicUsize>);

impl Drop for Down {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
