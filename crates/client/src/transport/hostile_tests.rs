//! The transport against servers that do what servers should not, written down to the frame.

use std::collections::HashSet;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use http_body_util::BodyExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::hostile_server::*;
use super::test_server::{Options, TestServer};
use super::tests::{call, text, with_settings};
use super::*;

/// Something must end, whatever the server does.
async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), future).await.expect("it hangs")
}

#[tokio::test]
async fn late_answers_to_cancelled_calls_end_no_connection() {
    const BATCHES: usize = 30;
    const BATCH: usize = 90;
    let (seen, mut seen_here) = mpsc::unbounded_channel();
    let (config, accepted) = server(true, move |_, io| {
        let seen = seen.clone();
        async move {
            let mut frames = Frames::open(io, Some(100)).await?;
            let mut answered = HashSet::new();
            loop {
                let (kind, stream) = frames.next().await?;
                if kind == RESET && !answered.insert(stream) {
                    // To say that it has forgotten the stream, the client resets it again.
                    continue;
                }
                if kind == RESET {
                    frames.answer(stream).await?;
                }
                seen.send(kind).unwrap();
            }
        }
    })
    .await;
    let transport = with_settings(&config, Settings::default());
    let mut until = async |wanted: u8, times: usize| {
        for _ in 0..times {
            assert_eq!(seen_here.recv().await, Some(wanted));
        }
    };
    let start = |_| {
        let transport = transport.clone();
        tokio::spawn(async move { call(&transport, Lane::Call, "/").await.map(drop) })
    };
    let lasting = start(0);
    soon(until(HEADERS, 1)).await;
    for _ in 0..BATCHES {
        let calls: Vec<_> = (0..BATCH).map(start).collect();
        soon(until(HEADERS, BATCH)).await;
        calls.iter().for_each(JoinHandle::abort);
        soon(until(RESET, BATCH)).await;
    }
    assert!(!lasting.is_finished());
    assert_eq!(transport.stats(), (1, 1));
    assert_eq!(accepted.load(Ordering::SeqCst), 1);
    lasting.abort();
}

#[tokio::test]
async fn a_peer_that_allows_no_stream_at_first_is_waited_for() {
    let raise = Arc::new(watch::Sender::new(false));
    let raised = raise.clone();
    let (config, accepted) = server(true, move |_, io| {
        let mut raised = raised.subscribe();
        async move {
            let mut frames = Frames::open(io, Some(0)).await?;
            raised.wait_for(|raised| *raised).await.unwrap();
            frames.settings(100).await?;
            frames.serve().await
        }
    })
    .await;
    let settings = Settings { stall: Duration::from_millis(5), ..Settings::default() };
    let transport = with_settings(&config, settings);
    let calls: Vec<_> = (0..60)
        .map(|_| {
            let transport = transport.clone();
            tokio::spawn(async move { call(&transport, Lane::Watch, "/").await.map(drop) })
        })
        .collect();
    // Two connections, and not one for every tick of those who wait.
    while transport.stats().0 < 2 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(accepted.load(Ordering::SeqCst), 2);
    raise.send_replace(true);
    for outcome in calls {
        soon(outcome).await.unwrap().unwrap();
    }
    assert_eq!(accepted.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn who_waits_in_vain_is_told_for_what() {
    let (config, _) =
        server(true, |_, io| async { Frames::open(io, Some(0)).await?.serve().await }).await;
    let settings = Settings { acquire: Duration::from_millis(200), ..Settings::default() };
    let transport = with_settings(&config, settings);
    let error = soon(call(&transport, Lane::Call, "/")).await.unwrap_err();
    assert_eq!(error.kind(), TransportErrorKind::Busy);
    assert!(error.to_string().contains("carry 0 requests"), "{error}");
    let state = transport.stats();
    assert_eq!(state.1, 0, "the place in line is given up");
}

#[tokio::test]
async fn a_peer_that_sends_no_settings_is_used() {
    let (config, _) =
        server(true, |_, io| async { Frames::open(io, None).await?.serve().await }).await;
    let settings = Settings { peer_settings: Duration::from_millis(20), ..Settings::default() };
    let transport = with_settings(&config, settings);
    assert_eq!(soon(text(&transport, "/")).await, "{}");
}

/// What an odd connection does to a call, and whether the answer's head comes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Odd {
    /// In place of an answer.
    GarbageFrames,
    HugeHeaders,
    NoStatus,
    ErrorGoAway,
    /// Behind the head of an answer.
    ShortBody,
    LongBody,
    ResetBody,
    DataForStreamZero,
    PushPromise,
}

impl Odd {
    async fn act(self, frames: &mut Frames, stream: u32) -> std::io::Result<()> {
        let with_length = [OK, &header("content-length", "10")].concat();
        let go_away = [0_u32.to_be_bytes(), 2_u32.to_be_bytes()].concat();
        match self {
            Self::GarbageFrames => frames.0.write_all(&[0xff; 4096]).await?,
            Self::HugeHeaders => {
                // As many frames as it takes.
                let block = [OK, &header("x", &"y".repeat(2 << 20))].concat();
                let mut parts = block.chunks(16_000).peekable();
                let mut kind = HEADERS;
                while let Some(part) = parts.next() {
                    let end = if parts.peek().is_none() { END_HEADERS } else { 0 };
                    frames.send(kind, end, stream, part).await?;
                    kind = 9;
                }
            }
            Self::NoStatus => frames.send(HEADERS, END_HEADERS, stream, &header("a", "b")).await?,
            Self::ErrorGoAway => frames.send(GO_AWAY, 0, 0, &go_away).await?,
            Self::ShortBody | Self::LongBody => {
                frames.send(HEADERS, END_HEADERS, stream, &with_length).await?;
                let body = &b"much longer"[..if self == Self::LongBody { 11 } else { 4 }];
                frames.send(DATA, END_STREAM, stream, body).await?;
            }
            Self::ResetBody => {
                frames.send(HEADERS, END_HEADERS, stream, OK).await?;
                frames.send(DATA, 0, stream, b"{").await?;
                frames.send(RESET, 0, stream, &2_u32.to_be_bytes()).await?;
            }
            Self::DataForStreamZero => {
                frames.send(HEADERS, END_HEADERS, stream, OK).await?;
                frames.send(DATA, 0, 0, b"{}").await?;
            }
            Self::PushPromise => {
                frames.send(HEADERS, END_HEADERS, stream, OK).await?;
                let promise = [&2_u32.to_be_bytes()[..], OK].concat();
                frames.send(5, END_HEADERS, stream, &promise).await?;
            }
        }
        // The rest is up to the client.
        while frames.next().await.is_ok() {}
        Ok(())
    }
}

#[tokio::test]
async fn an_odd_connection_fails_its_call_and_the_next_call_goes_on() {
    let all = [
        Odd::GarbageFrames,
        Odd::HugeHeaders,
        Odd::NoStatus,
        Odd::ErrorGoAway,
        Odd::ShortBody,
        Odd::LongBody,
        Odd::ResetBody,
        Odd::DataForStreamZero,
        Odd::PushPromise,
    ];
    for odd in all {
        let (config, _) = server(true, move |index, io| async move {
            let mut frames = Frames::open(io, Some(100)).await?;
            if index == 0 {
                let (_, stream) = frames.next().await?;
                return odd.act(&mut frames, stream).await;
            }
            frames.serve().await
        })
        .await;
        let transport = with_settings(&config, Settings::default());
        let outcome = soon(async {
            let response = call(&transport, Lane::Call, "/").await?;
            let body = response.into_body().collect().await;
            body.map_err(|error| error.downcast_ref::<TransportError>().unwrap().clone())
        })
        .await;
        let kind = outcome.map(|body| body.to_bytes()).expect_err(&format!("{odd:?}")).kind();
        let wanted = match odd {
            Odd::GarbageFrames | Odd::HugeHeaders | Odd::NoStatus | Odd::ErrorGoAway => {
                TransportErrorKind::Lost
            }
            _ => TransportErrorKind::Body,
        };
        assert_eq!(kind, wanted, "{odd:?}");
        // Where only the stream was at fault the connection stays, and its server here is deaf.
        if transport.stats().0 == 0 {
            assert_eq!(soon(text(&transport, "/")).await, "{}", "{odd:?}");
        }
        assert_eq!(transport.stats().1, 0, "{odd:?}");
    }
}

#[tokio::test]
async fn odd_http1_answers_fail_their_call_and_the_next_call_goes_on() {
    let cases: [(&str, Option<&str>); 10] = [
        ("garbage\r\n\r\n", None),
        ("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{}", None),
        ("HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}", None),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", None),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n", None),
        ("", None),
        ("HTTP/1.1 200 O", None),
        // These are answers.
        (
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}",
            Some("{}"),
        ),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nother",
            Some("{}"),
        ),
        ("HTTP/1.0 200 OK\r\n\r\n{} to the end", Some("{} to the end")),
    ];
    for (answer, wanted) in cases {
        let (config, accepted) = server(false, move |index, mut io| async move {
            loop {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(io.read_u8().await?);
                }
                if index == 0 {
                    io.write_all(answer.as_bytes()).await?;
                    return io.shutdown().await;
                }
                io.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nnext").await?;
            }
        })
        .await;
        let transport = with_settings(&config, Settings::default());
        let outcome = soon(async {
            let response = call(&transport, Lane::Call, "/").await.ok()?;
            Some(response.into_body().collect().await.ok()?.to_bytes())
        })
        .await;
        assert_eq!(outcome.as_deref(), wanted.map(str::as_bytes), "{answer:?}");
        assert_eq!(soon(text(&transport, "/")).await, "next", "{answer:?}");
        assert_eq!(accepted.load(Ordering::SeqCst), 2, "{answer:?}");
    }
}

#[tokio::test]
async fn an_http1_server_that_answers_and_does_not_read_on_keeps_no_connection() {
    let (closed, mut closed_here) = mpsc::unbounded_channel();
    let (config, _) = server(false, move |_, mut io| {
        let closed = closed.clone();
        async move {
            io.read_exact(&mut [0; 100]).await?;
            io.write_all(b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n").await?;
            io.flush().await?;
            closed_here_when_gone(io, closed).await;
            Ok(())
        }
    })
    .await;
    let settings = Settings { idle: Duration::from_millis(50), ..Settings::default() };
    let transport = with_settings(&config, settings);
    let mut request = Request::new(Body::from(vec![b'x'; 64 << 20]));
    *request.method_mut() = http::Method::POST;
    *request.uri_mut() = "/".parse().unwrap();
    let response = soon(transport.call(request)).await.unwrap();
    assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
    drop(response);
    soon(closed_here.recv()).await.unwrap();
    assert_eq!(transport.stats(), (0, 0));
}

/// Does not read until the peer has certainly stopped for it, and then to the end.
async fn closed_here_when_gone(mut io: Io, closed: mpsc::UnboundedSender<()>) {
    tokio::time::sleep(Duration::from_millis(500)).await;
    let _ = tokio::io::copy(&mut io, &mut tokio::io::sink()).await;
    closed.send(()).unwrap();
}

#[test]
fn a_runtime_that_ends_takes_no_lane_with_it() {
    let servers = tokio::runtime::Runtime::new().unwrap();
    let server = servers.block_on(TestServer::start(Options::default()));
    // Takes connections and says nothing until it is told to carry them.
    let (address, carry, _) = servers.block_on(gate(server.address));
    let transport = with_settings(&server.config_at(address), Settings::default());
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();

    let first = runtime();
    first.block_on(async {
        let waiting = call(&transport, Lane::Call, "/small");
        let short = tokio::time::timeout(Duration::from_millis(50), waiting).await;
        assert!(short.is_err(), "nothing answers yet");
    });
    drop(first);
    carry.send_replace(true);
    let second = runtime();
    assert_eq!(second.block_on(async { soon(text(&transport, "/small")).await }), "{}");
    let held = second.block_on(soon(call(&transport, Lane::Held, "/hold"))).unwrap();
    assert_eq!(transport.stats().0, 2);
    drop(second);
    // Their drivers have ended with the runtime, and nobody has to find that out by using them.
    assert_eq!(transport.stats(), (0, 0));
    drop(held);
    assert_eq!(runtime().block_on(async { soon(text(&transport, "/small")).await }), "{}");
}

#[test]
fn a_stream_can_be_given_back_outside_of_any_runtime() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let options = Options { max_streams: 1, ..Options::default() };
    let server = runtime.block_on(TestServer::start(options));
    let (address, carry, listening) = runtime.block_on(gate(server.address));
    carry.send_replace(true);
    let settings = Settings {
        // Nothing but the stream that comes free may wake those who wait.
        stall: Duration::from_secs(5),
        ..Settings::default()
    };
    let transport = with_settings(&server.config_at(address), settings);
    let held = runtime.block_on(call(&transport, Lane::Call, "/hold")).unwrap();
    // No second connection can be made, so they wait for the first, which takes one at a time.
    listening.abort();
    runtime.block_on(async { listening.await.unwrap_err() });
    let waiting: Vec<_> = (0..3)
        .map(|_| {
            let transport = transport.clone();
            runtime.spawn(async move { text(&transport, "/small").await })
        })
        .collect();
    std::thread::sleep(Duration::from_millis(200));
    drop(held);
    for outcome in waiting {
        assert_eq!(runtime.block_on(async { soon(outcome).await }).unwrap(), "{}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_cancelled_by_the_thousand_leave_nothing_behind() {
    for http2 in [true, false] {
        let server = TestServer::start(Options { http2, ..Options::default() }).await;
        let transport = with_settings(&server.config(), Settings::default());
        let calls: Vec<_> = (0..3000_u64)
            .map(|index| {
                let transport = transport.clone();
                let lane = Lane::ALL[index as usize % 3];
                let path = ["/small", "/hold", "/never", "/flood"][index as usize % 4];
                tokio::spawn(async move {
                    // So many resets can be too many for the server, which closes the connection then.
                    let answered = async {
                        let body = call(&transport, lane, path).await?.into_body();
                        body.collect().await.map(drop)
                    };
                    // Dropped in line, on the way, within the body, or never.
                    let limit = Duration::from_micros(index * 7919 % 60_000);
                    let _ = tokio::time::timeout(limit, answered).await;
                })
            })
            .collect();
        for ended in calls {
            soon(ended).await.unwrap();
        }
        soon(server.seen.until_running(0)).await;
        soon(async {
            // HTTP/1.1 connections come back by way of their drivers.
            while transport.stats().1 > 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        })
        .await;
        for lane in Lane::ALL {
            let attempt = || async {
                let body = call(&transport, lane, "/small").await?.into_body();
                body.collect().await
            };
            // One of them may still meet the end of a connection that was too much for the server.
            soon(async { while attempt().await.is_err() {} }).await;
            assert_eq!(soon(attempt()).await.unwrap().to_bytes(), "{}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_in_the_middle_of_everything_is_survived() {
    for (http2, most) in [(true, 12), (false, 1500)] {
        let server = TestServer::start(Options { http2, ..Options::default() }).await;
        let (address, carry, _) = gate(server.address).await;
        carry.send_replace(true);
        let transport = with_settings(&server.config_at(address), Settings::default());
        let alive = watch::Sender::new(0);
        let watches: Vec<_> = (0..300)
            .map(|_| {
                let (transport, alive) = (transport.clone(), alive.clone());
                tokio::spawn(async move {
                    let first = call(&transport, Lane::Watch, "/hold").await.unwrap();
                    alive.send_modify(|alive| *alive += 1);
                    first.into_body().collect().await.unwrap_err();
                    loop {
                        if let Ok(second) = call(&transport, Lane::Watch, "/hold").await {
                            return second;
                        }
                        tokio::time::sleep(Duration::from_millis(20)).await;
                    }
                })
            })
            .collect();
        let mut alive = alive.subscribe();
        soon(alive.wait_for(|alive| *alive == 300)).await.unwrap();
        let calls: Vec<_> = (0..1000)
            .map(|_| {
                let transport = transport.clone();
                tokio::spawn(async move {
                    let attempt = || async {
                        let body = call(&transport, Lane::Call, "/small").await?.into_body();
                        body.collect().await.map(drop)
                    };
                    while attempt().await.is_err() {
                        tokio::time::sleep(Duration::from_millis(20)).await;
                    }
                })
            })
            .collect();
        let before = server.seen.accepted();
        carry.send_replace(false);
        soon(server.seen.until_running(0)).await;
        carry.send_replace(true);
        for ended in calls {
            soon(ended).await.unwrap();
        }
        let watches = soon(futures_util::future::join_all(watches)).await;
        let opened = server.seen.accepted() - before;
        assert!(opened <= most, "{opened} connections");
        assert_eq!(transport.stats().1, 300);
        drop(watches);
        soon(server.seen.until_running(0)).await;
    }
}

#[tokio::test]
async fn one_attempt_is_made_for_all_who_wait_and_fails_them_all() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut config = Config::new(format!("https://{}", listener.local_addr().unwrap()));
    config.tls.insecure_skip_tls_verify = true;
    let settings = Settings {
        tls: Duration::from_millis(300),
        // Every tick of every one of them is a temptation to open another.
        stall: Duration::from_millis(5),
        ..Settings::default()
    };
    let transport = with_settings(&config, settings);
    for lane in Lane::ALL {
        let calls = (0..60).map(|_| call(&transport, lane, "/"));
        let outcomes = soon(futures_util::future::join_all(calls)).await;
        for outcome in outcomes {
            let error = outcome.unwrap_err();
            assert_eq!(error.kind(), TransportErrorKind::Connect);
            assert!(error.to_string().contains("TLS handshake"), "{error}");
        }
        soon(listener.accept()).await.unwrap();
        let another = tokio::time::timeout(Duration::from_millis(20), listener.accept());
        assert!(another.await.is_err(), "{lane:?}");
    }
}
