//! Calls to a Kubernetes API server.
//!
//! - [`Client`]: connections, credentials and defaults for one server;
//! - [`Api`]: the verbs of one kind, typed or dynamic, in one namespace or all;
//! - [`RestClient`] and [`Request`]: the one path under all calls, for what has no type here;
//! - [`Error`]: what failed, with predicates.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kubewright_client::Client;
//! use kubewright_config::Config;
//!
//! let client = Client::new(Config::infer()?)?;
//! let config_maps = client.in_namespace::<ConfigMap>("shop");
//! let mut settings = config_maps.get("settings", &Default::default()).await?;
//! settings.data.get_or_insert_default().insert("colour".into(), "green".into());
//! match config_maps.replace(&settings, &Default::default()).await {
//!     Err(error) if error.is_conflict() => println!("someone was faster"),
//!     outcome => drop(outcome?),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Connections
//! Calls, watches, and bodies handed to the user ([`Api::list_raw`], [`Request::stream`]) never share an HTTP/2
//! connection, and each connection's flow-control window is as large as the windows of all its streams together: a
//! watch that is not read, or a list that is held, delays nothing else. A connection takes a little less than the
//! streams its server allows (96 of 100), then another is opened: watches and held bodies at once, calls after
//! two connections only when nothing ends for 250 ms. Servers that speak HTTP/1.1 get a connection a request.
//!
//! # What is repeated
//! Up to 10 times in one call: any verb when the server answers 429 or 5xx with `Retry-After` in seconds (waiting that
//! long, at most 30 s), or when it names the request as not processed (HTTP/2 `REFUSED_STREAM`, `GOAWAY`); reads also
//! when the connection fails before a response. A write whose fate is unknown is never repeated, nor is a call
//! whose server cannot be reached.
//!
//! # Time
//! Every call that is no watch has a deadline, [`Client::DEFAULT_TIMEOUT`] unless the configuration, the client
//! ([`Client::with_timeout`]) or the request says otherwise. A watch lasts until the server ends it, the connection
//! fails, or it is dropped. A peer that has gone without a word is noticed by pings within 45 s; with HTTP/1.1 by TCP's
//! keep-alive, within 75 s on Linux. Dropping any future or stream cancels it.

mod api;
mod body;
mod calls;
mod client;
mod error;
mod rest;
mod service;
mod transport;

pub use api::{Api, Deleted, RawList, RawWatch, WatchEvent, WatchStream};
pub use body::{Body, BoxError};
pub use calls::{CallStats, Verb};
pub use client::{Client, ConnectionStats};
pub use error::Error;
pub use rest::{ByteStream, Request, Response, RestClient};
pub use service::CarrierService;
