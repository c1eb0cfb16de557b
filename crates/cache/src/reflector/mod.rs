//! Reading a kind of object from a server, for ever: a list, then watches from where it ends.

mod action;
mod backoff;
mod core;
mod failure;
mod listing;
mod status;
mod task;

pub use self::action::{Action, Call, ReflectorOptions, Step};
pub use self::core::ReflectorCore;
pub use self::failure::{Cause, Failure};
pub use self::status::{Phase, ReflectorMonitor, ReflectorStatus};
pub use self::task::Reflector;
