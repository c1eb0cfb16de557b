//! A whole API server inside a test (feature `testing`).
//!
//! ```
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kubewright::prelude::*;
//! use kubewright::testing::{DevServer, Fault};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BoxError> {
//! let server = DevServer::start().await?;
//! let config_maps = server.client().in_namespace::<ConfigMap>("default");
//! let greeting = ConfigMap {
//!     metadata: ObjectMeta { name: Some("greeting".into()), ..Default::default() },
//!     ..Default::default()
//! };
//! config_maps.create(&greeting, &CreateOptions::default()).await?;
//! assert_eq!(config_maps.list(&ListOptions::default()).await?.items.len(), 1);
//!
//! // And on a bad day:
//! let busy = StatusError::of(Reason::Conflict, "somebody was faster");
//! let fault = server.faults().inject(Fault::on("update", "configmaps").answer(busy))?;
//! let refused = config_maps.replace(&greeting, &ReplaceOptions::default()).await;
//! assert!(refused.is_err_and(|error| error.is_conflict()));
//! assert_eq!(fault.hits(), 1);
//! # Ok(())
//! # }
//! ```

use std::time::{Duration, SystemTime};

use crate::client::Client;
use crate::devserver;

pub use crate::devserver::{CustomKind, Error, Fault, FaultHandle, Faults, RequestCount};

/// A development API server in this process, without sockets, for one test.
///
/// It is as empty as a new cluster, and what it holds is gone when it and the last of its clients are dropped: a client
/// keeps its server alive, so this value itself need not be kept. All clones are one server; another
/// [`start`](Self::start) makes another one. On a current-thread runtime with tokio's paused clock, time in server and
/// client stands still together.
#[derive(Clone, Debug)]
pub struct DevServer {
    server: devserver::DevServer,
}

impl DevServer {
    /// Starts a server with the built-in kinds.
    ///
    /// # Errors
    /// None today; a server that has to bind or read something may have some.
    pub async fn start() -> Result<Self, Error> {
        Self::builder().start().await
    }

    /// A server set up in detail, say with custom kinds.
    ///
    /// ```
    /// use kubewright::prelude::*;
    /// use kubewright::testing::{CustomKind, DevServer};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), BoxError> {
    /// let gvk = GroupVersionKind::new("lab.test", "v1", "Widget");
    /// let widgets = CustomKind::new(gvk, "widgets", Scope::Namespaced).status();
    /// let client = DevServer::builder().kind(widgets).start().await?.client();
    /// # drop(client);
    /// # Ok(())
    /// # }
    /// ```
    pub fn builder() -> DevServerBuilder {
        DevServerBuilder { builder: devserver::DevServer::builder() }
    }

    /// A server that is there already.
    pub fn of(server: devserver::DevServer) -> Self {
        Self { server }
    }

    /// A client of this server, which keeps it alive. Clones of a client share their counts and limits, those of two
    /// calls do not.
    pub fn client(&self) -> Client {
        Client::from_service(self.server.service())
    }

    /// Faults to inject.
    pub fn faults(&self) -> &Faults {
        self.server.faults()
    }

    /// Serves one more kind from now on, in place of one of the same group, version and plural name.
    pub fn register(&self, kind: CustomKind) {
        self.server.register(kind);
    }

    /// What was asked of the server, by resource and verb.
    pub fn request_counts(&self) -> Vec<RequestCount> {
        self.server.request_counts()
    }

    /// The server itself, for the rest: a compaction, a shutdown, a port to serve at.
    pub fn server(&self) -> &devserver::DevServer {
        &self.server
    }
}

/// Settings of a [`DevServer`].
#[derive(Clone, Debug)]
pub struct DevServerBuilder {
    builder: devserver::DevServerBuilder,
}

impl DevServerBuilder {
    /// Serves one more kind.
    #[must_use]
    pub fn kind(mut self, kind: CustomKind) -> Self {
        self.builder = self.builder.kind(kind);
        self
    }

    /// How many changes of each resource are kept; see [`devserver::DevServerBuilder::history`].
    #[must_use]
    pub fn history(mut self, changes: usize) -> Self {
        self.builder = self.builder.history(changes);
        self
    }

    /// How often watches that ask for bookmarks get one. Default: a minute.
    #[must_use]
    pub fn bookmark_period(mut self, period: Duration) -> Self {
        self.builder = self.builder.bookmark_period(period);
        self
    }

    /// The wall clock's time at the start, in place of the system's.
    #[must_use]
    pub fn wall_clock(mut self, now: SystemTime) -> Self {
        self.builder = self.builder.wall_clock(now);
        self
    }

    /// Starts the server.
    ///
    /// # Errors
    /// Those of [`DevServer::start`].
    pub async fn start(self) -> Result<DevServer, Error> {
        Ok(DevServer::of(self.builder.build()))
    }
}
