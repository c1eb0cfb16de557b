//! When a program is asked to stop.

use std::future::pending;
use std::io;

/// Ends when the process is asked to stop: at Ctrl-C and, on Unix, at SIGTERM, which is what a cluster sends before
/// it ends a pod. To be given to [`Controller::run`](crate::Controller::run).
///
/// From the first poll on, these signals no longer end the process by themselves. If they cannot be listened to, that
/// is logged as an error and they keep their usual effect.
pub async fn shutdown_signal() {
    if let Err(error) = signalled().await {
        tracing::error!(%error, "signals cannot be listened to: there will be no graceful shutdown");
        pending::<()>().await;
    }
}

#[cfg(unix)]
async fn signalled() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

#[cfg(not(unix))]
async fn signalled() -> io::Result<()> {
    tokio::signal::ctrl_c().await
}
