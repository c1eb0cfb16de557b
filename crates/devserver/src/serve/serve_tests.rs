//! Over real sockets, with a plain hyper client.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::{DevServer, Fault, ServeOptions, Serving};

/// Far longer than anything here takes: a test that waits so long has failed.
const PATIENCE: Duration = Duration::from_secs(30);
const SOON: Duration = Duration::from_millis(50);

type BodyOfRequest = Full<Bytes>;

/// One connection.
enum Connection {
    Http1(http1::SendRequest<BodyOfRequest>),
    Http2(http2::SendRequest<BodyOfRequest>),
}

impl Connection {
    async fn open(serving: &Serving, protocol: &str) -> Self {
        let stream = TokioIo::new(tls(serving, &[protocol], "127.0.0.1").await.unwrap());
        if protocol == "h2" {
            let (sender, connection) =
                http2::handshake(TokioExecutor::new(), stream).await.unwrap();
            tokio::spawn(connection);
            Self::Http2(sender)
        } else {
            let (sender, connection) = http1::handshake(stream).await.unwrap();
            tokio::spawn(connection);
            Self::Http1(sender)
        }
    }

    async fn send(&mut self, request: Request<BodyOfRequest>) -> hyper::Result<Response<Incoming>> {
        match self {
            Self::Http1(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
            Self::Http2(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
        }
    }

    async fn get(&mut self, serving: &Serving, path: &str) -> hyper::Result<Response<Incoming>> {
        self.send(request(serving, Method::GET, path, "")).await
    }
}

fn request(serving: &Serving, method: Method, path: &str, body: &str) -> Request<BodyOfRequest> {
    Request::builder()
        .method(method)
        .uri(format!("{}{path}", serving.url()))
        .header("authorization", format!("Bearer {}", serving.token()))
        .body(Full::from(body.to_owned()))
        .unwrap()
}

async fn tls(
    serving: &Serving,
    alpn: &[&str],
    name: &'static str,
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(serving.ca_pem().as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
    let stream = TcpStream::connect(serving.address()).await?;
    TlsConnector::from(Arc::new(config)).connect(ServerName::try_from(name).unwrap(), stream).await
}

async fn text(answer: Response<Incoming>) -> String {
    let bytes = answer.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The next piece of a body that goes on. HTTP/2 may end one with an empty piece.
async fn piece(body: &mut Incoming) -> Option<hyper::Result<Bytes>> {
    loop {
        let frame = tokio::time::timeout(PATIENCE, body.frame()).await.expect("nothing came")?;
        match frame.map(|frame| frame.into_data().unwrap()) {
            Ok(empty) if empty.is_empty() => {}
            other => return Some(other),
        }
    }
}

/// Whether a body is over, without an error.
async fn ends(body: &mut Incoming) -> bool {
    match piece(body).await {
        None => true,
        Some(more) => panic!("no clean end but {more:?}"),
    }
}

async fn create_config_map(connection: &mut Connection, serving: &Serving, name: &str) {
    let body =
        serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
    let path = "/api/v1/namespaces/default/configmaps";
    let answer =
        connection.send(request(serving, Method::POST, path, &body.to_string())).await.unwrap();
    assert_eq!(answer.status(), StatusCode::CREATED);
}

const WATCH: &str = "/api/v1/configmaps?watch=true&resourceVersion=0";

#[tokio::test]
async fn both_versions_of_http_ask_for_the_token() {
    let serving = DevServer::new().serve(ServeOptions::default()).await.unwrap();
    for protocol in ["h2", "http/1.1"] {
        let mut connection = Connection::open(&serving, protocol).await;
        let answer = connection.get(&serving, "/api/v1/namespaces/default").await.unwrap();
        assert_eq!(answer.status(), 200, "{protocol}");
        assert!(text(answer).await.contains("\"kind\":\"Namespace\""));

        let mut anonymous = request(&serving, Method::GET, "/api/v1/namespaces", "");
        anonymous.headers_mut().remove("authorization");
        let answer = connection.send(anonymous).await.unwrap();
        assert_eq!(
            (answer.status(), &answer.headers()["content-type"]),
            (StatusCode::UNAUTHORIZED, &"application/json".parse().unwrap())
        );
        let status: serde_json::Value = serde_json::from_str(&text(answer).await).unwrap();
        assert_eq!((&status["reason"], &status["code"]), (&"Unauthorized".into(), &401.into()));

        let mut anonymous = request(&serving, Method::GET, "/readyz", "");
        anonymous.headers_mut().remove("authorization");
        assert_eq!(text(connection.send(anonymous).await.unwrap()).await, "ok");
    }
    serving.shutdown().await;
}

#[tokio::test]
async fn head_is_answered_without_a_body() {
    let serving = DevServer::new().serve(ServeOptions::default()).await.unwrap();
    for protocol in ["h2", "http/1.1"] {
        let mut connection = Connection::open(&serving, protocol).await;
        for (path, code) in [("/livez", 200), ("/version", 405)] {
            let request = request(&serving, Method::HEAD, path, "");
            let answer = connection.send(request).await.unwrap();
            assert_eq!(answer.status(), code, "{protocol} {path}");
            assert_ne!(answer.headers()["content-length"], "0", "{protocol} {path}");
            assert_eq!(text(answer).await, "", "{protocol} {path}");
        }
    }
}

#[tokio::test]
async fn the_certificate_is_good_for_loopback_by_any_name_and_for_nothing_else() {
    let serving = DevServer::new().serve(ServeOptions::default()).await.unwrap();
    for name in ["localhost", "127.0.0.1", "::1"] {
        let stream = tls(&serving, &["h2", "http/1.1"], name).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]), "{name}");
    }
    assert!(tls(&serving, &["h2"], "example.com").await.is_err());
    let other = DevServer::new().serve(ServeOptions::default()).await.unwrap();
    assert_ne!(other.ca_pem(), serving.ca_pem());

    // Without ALPN, as old clients: HTTP/1.1.
    let mut stream = tls(&serving, &[], "127.0.0.1").await.unwrap();
    stream.write_all(b"GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nok"),
        "{answer}"
    );
}

#[tokio::test]
async fn shutdown_ends_watches_cleanly_and_frees_the_port() {
    let server = DevServer::new();
    for protocol in ["h2", "http/1.1"] {
        let serving = server.serve(ServeOptions::default()).await.unwrap();
        let address = serving.address();
        let mut connection = Connection::open(&serving, protocol).await;
        let mut watch = connection.get(&serving, WATCH).await.unwrap().into_body();
        let name = format!("before-{}", protocol.replace('/', "-"));
        create_config_map(&mut Connection::open(&serving, "h2").await, &serving, &name).await;
        let mut seen = String::new();
        while !seen.contains(&name) {
            seen += std::str::from_utf8(&piece(&mut watch).await.unwrap().unwrap()).unwrap();
        }
        tokio::time::timeout(PATIENCE, serving.shutdown()).await.unwrap();
        assert!(ends(&mut watch).await, "{protocol}");
        let refused = TcpStream::connect(address).await.unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);

        // The same server at the same place, with what it had.
        let options = ServeOptions { port: address.port(), ..ServeOptions::default() };
        let serving = server.serve(options).await.unwrap();
        let mut connection = Connection::open(&serving, protocol).await;
        let path = format!("/api/v1/namespaces/default/configmaps/{name}");
        assert_eq!(connection.get(&serving, &path).await.unwrap().status(), 200);
    }
}

#[tokio::test]
async fn shutdown_does_not_wait_for_ever() {
    let server = DevServer::new();
    let fault = Fault::on("list", "configmaps").times(2).delay(Duration::from_secs(3600));
    let fault = server.faults().inject(fault).unwrap();
    let options = ServeOptions { shutdown_timeout: SOON, ..ServeOptions::default() };
    let serving = server.serve(options).await.unwrap();
    let stuck = ["h2", "http/1.1"].map(|protocol| {
        let list = request(&serving, Method::GET, "/api/v1/configmaps", "");
        (protocol, list)
    });
    let mut tasks = Vec::new();
    for (protocol, list) in stuck {
        let mut connection = Connection::open(&serving, protocol).await;
        tasks.push(tokio::spawn(async move { connection.send(list).await }));
    }
    while fault.hits() < 2 {
        tokio::task::yield_now().await;
    }
    // A connection that never says a word is no hindrance either.
    let silent = TcpStream::connect(serving.address()).await.unwrap();
    tokio::time::timeout(PATIENCE, serving.shutdown()).await.unwrap();
    for task in tasks {
        assert!(task.await.unwrap().is_err());
    }
    drop(silent);
}

#[tokio::test]
async fn dropping_breaks_what_goes_on() {
    let serving = DevServer::new().serve(ServeOptions::default()).await.unwrap();
    let mut connection = Connection::open(&serving, "h2").await;
    let mut watch = connection.get(&serving, WATCH).await.unwrap().into_body();
    let address = serving.address();
    drop(serving);
    while let Some(Ok(_)) = piece(&mut watch).await {}
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_connection_carries_so_many_streams_and_no_more() {
    let options = ServeOptions { max_concurrent_streams: 2, ..ServeOptions::default() };
    let serving = DevServer::new().serve(options).await.unwrap();
    let mut connection = Connection::open(&serving, "h2").await;
    let first = connection.get(&serving, WATCH).await.unwrap();
    let _second = connection.get(&serving, WATCH).await.unwrap();
    let mut third = std::pin::pin!(connection.get(&serving, "/version"));
    let mut other = Connection::open(&serving, "h2").await;
    tokio::select! {
        biased;
        _ = &mut third => panic!("a third stream was let in"),
        answer = other.get(&serving, "/version") => assert_eq!(answer.unwrap().status(), 200),
    }
    drop(first);
    assert_eq!(tokio::time::timeout(PATIENCE, third).await.unwrap().unwrap().status(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hundreds_of_watches_are_served_and_ended() {
    const CONNECTIONS: usize = 4;
    const WATCHES: usize = 100;
    let serving = DevServer::new().serve(ServeOptions::default()).await.unwrap();
    let mut watches = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut connection = Connection::open(&serving, "h2").await;
        for _ in 0..WATCHES {
            watches.push(connection.get(&serving, WATCH).await.unwrap().into_body());
        }
    }
    create_config_map(&mut Connection::open(&serving, "h2").await, &serving, "for-all").await;
    for watch in &mut watches {
        let event = piece(watch).await.unwrap().unwrap();
        assert!(event.starts_with(b"{\"type\":\"ADDED\"") && event.ends_with(b"}\n"), "{event:?}");
    }
    tokio::time::timeout(PATIENCE, serving.shutdown()).await.unwrap();
    for watch in &mut watches {
        assert!(ends(watch).await);
    }
}

#[tokio::test]
async fn bad_clients_are_cut_off_and_others_go_on() {
    let options = ServeOptions {
        handshake_timeout: SOON,
        header_timeout: SOON,
        idle_timeout: SOON,
        ..ServeOptions::default()
    };
    let serving = DevServer::new().serve(options).await.unwrap();
    let mut rest = Vec::new();

    let mut garbage = TcpStream::connect(serving.address()).await.unwrap();
    garbage.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    // How a connection ends that was refused is the platform's choice.
    let _ = tokio::time::timeout(PATIENCE, garbage.read_to_end(&mut rest)).await.unwrap();

    let mut silent = TcpStream::connect(serving.address()).await.unwrap();
    let _ = tokio::time::timeout(PATIENCE, silent.read_to_end(&mut rest)).await.unwrap();

    let mut slow = tls(&serving, &["http/1.1"], "127.0.0.1").await.unwrap();
    slow.write_all(b"GET /version HTTP/1.1\r\nhost").await.unwrap();
    let _ = tokio::time::timeout(PATIENCE, slow.read_to_end(&mut rest)).await.unwrap();

    // No HTTP/2 preface.
    let mut mute = tls(&serving, &["h2"], "127.0.0.1").await.unwrap();
    let _ = tokio::time::timeout(PATIENCE, mute.read_to_end(&mut rest)).await.unwrap();

    // An idle connection is closed, one with a watch is not.
    let stream = TokioIo::new(tls(&serving, &["h2"], "127.0.0.1").await.unwrap());
    let (mut sender, idle) = http2::handshake(TokioExecutor::new(), stream).await.unwrap();
    let idle = tokio::spawn(idle);
    let mut busy = Connection::open(&serving, "h2").await;
    let mut watch = busy.get(&serving, WATCH).await.unwrap().into_body();
    let answer = sender.send_request(request(&serving, Method::GET, "/version", "")).await.unwrap();
    assert_eq!(answer.status(), 200);
    drop(answer);
    tokio::time::timeout(PATIENCE, idle).await.unwrap().unwrap().unwrap();
    create_config_map(&mut Connection::open(&serving, "h2").await, &serving, "late").await;
    assert!(piece(&mut watch).await.unwrap().is_ok());
}

#[tokio::test]
async fn a_body_that_never_comes_is_not_waited_for() {
    let options = ServeOptions { request_timeout: SOON, ..ServeOptions::default() };
    let serving = DevServer::new().serve(options).await.unwrap();
    let mut stream = tls(&serving, &["http/1.1"], "127.0.0.1").await.unwrap();
    let head = format!(
        "POST /api/v1/namespaces HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-length: 9\r\n\r\n{{",
        serving.token()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // The connection is closed after the answer: what follows in it could not be told apart.
    let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await.unwrap();
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 504 "), "{answer}");
    assert!(answer.contains("\"reason\":\"Timeout\""), "{answer}");
}

#[tokio::test]
async fn a_taken_port_is_told_of() {
    let server = DevServer::new();
    let serving = server.serve(ServeOptions::default()).await.unwrap();
    let options = ServeOptions { port: serving.address().port(), ..ServeOptions::default() };
    let error = server.serve(options).await.unwrap_err();
    assert!(error.is_address_in_use());
    assert!(error.to_string().contains(&serving.address().to_string()), "{error}");

    let options = ServeOptions { token: Some("two words".into()), ..ServeOptions::default() };
    let error = server.serve(options).await.unwrap_err();
    assert!(!error.is_address_in_use());
    assert!(!error.to_string().contains("two words"), "{error}");
}

#[tokio::test]
async fn the_kubeconfig_has_all_that_is_needed() {
    use base64::Engine;
    let options = ServeOptions {
        token: Some("0123".into()),
        address: [0, 0, 0, 0].into(),
        ..ServeOptions::default()
    };
    assert!(!format!("{options:?}").contains("0123"));
    let serving = DevServer::new().serve(options).await.unwrap();
    let url = format!("https://{}", SocketAddr::from(([127, 0, 0, 1], serving.address().port())));
    assert_eq!(serving.url(), url);
    assert!(!format!("{serving:?}").contains("0123"));
    let text = serving.kubeconfig();
    let value = |key: &str| {
        let lines: Vec<&str> =
            text.lines().filter_map(|line| line.trim().strip_prefix(key)).collect();
        assert_eq!(lines.len(), 1, "{key} in\n{text}");
        lines[0].to_owned()
    };
    assert_eq!(value("server: "), url);
    assert_eq!(value("token: "), "\"0123\"");
    assert_eq!(value("current-context: "), "kubewright");
    let ca =
        base64::engine::general_purpose::STANDARD.decode(value("certificate-authority-data: "));
    assert_eq!(ca.unwrap(), serving.ca_pem().as_bytes());
}
