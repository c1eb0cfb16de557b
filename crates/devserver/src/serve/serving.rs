//! A server that is being served, and its end.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use hyper::rt::Executor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::authentication::Token;
use super::kubeconfig;

/// A [`DevServer`](crate::DevServer) on a socket. Dropping it breaks all connections at once;
/// [`shutdown`](Self::shutdown) ends them in order.
pub struct Serving {
    address: SocketAddr,
    ca_pem: String,
    token: Token,
    shutdown_timeout: Duration,
    tasks: Tasks,
}

/// All tasks of one [`Serving`]. Cheap to clone.
#[derive(Clone)]
pub(super) struct Tasks {
    /// Asks everything to come to an end.
    pub(super) stop: CancellationToken,
    /// Ends everything where it stands.
    kill: CancellationToken,
    tracker: TaskTracker,
}

impl Serving {
    pub(super) fn new(
        address: SocketAddr,
        ca_pem: String,
        token: Token,
        shutdown_timeout: Duration,
    ) -> Self {
        let tasks = Tasks {
            stop: CancellationToken::new(),
            kill: CancellationToken::new(),
            tracker: TaskTracker::new(),
        };
        Self { address, ca_pem, token, shutdown_timeout, tasks }
    }

    pub(super) fn tasks(&self) -> Tasks {
        self.tasks.clone()
    }

    /// The address that is listened on, with the port that was taken.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where clients on this machine find the server: `https://127.0.0.1:40123`.
    pub fn url(&self) -> String {
        let ip = match self.address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        format!("https://{}", SocketAddr::new(ip, self.address.port()))
    }

    /// The certificate of the authority that vouches for the server, PEM.
    pub fn ca_pem(&self) -> &str {
        &self.ca_pem
    }

    /// The bearer token to call with. It is a secret.
    pub fn token(&self) -> &str {
        self.token.as_str()
    }

    /// A kubeconfig (YAML) with everything in it, so that it can be written to any place. Its context,
    /// cluster and user are called `kubewright`. It holds the token: keep the file private.
    pub fn kubeconfig(&self) -> String {
        kubeconfig::text(&self.url(), &self.ca_pem, self.token.as_str())
    }

    /// Stops listening, ends watches cleanly, lets other requests come to their end for up to
    /// [`ServeOptions::shutdown_timeout`](crate::ServeOptions::shutdown_timeout), and then breaks what is
    /// left. When it returns, nothing runs any more and the port is free. The objects stay: the server can
    /// be served again.
    pub async fn shutdown(self) {
        self.tasks.stop.cancel();
        self.tasks.tracker.close();
        if tokio::time::timeout(self.shutdown_timeout, self.tasks.tracker.wait()).await.is_err() {
            tracing::debug!("requests did not end in time; breaking their connections");
            self.tasks.kill.cancel();
            self.tasks.tracker.wait().await;
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.tasks.stop.cancel();
        self.tasks.kill.cancel();
    }
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Serving({})", self.url())
    }
}

impl Tasks {
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let kill = self.kill.clone();
        self.tracker.spawn(async move {
            tokio::select! {
                () = kill.cancelled() => {}
                () = task => {}
            }
        });
    }
}

/// HTTP/2 has a task for each stream.
impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Tasks {
    fn execute(&self, task: F) {
        self.spawn(task);
    }
}
