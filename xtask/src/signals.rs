//! Being asked to stop: SIGINT, SIGTERM and SIGHUP become events of a channel, so that a chore which started other
//! programs can end them before it ends itself.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread;

use rustix::process::Signal;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

use crate::error::{Context, Result};

static STOP_REQUESTED: AtomicBool = AtomicBool::new(false);

/// Whether a signal to stop has come since [`forward`] was called; for waits that have no channel at hand.
pub(crate) fn stop_requested() -> bool {
    STOP_REQUESTED.load(Ordering::Relaxed)
}

/// From now on the signals that would end this process are sent to `events` instead.
pub(crate) fn forward<E: Send + 'static>(
    events: Sender<E>,
    event: impl Fn(Signal) -> E + Send + 'static,
) -> Result<()> {
    let runtime = Builder::new_current_thread()
        .enable_io()
        .build()
        .context(|| "cannot listen for signals")?;
    let (mut interrupt, mut terminate, mut hangup) = {
        let _inside = runtime.enter();
        let listen = |kind| signal(kind).context(|| "cannot listen for signals");
        (
            listen(SignalKind::interrupt())?,
            listen(SignalKind::terminate())?,
            listen(SignalKind::hangup())?,
        )
    };
    thread::spawn(move || {
        runtime.block_on(async {
            loop {
                let received = tokio::select! {
                    _ = interrupt.recv() => Signal::INT,
                    _ = terminate.recv() => Signal::TERM,
                    _ = hangup.recv() => Signal::HUP,
                };
                STOP_REQUESTED.store(true, Ordering::Relaxed);
                if events.send(event(received)).is_err() {
                    return;
                }
            }
        });
    });
    Ok(())
}
