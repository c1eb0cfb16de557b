//! Reading a kind of object from a server, for ever: a list, then watches from where it ends.

mod backoff;
mod core;
mod failure;
mod status;
mod task;

pub use self::core::{Action, ReflectorCore, ReflectorOptions, Step};
pub use self::failure::{Cause, Failure};
pub(crate) use self::status::SharedStatus;
pub use self::status::{Phase, ReflectorStatus};
pub(crate) use self::task::run;
