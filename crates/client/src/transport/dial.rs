//! From a name to a TCP connection: the addresses it has, and the first of them that answers.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout, timeout_at};

use super::connect::Connector;
use super::error::{TransportError, TransportErrorKind};

/// How long an address may be silent before the next is tried too; Go's.
const HEAD_START: Duration = Duration::from_millis(300);

impl Connector {
    pub(super) async fn dial(&self) -> Result<TcpStream, TransportError> {
        let deadline = Instant::now() + self.settings.dial;
        let lookup = tokio::net::lookup_host((self.host.as_str(), self.port));
        let addresses: Vec<SocketAddr> = match timeout_at(deadline, lookup).await {
            Ok(Ok(addresses)) => addresses.collect(),
            Ok(Err(error)) => {
                let what = format!("cannot find the address of {:?}", self.host);
                return Err(self.failed(what, error));
            }
            Err(_) => return Err(self.timed_out("looking up the address", self.settings.dial)),
        };
        if addresses.is_empty() {
            let what = format!("{:?} has no address", self.host);
            return Err(TransportError::new(TransportErrorKind::Connect, what));
        }
        let connected = first_of(addresses, TcpStream::connect);
        let stream = match timeout_at(deadline, connected).await {
            Ok(Ok(stream)) => stream,
            Ok(Err((address, error))) => {
                return Err(self.failed(format!("cannot connect to {address}"), error));
            }
            Err(_) => return Err(self.timed_out("connecting", self.settings.dial)),
        };
        // Small frames must not wait for each other; without the option they are only slower.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(server = %self.peer(), %error, "cannot set TCP_NODELAY");
        }
        let keepalive = TcpKeepalive::new()
            .with_time(self.settings.ping_interval)
            .with_interval(self.settings.probe_interval);
        if let Err(error) = SockRef::from(&stream).set_tcp_keepalive(&keepalive) {
            tracing::debug!(server = %self.peer(), %error, "cannot set SO_KEEPALIVE");
        }
        Ok(stream)
    }
}

/// The first connection that comes about, or the last failure. An address that says nothing does not hold up the next
/// one for long ("happy eyeballs"): a host that has IPv6 addresses and no way to them is common.
async fn first_of<F, T>(
    addresses: Vec<SocketAddr>,
    connect: impl Fn(SocketAddr) -> F,
) -> Result<T, (SocketAddr, io::Error)>
where
    F: Future<Output = io::Result<T>> + Send + 'static,
    T: Send + 'static,
{
    // Dropped with the future, which ends the attempts.
    let mut attempts = JoinSet::new();
    let mut waiting = addresses.into_iter();
    let mut failure = None;
    loop {
        if let Some(address) = waiting.next() {
            let attempt = connect(address);
            attempts.spawn(async move { attempt.await.map_err(|error| (address, error)) });
        }
        let ended = match waiting.len() {
            0 => attempts.join_next().await,
            _ => match timeout(HEAD_START, attempts.join_next()).await {
                Ok(ended) => ended,
                Err(_) => continue,
            },
        };
        match ended {
            Some(Ok(Ok(connected))) => return Ok(connected),
            Some(Ok(Err(failed))) => failure = Some(failed),
            Some(Err(gone)) => tracing::debug!(%gone, "an attempt to connect was lost"),
            None => {
                let none = SocketAddr::from(([0; 4], 0));
                return Err(failure.unwrap_or((none, io::ErrorKind::AddrNotAvailable.into())));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::trust::Trust;
    use super::*;
    use crate::transport::settings::Settings;

    fn addresses(count: u8) -> Vec<SocketAddr> {
        (1..=count).map(|n| ([127, 0, 0, n], 1).into()).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_address_holds_up_the_next_for_a_moment() {
        let started = Instant::now();
        let connect = |address: SocketAddr| async move {
            match address.to_string().as_str() {
                "127.0.0.1:1" => std::future::pending().await,
                "127.0.0.2:1" => Err(io::ErrorKind::ConnectionRefused.into()),
                _ => Ok(address),
            }
        };
        let found = first_of(addresses(3), connect).await.unwrap();
        assert_eq!(found.to_string(), "127.0.0.3:1");
        assert_eq!(started.elapsed(), HEAD_START);
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_address_wins_although_it_is_slow() {
        let connect = |address: SocketAddr| async move {
            tokio::time::sleep(Duration::from_secs(2)).await;
            Ok(address)
        };
        let found = first_of(addresses(2), connect).await.unwrap();
        assert_eq!(found.to_string(), "127.0.0.1:1");
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_failure_is_told_when_all_have_failed() {
        let started = Instant::now();
        let connect =
            |_| async move { io::Result::<()>::Err(io::ErrorKind::ConnectionRefused.into()) };
        let (address, error) = first_of(addresses(3), connect).await.unwrap_err();
        assert_eq!(address.to_string(), "127.0.0.3:1");
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        assert_eq!(started.elapsed(), Duration::ZERO);
    }

    #[tokio::test]
    async fn a_silent_peer_is_probed_by_tcp() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let connector = Connector {
            host: "127.0.0.1".to_owned(),
            port: listener.local_addr().unwrap().port(),
            tls: None,
            trust: Trust::of(&kubewright_config::Config::new("")),
            settings: Settings::default(),
        };
        let stream = connector.dial().await.unwrap();
        let socket = SockRef::from(&stream);
        assert!(socket.keepalive().unwrap());
        assert!(stream.nodelay().unwrap());
        #[cfg(target_os = "linux")]
        {
            assert_eq!(socket.tcp_keepalive_time().unwrap(), Duration::from_secs(30));
            assert_eq!(socket.tcp_keepalive_interval().unwrap(), Duration::from_secs(5));
        }
    }
}
