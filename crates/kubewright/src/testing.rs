//! A whole API server inside a test.
//!
//! ```
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kubewright::prelude::*;
//! use kubewright::testing::DevServer;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let client = DevServer::start().await?.client();
//! let config_maps = client.in_namespace::<ConfigMap>("default");
//! let greeting = ConfigMap {
//!     metadata: kubewright::meta::ObjectMeta { name: Some("greeting".into()), ..Default::default() },
//!     ..Default::default()
//! };
//! config_maps.create(&greeting, &CreateOptions::default()).await?;
//! assert_eq!(config_maps.list(&ListOptions::default()).await?.items.len(), 1);
//! # Ok(())
//! # }
//! ```

use crate::client::Client;
use crate::devserver;

/// A development API server in this process, without sockets, for one test.
///
/// It is as empty as a new cluster and forgets everything when dropped. On a current-thread runtime with tokio's
/// paused clock, time in server and client stands still together.
#[derive(Clone, Debug)]
pub struct DevServer {
    server: devserver::DevServer,
}

impl DevServer {
    /// Starts a server with the built-in kinds.
    ///
    /// # Errors
    /// None today; a server that has to bind or read something may have some.
    pub async fn start() -> Result<Self, devserver::Error> {
        Ok(Self::of(devserver::DevServer::new()))
    }

    /// A server made with [`devserver::DevServer::builder`], say with custom kinds.
    pub fn of(server: devserver::DevServer) -> Self {
        Self { server }
    }

    /// A client of this server.
    pub fn client(&self) -> Client {
        Client::from_service(self.server.service())
    }

    /// The server itself: its faults to inject, its counts.
    pub fn server(&self) -> &devserver::DevServer {
        &self.server
    }
}
