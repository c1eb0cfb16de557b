//! The transport against real servers on loopback.

use std::sync::Arc;
use std::time::Duration;

use http::header::AUTHORIZATION;
use http_body_util::BodyExt;
use kubewright_config::{ClientIdentity, Credentials, Environment, LoadOptions, TokenFile};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::test_server::{Options, TestServer};
use super::*;
use crate::{Client, RestClient};

fn transport(server: &TestServer) -> Arc<Transport> {
    with_settings(&server.config(), Settings::default())
}

pub(super) fn with_settings(config: &Config, settings: Settings) -> Arc<Transport> {
    Arc::new(Transport::with_settings(config, &config.base_url().unwrap(), settings).unwrap())
}

pub(super) async fn call(
    transport: &Transport,
    lane: Lane,
    path: &str,
) -> Result<Response<Body>, TransportError> {
    let mut request = Request::new(Body::empty());
    *request.uri_mut() = path.parse().unwrap();
    request.extensions_mut().insert(lane);
    transport.call(request).await
}

pub(super) async fn text(transport: &Transport, path: &str) -> String {
    let response = call(transport, Lane::Call, path).await.unwrap();
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().into()).unwrap()
}

async fn first_chunk(body: &mut Body) -> usize {
    body.frame().await.unwrap().unwrap().into_data().unwrap().len()
}

#[tokio::test]
async fn many_watches_take_as_few_connections_as_the_limit_allows() {
    let server = TestServer::start(Options::default()).await;
    let transport = transport(&server);
    let opened = (0..250).map(|_| {
        let transport = transport.clone();
        tokio::spawn(async move { call(&transport, Lane::Watch, "/hold").await.unwrap() })
    });
    let mut watches = futures_util::future::join_all(opened).await;
    assert_eq!(server.seen.accepted(), 3);
    assert!(server.seen.most_on_one.load(std::sync::atomic::Ordering::SeqCst) <= 96);
    // Every one of them is alive, and calls go beside them.
    for watch in &mut watches {
        assert_eq!(first_chunk(watch.as_mut().unwrap().body_mut()).await, 3);
    }
    assert_eq!(text(&transport, "/small").await, "{}");
    assert_eq!(transport.stats(), (4, 250));
    drop(watches);
    server.seen.until_running(0).await;
    assert_eq!(transport.stats(), (4, 0));
}

#[tokio::test]
async fn a_small_limit_is_kept_from_the_first_request_on() {
    let server = TestServer::start(Options { max_streams: 5, ..Options::default() }).await;
    let transport = transport(&server);
    let opened = (0..20).map(|_| {
        let transport = transport.clone();
        tokio::spawn(async move { call(&transport, Lane::Watch, "/hold").await.unwrap() })
    });
    let _watches = futures_util::future::join_all(opened).await;
    assert_eq!(server.seen.accepted(), 5);
    assert_eq!(server.seen.most_on_one.load(std::sync::atomic::Ordering::SeqCst), 4);
}

#[tokio::test]
async fn a_burst_of_calls_opens_two_connections() {
    let server = TestServer::start(Options::default()).await;
    // A machine under load must not look like a stalled server.
    let settings = Settings { stall: Duration::from_secs(30), ..Settings::default() };
    let transport = with_settings(&server.config(), settings);
    let calls = (0..1000).map(|_| {
        let transport = transport.clone();
        tokio::spawn(async move { text(&transport, "/small").await })
    });
    for outcome in futures_util::future::join_all(calls).await {
        assert_eq!(outcome.unwrap(), "{}");
    }
    assert_eq!((server.seen.accepted(), server.seen.requests()), (2, 1000));
    assert_eq!(transport.stats(), (2, 0));
}

#[tokio::test]
async fn stalled_calls_do_not_stop_new_ones() {
    let server = TestServer::start(Options::default()).await;
    let settings = Settings { stall: Duration::from_millis(20), ..Settings::default() };
    let transport = with_settings(&server.config(), settings);
    let stuck: Vec<_> = (0..192)
        .map(|_| {
            let transport = transport.clone();
            tokio::spawn(async move { call(&transport, Lane::Call, "/never").await })
        })
        .collect();
    server.seen.until_running(192).await;
    assert_eq!(text(&transport, "/small").await, "{}");
    assert_eq!(server.seen.accepted(), 3);
    stuck.iter().for_each(tokio::task::JoinHandle::abort);
    server.seen.until_running(0).await;
    assert_eq!(transport.stats().1, 0);
}

#[tokio::test]
async fn bodies_that_nobody_reads_stop_nothing() {
    let server = TestServer::start(Options::default()).await;
    let transport = transport(&server);
    // All but one stream of a connection flood it until their windows are full.
    let mut unread = Vec::new();
    for _ in 0..95 {
        unread.push(call(&transport, Lane::Watch, "/flood").await.unwrap());
    }
    // The last one of the same connection carries several windows' worth.
    let response = call(&transport, Lane::Watch, "/flood?chunks=256").await.unwrap();
    let read = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!((read.len(), server.seen.accepted()), (4 << 20, 1));
    assert_eq!(text(&transport, "/small").await, "{}");
}

#[tokio::test]
async fn a_graceful_go_away_moves_calls_and_ends_no_stream() {
    let server = TestServer::start(Options::default()).await;
    let transport = transport(&server);
    assert_eq!(text(&transport, "/small").await, "{}");
    let mut watch = call(&transport, Lane::Watch, "/hold").await.unwrap();
    server.seen.go_away.send_modify(|times| *times += 1);
    server.seen.until_open(1).await;
    assert_eq!(text(&transport, "/small").await, "{}");
    assert_eq!(first_chunk(watch.body_mut()).await, 3);
    // A new watch goes to a new connection, while the old one lives on its old one.
    let _another = call(&transport, Lane::Watch, "/hold").await.unwrap();
    server.seen.until_running(2).await;
    assert_eq!(server.seen.accepted(), 4);
}

#[tokio::test]
async fn a_connection_that_ended_unnoticed_costs_no_call() {
    let server = TestServer::start(Options::default()).await;
    let transport = transport(&server);
    for _ in 0..20 {
        assert_eq!(text(&transport, "/small").await, "{}");
        // The next call races with the end of the connection.
        server.seen.go_away.send_modify(|times| *times += 1);
    }
    assert_eq!(server.seen.requests(), 20);
}

#[tokio::test]
async fn a_silent_peer_is_noticed_by_pings() {
    let server = TestServer::start(Options::default()).await;
    let proxy = Proxy::start(server.address).await;
    let settings = Settings {
        ping_interval: Duration::from_millis(200),
        // Long enough for a loaded machine to answer.
        ping_timeout: Duration::from_millis(1500),
        ..Settings::default()
    };
    let transport = with_settings(&server.config_at(proxy.address), settings);
    let mut watch = call(&transport, Lane::Watch, "/hold").await.unwrap();
    assert_eq!(first_chunk(watch.body_mut()).await, 3);
    proxy.cut.send_replace(true);
    let error = watch.body_mut().frame().await.unwrap().unwrap_err();
    let error = error.downcast_ref::<TransportError>().unwrap();
    assert_eq!(error.kind(), TransportErrorKind::Body);
    drop(watch);
    // The dead one is forgotten; the way is free again for a new one.
    proxy.cut.send_replace(false);
    assert_eq!(text(&transport, "/small").await, "{}");
}

#[tokio::test]
async fn dropping_a_call_resets_its_stream() {
    let server = TestServer::start(Options::default()).await;
    let transport = transport(&server);
    let waiting = tokio::spawn({
        let transport = transport.clone();
        async move { call(&transport, Lane::Call, "/never").await }
    });
    server.seen.until_running(1).await;
    assert_eq!(transport.stats(), (1, 1));
    waiting.abort();
    server.seen.until_running(0).await;
    assert_eq!(transport.stats(), (1, 0));
    assert_eq!(text(&transport, "/small").await, "{}");
    assert_eq!(server.seen.accepted(), 1);
}

#[tokio::test]
async fn unused_connections_are_closed() {
    let server = TestServer::start(Options::default()).await;
    let settings = Settings { idle: Duration::from_millis(50), ..Settings::default() };
    let transport = with_settings(&server.config(), settings);
    assert_eq!(text(&transport, "/small").await, "{}");
    let _watch = call(&transport, Lane::Watch, "/hold").await.unwrap();
    server.seen.until_open(1).await;
    assert_eq!(transport.stats(), (1, 1));
    assert_eq!(text(&transport, "/small").await, "{}");
}

#[tokio::test]
async fn dropping_the_transport_closes_its_connections() {
    let server = TestServer::start(Options::default()).await;
    let transport = transport(&server);
    assert_eq!(text(&transport, "/small").await, "{}");
    server.seen.until_open(1).await;
    drop(transport);
    server.seen.until_open(0).await;
}

#[tokio::test]
async fn http1_uses_a_connection_again_when_its_body_was_read() {
    for tls in [true, false] {
        let server = TestServer::start(Options { http2: false, tls, ..Options::default() }).await;
        let transport = transport(&server);
        for _ in 0..5 {
            assert_eq!(text(&transport, "/small").await, "{}");
        }
        assert_eq!(server.seen.accepted(), 1, "tls: {tls}");
        let held = call(&transport, Lane::Call, "/flood").await.unwrap();
        assert_eq!(text(&transport, "/small").await, "{}");
        assert_eq!(server.seen.accepted(), 2);
        // A body that was not read to its end takes its connection with it.
        drop(held);
        server.seen.until_open(1).await;
        assert_eq!(text(&transport, "/small").await, "{}");
        assert_eq!(server.seen.accepted(), 2);
        assert_eq!(text(&transport, "/host").await, format!("{} HTTP/1.1", server.address));
    }
}

#[tokio::test]
async fn http1_gives_each_watch_its_connection() {
    let server = TestServer::start(Options { http2: false, ..Options::default() }).await;
    let transport = transport(&server);
    let opened = (0..40).map(|_| call(&transport, Lane::Watch, "/hold"));
    let watches = futures_util::future::join_all(opened).await;
    assert!(watches.iter().all(Result::is_ok));
    assert_eq!((server.seen.accepted(), transport.stats()), (40, (40, 40)));
    drop(watches);
    server.seen.until_open(0).await;
}

#[tokio::test]
async fn http2_says_whom_it_calls() {
    let server = TestServer::start(Options::default()).await;
    let transport = transport(&server);
    assert_eq!(text(&transport, "/host").await, format!("{} HTTP/2.0", server.address));
}

#[tokio::test]
async fn a_server_that_cannot_be_trusted_is_refused() {
    let server =
        TestServer::start(Options { names: vec!["api.lab".into()], ..Options::default() }).await;
    let other = TestServer::start(Options::default()).await;
    let attempt = |config: Config| async move {
        let transport = with_settings(&config, Settings::default());
        call(&transport, Lane::Call, "/small").await.map(drop)
    };
    let refused = |outcome: Result<(), TransportError>, hint: &str| {
        let error = outcome.unwrap_err();
        assert_eq!(error.kind(), TransportErrorKind::Connect);
        assert!(error.to_string().contains(hint), "{error}");
        let said = Error::from(Kind::Transport(error.into()));
        assert!(said.is_connect());
        assert!(!said.to_string().contains("check the server's"), "{said}");
    };

    refused(attempt(server.config()).await, "tls-server-name");
    let mut config = server.config();
    config.tls.server_name = Some("api.lab".into());
    attempt(config).await.unwrap();

    let mut config = other.config();
    config.tls.ca = Some(server.ca.clone());
    let hint = "; is the certificate-authority the one of this cluster?";
    refused(attempt(config).await, hint);
    let mut config = other.config();
    config.tls.ca = None;
    let hint = "; no certificate-authority is set, so those of the system were used;";
    refused(attempt(config.clone()).await, hint);
    config.tls.insecure_skip_tls_verify = true;
    attempt(config).await.unwrap();
}

#[tokio::test]
async fn a_client_certificate_is_shown() {
    let mut params = rcgen::CertificateParams::new(Vec::<String>::new()).unwrap();
    params.distinguished_name.push(rcgen::DnType::CommonName, "me");
    params.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ClientAuth];
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.der().clone()).unwrap();
    let server = TestServer::start(Options { client_ca: Some(roots), ..Options::default() }).await;

    let without = with_settings(&server.config(), Settings::default());
    assert!(call(&without, Lane::Call, "/small").await.is_err());
    let mut config = server.config();
    config.tls.client_identity = Some(ClientIdentity {
        certificate: certificate.pem().into_bytes(),
        key: key.serialize_pem().into(),
    });
    let with = with_settings(&config, Settings::default());
    assert_eq!(text(&with, "/small").await, "{}");
}

#[test]
fn unusable_tls_material_is_named_and_no_key_is_shown() {
    let mut config = Config::new("https://lab:6443");
    let attempt = |config: &Config| {
        let base = config.base_url().unwrap();
        Transport::new(config, &base).err().unwrap().to_string()
    };
    config.tls.ca = Some(b"nothing".to_vec());
    assert!(attempt(&config).contains("certificate authority"), "{}", attempt(&config));
    config.tls.ca = None;
    config.tls.insecure_skip_tls_verify = true;
    let certified = rcgen::generate_simple_self_signed(["me".to_owned()]).unwrap();
    let certificate = certified.cert.pem().into_bytes();
    config.tls.client_identity = Some(ClientIdentity { certificate, key: "hunter2".into() });
    let text = attempt(&config);
    assert!(text.contains("client key") && !text.contains("hunter2"), "{text}");
}

#[tokio::test]
async fn tokens_are_sent_and_a_refused_file_is_read_again() {
    let server = TestServer::start(Options::default()).await;
    let mut config = server.config();
    config.credentials = Credentials::Token("t1".into());
    let fixed = with_settings(&config, Settings::default());
    assert_eq!(text(&fixed, "/who").await, "Bearer t1");
    // The request's own credentials win.
    let mut request = Request::new(Body::empty());
    *request.uri_mut() = "/who".parse().unwrap();
    request.headers_mut().insert(AUTHORIZATION, HeaderValue::from_static("Basic x"));
    let response = fixed.call(request).await.unwrap();
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "Basic x");

    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "old\n").unwrap();
    config.credentials = Credentials::TokenFile(TokenFile::new(file.path()));
    let renewed = with_settings(&config, Settings::default());
    assert_eq!(text(&renewed, "/who").await, "Bearer old");
    // That was answered with 401, so the file is due.
    std::fs::write(file.path(), "new\n").unwrap();
    assert_eq!(text(&renewed, "/who").await, "Bearer new");

    config.credentials = Credentials::TokenFile(TokenFile::new("/nope/token"));
    let error = call(&with_settings(&config, Settings::default()), Lane::Call, "/who").await;
    let error = error.unwrap_err();
    assert_eq!(error.kind(), TransportErrorKind::Credentials);
    assert!(error.to_string().contains("/nope/token"), "{error}");
}

/// A configuration from a kubeconfig with these fields of cluster and user, and the file's path.
fn loaded(folder: &std::path::Path, cluster: &str, user: &str) -> (Config, String) {
    let path = folder.join("kc");
    let text = format!(
        "current-context: lab\n\
         clusters: [{{name: lab, cluster: {{{cluster}}}}}]\n\
         users: [{{name: dev, user: {{{user}}}}}]\n\
         contexts: [{{name: lab, context: {{cluster: lab, user: dev}}}}]\n"
    );
    std::fs::write(&path, text).unwrap();
    let mut options = LoadOptions::default();
    options.path = Some(path.clone());
    options.environment = Environment::empty();
    let config = Config::load(&options).unwrap();
    (config, path.display().to_string())
}

/// What a client says about a call that is answered with 401.
async fn refusal_of(config: Config, authorization: Option<&str>) -> String {
    let client = Client::new(config).unwrap();
    let mut request = RestClient::unversioned(&client).get().abs_path("/refused");
    if let Some(value) = authorization {
        request = request.header("authorization", value);
    }
    request.send().await.unwrap_err().to_string()
}

#[tokio::test]
async fn a_wrong_authority_is_told_with_its_place() {
    let server = TestServer::start(Options::default()).await;
    let other = TestServer::start(Options::default()).await;
    let folder = tempfile::tempdir().unwrap();
    let ca = folder.path().join("ca");
    std::fs::write(&ca, &other.ca).unwrap();
    let cluster = format!("server: 'https://{}'", server.address);
    let with = format!("{cluster}, certificate-authority: {}", ca.display());

    let (config, path) = loaded(folder.path(), &with, "");
    let text = refusal_of(config, None).await;
    let end = format!(
        "; is the certificate-authority (cluster \"lab\" in {path}) the one of this cluster?"
    );
    assert!(text.ends_with(&end), "{text}");
    let (config, path) = loaded(folder.path(), &cluster, "");
    let text = refusal_of(config, None).await;
    let end = format!(
        "; no certificate-authority is set (cluster \"lab\" in {path}), so those of the system were used; set the one \
         of this cluster"
    );
    assert!(text.ends_with(&end), "{text}");
}

#[tokio::test]
async fn a_401_says_which_credentials_were_sent_and_shows_none() {
    let server = TestServer::start(Options::default()).await;
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "old\n").unwrap();
    let cluster = format!("server: 'https://{}', insecure-skip-tls-verify: true", server.address);
    let certified = rcgen::generate_simple_self_signed(["me".to_owned()]).unwrap();
    let (certificate, key) = (folder.path().join("crt"), folder.path().join("key"));
    std::fs::write(&certificate, certified.cert.pem()).unwrap();
    std::fs::write(&key, certified.signing_key.serialize_pem()).unwrap();
    let both = format!(
        "token: old, client-certificate: {}, client-key: {}",
        certificate.display(),
        key.display()
    );
    let token = token.display().to_string();
    let by_file = format!("tokenFile: {token}");

    for (user, sent) in [
        ("token: old", "sent: the token of user \"dev\" in KC; is it"),
        (&by_file, "sent: the token in TOKEN, the tokenFile of user \"dev\" in KC; is it"),
        (
            &both,
            "sent: the token of user \"dev\" in KC and the client certificate of user \"dev\" in KC; is it",
        ),
    ] {
        let (config, path) = loaded(folder.path(), &cluster, user);
        let text = refusal_of(config, None).await;
        let sent = sent.replace("KC", &path).replace("TOKEN", &token);
        assert!(text.contains(&format!(", 401); {sent}")), "{text}");
        assert!(!text.contains("Bearer"), "{text}");
    }
    let (config, path) = loaded(folder.path(), &cluster, "");
    let text = refusal_of(config, None).await;
    let nothing =
        format!("no credentials were sent: user \"dev\" in {path} has neither a token nor");
    assert!(text.contains(&nothing), "{text}");
    let mut config = server.config();
    let text = refusal_of(config.clone(), None).await;
    assert!(text.contains("the configuration has neither a token nor"), "{text}");
    config.credentials = Credentials::Token("old".into());
    let text = refusal_of(config.clone(), None).await;
    assert!(text.contains("sent: the token of the caller's settings"), "{text}");
    let text = refusal_of(config, Some("Bearer old")).await;
    assert!(text.contains("sent was the request's own Authorization header"), "{text}");
}

#[tokio::test]
async fn nobody_listening_is_an_error_of_connecting() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let config = Config::new(format!("http://{address}"));
    let transport = with_settings(&config, Settings::default());
    let error = call(&transport, Lane::Watch, "/").await.unwrap_err();
    assert_eq!(error.kind(), TransportErrorKind::Connect);
    assert!(error.to_string().contains(&address.to_string()), "{error}");
}

#[tokio::test]
async fn a_peer_that_never_speaks_tls_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut config = Config::new(format!("https://{address}"));
    config.tls.insecure_skip_tls_verify = true;
    let settings = Settings { tls: Duration::from_millis(50), ..Settings::default() };
    let transport = with_settings(&config, settings);
    let error = call(&transport, Lane::Call, "/").await.unwrap_err();
    assert!(error.to_string().contains("TLS handshake"), "{error}");
    drop(listener);
}

/// Carries bytes both ways until it is cut; then it goes on to take and swallow them.
struct Proxy {
    address: std::net::SocketAddr,
    cut: watch::Sender<bool>,
}

impl Proxy {
    async fn start(to: std::net::SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let cut = watch::Sender::new(false);
        let sender = cut.clone();
        tokio::spawn(async move {
            loop {
                let (mut near, _) = listener.accept().await.unwrap();
                let mut cut = sender.subscribe();
                tokio::spawn(async move {
                    let mut far = TcpStream::connect(to).await.unwrap();
                    tokio::select! {
                        _ = tokio::io::copy_bidirectional(&mut near, &mut far) => return,
                        _ = cut.wait_for(|cut| *cut) => {}
                    }
                    let _ = tokio::io::copy(&mut near, &mut tokio::io::sink()).await;
                });
            }
        });
        Self { address, cut }
    }
}
