//! What is sent again when a connection fails, against an HTTP/2 server that fails on purpose.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Method, Response};
use kubewright_client::{Body, BoxError, CarrierService, Client, Error, RestClient};
use kubewright_config::Config;
use kubewright_meta::GroupVersion;
use parking_lot::Mutex;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// What the server does with a request, once it has read it.
#[derive(Clone, Copy, PartialEq)]
enum Act {
    Answer,
    /// Resets the stream as not processed.
    Refuse,
    /// Resets the stream for another reason.
    Reset,
    /// Closes the connection.
    Close,
}

#[derive(Default)]
struct Seen {
    requests: Mutex<Vec<(Method, Bytes)>>,
    script: Mutex<Vec<Act>>,
}

async fn start(mut script: Vec<Act>) -> (Client, Arc<Seen>) {
    script.reverse();
    let seen = Arc::new(Seen { script: Mutex::new(script), ..Seen::default() });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    let certified = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let key = certified.signing_key.serialize_pem();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certified.cert.der().clone()],
            PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap(),
        )
        .unwrap();
    tls.alpn_protocols = vec![b"h2".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(tls));
    let state = seen.clone();
    tokio::spawn(async move {
        loop {
            let (tcp, _) = listener.accept().await.unwrap();
            let (acceptor, seen) = (acceptor.clone(), state.clone());
            tokio::spawn(async move {
                let tls = acceptor.accept(tcp).await.unwrap();
                let mut connection = h2::server::handshake(tls).await.unwrap();
                let (close, mut closed) = tokio::sync::mpsc::channel(1);
                loop {
                    tokio::select! {
                        request = connection.accept() => match request {
                            Some(Ok((request, respond))) => {
                                tokio::spawn(serve(seen.clone(), request, respond, close.clone()));
                            }
                            _ => return,
                        },
                        _ = closed.recv() => return,
                    }
                }
            });
        }
    });
    let mut config = Config::new(format!("https://{address}/k8s/c-1/"));
    config.tls.ca = Some(certified.cert.pem().into_bytes());
    (Client::new(config).unwrap(), seen)
}

async fn serve(
    seen: Arc<Seen>,
    request: http::Request<h2::RecvStream>,
    mut respond: h2::server::SendResponse<Bytes>,
    close: tokio::sync::mpsc::Sender<()>,
) {
    assert!(request.uri().path().starts_with("/k8s/c-1/api/v1/"), "{}", request.uri());
    assert_eq!(request.uri().path().matches("/k8s").count(), 1);
    let (head, mut body) = request.into_parts();
    let mut bytes = Vec::new();
    while let Some(chunk) = body.data().await {
        let chunk = chunk.unwrap();
        body.flow_control().release_capacity(chunk.len()).unwrap();
        bytes.extend_from_slice(&chunk);
    }
    seen.requests.lock().push((head.method, bytes.into()));
    let act = seen.script.lock().pop();
    match act.expect("an act for every request") {
        Act::Answer => {
            let mut stream = respond.send_response(Response::new(()), false).unwrap();
            stream.send_data("{}".into(), true).unwrap();
        }
        Act::Refuse => respond.send_reset(h2::Reason::REFUSED_STREAM),
        Act::Reset => respond.send_reset(h2::Reason::INTERNAL_ERROR),
        Act::Close => close.send(()).await.unwrap(),
    }
}

fn body() -> Bytes {
    Bytes::from(vec![b'x'; 100_000])
}

async fn send(client: &Client, method: &Method) -> Result<(), Error> {
    let rest = RestClient::for_group_version(client, &GroupVersion::new("", "v1"));
    let request = match method.as_str() {
        "GET" => rest.get().namespace("a").resource("pods").name("p"),
        "POST" => rest.post().namespace("a").resource("pods").body(body()),
        "PUT" => rest.put().namespace("a").resource("pods").name("p").body(body()),
        _ => rest.delete().namespace("a").resource("pods").name("p").body(body()),
    };
    request.send().await.map(drop)
}

#[tokio::test]
async fn what_was_not_processed_is_sent_again_unchanged() {
    for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE] {
        let (client, seen) = start(vec![Act::Refuse, Act::Answer]).await;
        send(&client, &method).await.unwrap();
        let requests = seen.requests.lock();
        assert_eq!(requests.len(), 2, "{method}");
        assert_eq!(requests[0], requests[1]);
        assert_eq!(requests[0].1.len(), if method == Method::GET { 0 } else { 100_000 });
        assert_eq!((client.calls().total(), client.calls().retries()), (1, 1));
    }
}

#[tokio::test]
async fn a_write_whose_fate_is_unknown_is_not_sent_again() {
    for act in [Act::Reset, Act::Close] {
        for method in [Method::POST, Method::PUT, Method::DELETE] {
            let (client, seen) = start(vec![act]).await;
            let error = send(&client, &method).await.unwrap_err();
            assert!(error.is_transport() && !error.is_connect(), "{error}");
            assert!(error.to_string().contains("read the object"), "{error}");
            assert_eq!(seen.requests.lock().len(), 1);
        }
    }
}

#[tokio::test]
async fn a_read_is_sent_again_on_a_new_connection() {
    for act in [Act::Reset, Act::Close] {
        let (client, seen) = start(vec![act, Act::Answer]).await;
        send(&client, &Method::GET).await.unwrap();
        assert_eq!(seen.requests.lock().len(), 2);
        assert_eq!(client.calls().retries(), 1);
    }
}

/// A client of a server that is not there.
async fn client_of_nobody() -> Client {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    Client::new(Config::new(format!("http://{address}"))).unwrap()
}

#[tokio::test]
async fn a_server_that_is_not_there_is_said_at_once() {
    let client = client_of_nobody().await;
    let error = send(&client, &Method::GET).await.unwrap_err();
    assert!(error.is_connect() && error.is_transport(), "{error}");
    assert_eq!(client.calls().retries(), 0);
    assert!(error.to_string().starts_with("GET /api/v1/namespaces/a/pods/p: "), "{error}");
    assert!(error.to_string().contains("check the server's address"), "{error}");
}

/// A layer that says about errors what it has to say.
#[derive(Clone)]
struct Wrapping(CarrierService);

#[derive(Debug)]
struct Wrapped(BoxError);

impl std::fmt::Display for Wrapped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("behind the layer")
    }
}

impl std::error::Error for Wrapped {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.0.as_ref())
    }
}

impl tower_service::Service<http::Request<Body>> for Wrapping {
    type Response = Response<Body>;
    type Error = Wrapped;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Wrapped>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Wrapped>> {
        self.0.poll_ready(cx).map_err(Wrapped)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let answer = self.0.call(request);
        Box::pin(async { answer.await.map_err(Wrapped) })
    }
}

#[tokio::test]
async fn a_layer_changes_nothing_of_what_is_known_about_the_network() {
    let (below, seen) = start(vec![Act::Refuse, Act::Answer]).await;
    let client = below.with_layer(Wrapping);
    send(&client, &Method::POST).await.unwrap();
    assert_eq!(seen.requests.lock().len(), 2);
    assert_eq!(client.connections().connections, 1);
    assert_eq!(client.connections(), below.connections());
    assert_eq!((client.calls().total(), below.calls().total()), (1, 0));

    let client = client_of_nobody().await.with_layer(Wrapping);
    let error = send(&client, &Method::GET).await.unwrap_err();
    assert!(error.is_connect(), "{error}");
}

#[test]
fn a_configuration_that_cannot_be_used_makes_no_client() {
    for server in ["", "ftp://lab", "https://"] {
        assert!(Client::new(Config::new(server)).unwrap_err().is_config());
    }
    let mut config = Config::new("https://lab");
    config.user_agent = Some("a\nb".into());
    assert!(Client::new(config).unwrap_err().is_config());
}
