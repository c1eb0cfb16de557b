//! Servers that send what a test tells them to, frame by frame, and a way between that can be cut.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kubewright_config::Config;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_rustls::server::TlsStream;

use super::test_server::{Options, tls};

pub(super) type Io = TlsStream<TcpStream>;

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const RESET: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PING: u8 = 6;
pub(super) const GO_AWAY: u8 = 7;
pub(super) const END_STREAM: u8 = 1;
pub(super) const ACK: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;
/// `:status: 200` by HPACK's table.
pub(super) const OK: &[u8] = &[0x88];

/// A server whose connections, counted from 0, are given to `serve`.
pub(super) async fn server<F>(
    http2: bool,
    serve: impl Fn(usize, Io) -> F + Send + 'static,
) -> (Config, Arc<AtomicUsize>)
where
    F: Future<Output = std::io::Result<()>> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut config = Config::new(format!("https://{}", listener.local_addr().unwrap()));
    let options = Options { http2, ..Options::default() };
    let (ca, acceptor) = tls(&options);
    config.tls.ca = Some(ca);
    let accepted = Arc::new(AtomicUsize::new(0));
    let count = accepted.clone();
    tokio::spawn(async move {
        loop {
            let (tcp, _) = listener.accept().await.unwrap();
            let tls = acceptor.accept(tcp).await.unwrap();
            // A client that closes is no fault of the server.
            drop(tokio::spawn(serve(count.fetch_add(1, Ordering::SeqCst), tls)));
        }
    });
    (config, accepted)
}

/// One side of HTTP/2, frame by frame.
pub(super) struct Frames(pub(super) Io);

impl Frames {
    /// Reads the client's preface, and sends settings that allow `streams`.
    pub(super) async fn open(mut io: Io, streams: Option<u32>) -> std::io::Result<Self> {
        io.read_exact(&mut [0; 24]).await?;
        let mut frames = Self(io);
        if let Some(streams) = streams {
            frames.settings(streams).await?;
        }
        Ok(frames)
    }

    pub(super) async fn settings(&mut self, streams: u32) -> std::io::Result<()> {
        let payload = [&3_u16.to_be_bytes()[..], &streams.to_be_bytes()].concat();
        self.send(SETTINGS, 0, 0, &payload).await
    }

    pub(super) async fn send(
        &mut self,
        kind: u8,
        flags: u8,
        stream: u32,
        payload: &[u8],
    ) -> std::io::Result<()> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let head = [&length[1..], &[kind, flags], &stream.to_be_bytes()].concat();
        self.0.write_all(&head).await?;
        self.0.write_all(payload).await?;
        self.0.flush().await
    }

    /// The kind and stream of the next frame that is no housekeeping.
    pub(super) async fn next(&mut self) -> std::io::Result<(u8, u32)> {
        loop {
            let mut head = [0; 9];
            self.0.read_exact(&mut head).await?;
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
            let mut payload = vec![0; length as usize];
            self.0.read_exact(&mut payload).await?;
            let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
            match (head[3], head[4] & ACK) {
                (SETTINGS, 0) => self.send(SETTINGS, ACK, 0, &[]).await?,
                (PING, 0) => self.send(PING, ACK, 0, &payload).await?,
                (kind @ (HEADERS | RESET), _) => return Ok((kind, stream)),
                _ => {}
            }
        }
    }

    /// Answers all requests as they should be, to the end of the connection.
    pub(super) async fn serve(mut self) -> std::io::Result<()> {
        loop {
            if let (HEADERS, stream) = self.next().await? {
                self.answer(stream).await?;
            }
        }
    }

    pub(super) async fn answer(&mut self, stream: u32) -> std::io::Result<()> {
        self.send(HEADERS, END_HEADERS, stream, OK).await?;
        self.send(DATA, END_STREAM, stream, b"{}").await
    }
}

/// A header as HPACK writes one that is in no table.
pub(super) fn header(name: &str, value: &str) -> Vec<u8> {
    let mut block = vec![0];
    for text in [name, value] {
        match text.len() {
            short @ 0..127 => block.push(short as u8),
            long => {
                let mut rest = long - 127;
                block.push(127);
                while rest >= 128 {
                    block.push(0x80 | (rest % 128) as u8);
                    rest /= 128;
                }
                block.push(rest as u8);
            }
        }
        block.extend_from_slice(text.as_bytes());
    }
    block
}

/// Carries connections while it is told to; else it ends those it carries, and holds new ones until it is told again.
pub(super) async fn gate(to: SocketAddr) -> (SocketAddr, watch::Sender<bool>, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let carry = watch::Sender::new(false);
    let told = carry.clone();
    let listening = tokio::spawn(async move {
        loop {
            let (mut near, _) = listener.accept().await.unwrap();
            let mut told = told.subscribe();
            tokio::spawn(async move {
                told.wait_for(|carry| *carry).await.unwrap();
                let mut far = TcpStream::connect(to).await.unwrap();
                tokio::select! {
                    _ = tokio::io::copy_bidirectional(&mut near, &mut far) => {}
                    _ = told.wait_for(|carry| !*carry) => {}
                }
            });
        }
    });
    (address, carry, listening)
}
