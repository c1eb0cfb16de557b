//! What an API server does for a client, as checks that run against any server.
//!
//! One set of checks keeps the development server honest: `cargo test -p kubewright-contract` runs it against that server
//! in this process, `cargo xtask conformance` against a real kube-apiserver, which is the reference. A check is
//! right when the real server passes it, and wrong otherwise.
//!
//! Checks speak HTTP and JSON, so that what they say is about the server and not about the types of a client; those
//! under `typed` go through [`Api`](kubewright_client::Api) to see both together. They ask nothing of
//! `managedFields`, of tables, or of controllers, which a development server lacks.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use kubewright_client::Client;
//! use kubewright_config::Config;
//!
//! let client = Client::new(Config::infer()?)?;
//! let report = kubewright_contract::run(&client, &kubewright_contract::checks(), 8).await?;
//! println!("{} passed, {} failed", report.passed.len(), report.failed.len());
//! # Ok(())
//! # }
//! ```

#[macro_use]
mod ensure;
mod answer;
mod check;
mod checks;
mod cleanup;
mod context;
mod custom;
mod objects;
mod path;
mod report;
mod runner;
mod watch;

pub use answer::Answer;
pub use check::{Check, Outcome};
pub use checks::checks;
pub use context::{Context, RawRequest};
pub use report::{Failure, Report};
pub use runner::run;
pub use watch::{Event, Watch};
