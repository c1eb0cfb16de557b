//! A Kubernetes client library and controller toolkit: all that client-go does, in Rust.
//!
//! This crate is the one to depend on. It gathers the parts, each of which is a crate of its own:
//!
//! | module | what lives there |
//! |---|---|
//! | [`meta`] | what an object is: kinds, keys, selectors, options, statuses |
//! | [`wire`] | how it travels: raw objects, list and watch framing |
//! | [`config`] | where the cluster is, and as whom to call it |
//! | [`client`] | calls: [`Client`], [`Api`], [`RestClient`](client::RestClient) |
//! | [`cache`] | a local copy that stays true: [`SharedInformerFactory`], listers |
//! | [`queue`] | what to do next, and how fast |
//! | [`controller`] | acting on it: [`Controller`], expectations, owner references, events |
//! | `devserver` | a development API server, in this process or on loopback; with the feature `testing` |
//! | `testing` | that server with a client on it, for tests; with the feature `testing` |
//!
//! # Features
//! - `latest` (on by default): the newest Kubernetes version k8s-openapi knows. Switch it off in libraries
//!   (`default-features = false`), so that the program that uses them chooses the version.
//! - `testing` (off by default): the development API server, that is the modules `devserver` and `testing`. Programs do
//!   not need it, their tests do:
//!
//! ```toml
//! [dependencies]
//! kubewright = "0.1"
//!
//! [dev-dependencies]
//! kubewright = { version = "0.1", features = ["testing"] }
//! ```
//!
//! # A first program
//! ```no_run
//! use k8s_openapi::api::core::v1::Pod;
//! use kubewright::prelude::*;
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::new(Config::infer()?)?;
//! for pod in client.in_namespace::<Pod>("default").list(&ListOptions::default()).await? {
//!     println!("{}", pod.key());
//! }
//! # Ok(())
//! # }
//! ```

pub use k8s_openapi;
pub use kubewright_cache as cache;
pub use kubewright_client as client;
pub use kubewright_config as config;
pub use kubewright_controller as controller;
#[cfg(feature = "testing")]
pub use kubewright_devserver as devserver;
pub use kubewright_meta as meta;
pub use kubewright_queue as queue;
pub use kubewright_wire as wire;

pub use cache::{SharedInformer, SharedInformerFactory};
pub use client::{Api, Client};
pub use config::Config;
pub use controller::Controller;

pub mod prelude;
mod shutdown;
#[cfg(feature = "testing")]
pub mod testing;

pub use shutdown::shutdown_signal;

/// The program in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
