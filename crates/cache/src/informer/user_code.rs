//! Running code that may take long without holding up the runtime.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Runs `code`, which may block or take long.
///
/// Tokio does not promise that other tasks go on while one blocks its thread: those that wait in that thread's queue can
/// stay there for as long. On a multi-threaded runtime the queue is therefore handed to another thread first. A
/// current-thread runtime has no other thread.
pub(super) fn run<R>(code: impl FnOnce() -> R) -> R {
    if std::env::var_os("INLINE").is_some() { return code(); }
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(code),
        _ => code(),
    }
}
