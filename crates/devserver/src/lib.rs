//! A development Kubernetes API server: the storage and the API protocol of a real one, in process.
//!
//! It answers as kube-apiserver does for what it supports (the same status codes, reasons, messages, events
//! and version rules), and refuses with a clear 4xx what it does not. So a test, an example or a first try
//! needs no cluster. It contains **no controllers**: nothing collects garbage, empties namespaces or runs
//! pods; start small controllers beside it for that.
//!
//! [`DevServer::service`] is a `tower` service without sockets:
//!
//! ```
//! # use bytes::Bytes;
//! # use http_body_util::{BodyExt, Full};
//! # use tower_service::Service;
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = kubewright_devserver::DevServer::new();
//! let request = http::Request::get("/api/v1/namespaces/default").body(Full::<Bytes>::default())?;
//! let answer = server.service().call(request).await?;
//! assert_eq!(answer.status(), 200);
//! # Ok(())
//! # }
//! ```
//!
//! # Bounds
//! | what | bound | beyond it |
//! |---|---|---|
//! | request body | 3 MiB | 413 |
//! | nesting of a body | 100 levels | 400 |
//! | JSON patch | 10,000 operations, 3 MiB copied | 413 |
//! | history of a resource | [`DevServerBuilder::history`], 20,000 changes | watches and continue tokens get 410 |
//!
//! Watchers have no buffer of their own: each reads the shared history at its own pace, and one that falls
//! behind it gets the `ERROR` event with code 410 of a real server.
//!
//! # Time
//! All waiting goes through tokio's clock, so that a paused clock works end to end. Timestamps in objects are
//! the wall clock's time at the server's start ([`DevServerBuilder::wall_clock`]) plus what tokio's clock has
//! advanced since.
//!
//! # Known differences from a real server
//! A malformed `resourceVersion` is a 400 or 422 where a real server says 500. Answers are JSON; bodies are JSON or, of built-in kinds and delete options, protobuf. YAML, `Table` and `PartialObjectMetadata` are not served. Patches are JSON patch and
//! JSON merge patch. `managedFields` are not kept: `fieldManager` is checked and otherwise without effect.
//! Bodies are not checked against a schema: `fieldValidation` is accepted, as clients insist on it, but unknown
//! fields stay even with `Strict`, and OpenAPI documents describe objects by type and metadata only (those of v2
//! nothing). There are no containers, so pods' `log`, `exec`, `attach`, `portforward` and `proxy` answer 501, and so does
//! every request that impersonates. Defaults and validation cover what workloads and services need; cluster addresses come from
//! `10.96.0.0/16`, IPv4 only, and no taint is put on new nodes. Events do not expire. `sendInitialEvents` is refused as by a server
//! whose `WatchList` feature is off. Discovery tells no storage version hashes.

mod allocation;
mod api;
mod clock;
mod defaults;
mod discovery;
mod error;
mod failure;
mod faults;
mod kinds;
mod object;
mod protocol;
mod serve;
mod server;
mod store;
mod validation;

pub use error::Error;
pub use faults::{Fault, FaultHandle, Faults};
pub use kinds::CustomKind;
pub use protocol::{Body, DevService};
pub use serve::{ServeOptions, Serving};
pub use server::{DevServer, DevServerBuilder, RequestCount};
