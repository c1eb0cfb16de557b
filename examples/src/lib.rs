//! Example controllers that behave as Kubernetes' own, each readable in one sitting.
//!
//! The development server contains no controllers: what a cluster does by itself is done by these, started
//! beside it. They run as well against a real API server that has no controller manager.

pub mod garbage_collector;
pub mod namespaces;
pub mod nodes;
pub mod replicaset;
pub mod served;
pub mod story;

mod all;
mod clock;

pub use all::{Controllers, Settings};
pub use clock::Clock;
