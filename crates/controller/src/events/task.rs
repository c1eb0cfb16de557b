//! The task that delivers what was recorded.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::events::v1::Event;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use tokio_util::sync::CancellationToken;

use super::delivery::{Delivered, EventSink, deliver};
use super::recorder::Counters;
use super::series::{Observed, Request, SeriesBook};

/// How often series are looked after.
const UPKEEP: Duration = Duration::from_secs(60);

pub(super) enum Command {
    Record {
        event: Box<Event>,
        at: Instant,
        time: Timestamp,
    },
    /// Answered when everything before it was dealt with.
    Flush(oneshot::Sender<()>),
}

pub(super) struct Task {
    pub(super) sink: Box<dyn EventSink>,
    pub(super) commands: mpsc::Receiver<Command>,
    pub(super) counters: Arc<Counters>,
    /// Cancelled by a shutdown: no more commands, and no patience for those that are queued.
    pub(super) stop: CancellationToken,
    /// Whether the log says that the server has no events.
    pub(super) unserved_said: AtomicBool,
}

impl Task {
    /// Ends when it is stopped or every recorder is gone, after dealing with all that was recorded.
    pub(super) async fn run(mut self) {
        let mut book = SeriesBook::new();
        let mut upkeep = interval_at(Instant::now() + UPKEEP, UPKEEP);
        upkeep.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = self.stop.cancelled(), if !self.commands.is_closed() => self.commands.close(),
                _ = upkeep.tick() => self.send(book.due(Instant::now())).await,
                command = self.commands.recv() => match command {
                    Some(command) => self.handle(&mut book, command).await,
                    None => break,
                },
            }
        }
        self.send(book.finish(Instant::now())).await;
    }

    async fn handle(&self, book: &mut SeriesBook, command: Command) {
        match command {
            Command::Record { event, at, time } => match book.observe(*event, at, time) {
                Observed::Send(requests) => self.send(requests).await,
                Observed::Counted => {}
                Observed::Suppressed => self.counters.count_suppressed(),
            },
            // Whoever asked may have stopped waiting.
            Command::Flush(done) => drop(done.send(())),
        }
    }

    async fn send(&self, requests: Vec<Request>) {
        for request in requests {
            match deliver(&*self.sink, &request, &self.stop).await {
                Delivered::Sent => self.counters.count_sent(),
                Delivered::Dropped => {
                    self.counters.count_dropped();
                }
                Delivered::Unserved => {
                    self.counters.count_failed();
                    // It will not be otherwise next time.
                    if !self.unserved_said.swap(true, Ordering::Relaxed) {
                        tracing::warn!(
                            "events are lost: the API server does not serve events.k8s.io/v1"
                        );
                    }
                }
                Delivered::Failed => self.counters.count_failed(),
            }
        }
    }
}
