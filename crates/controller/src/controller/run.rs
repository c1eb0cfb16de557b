//! The life of a running controller: listen, wait for the caches, work, stop.

use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::join_all;
use kubewright_meta::{Object, ObjectKey};
use kubewright_queue::DelayingQueue;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::Controller;
use super::source::{Intake, Registration};
use super::worker::Workshop;
use crate::{Action, BoxError, Error};

/// How often a controller that waits for its informers says in the log which and why.
const SAY_WHO_IS_MISSING: Duration = Duration::from_secs(10);

impl<K: Object> Controller<K> {
    /// Runs until `shutdown` ends.
    ///
    /// Listens to the informers, waits until all of them have synced, then reconciles. Start the informers before
    /// or meanwhile: the wait has no end of its own, and says in the log every 10 seconds which informer is missing,
    /// what it is doing and what went wrong last.
    ///
    /// On shutdown no further key is taken, running reconciles are waited for, and the handlers are gone from the
    /// informers when this returns. Dropping the future stops everything at once.
    ///
    /// Running reconciles are waited for *without limit* unless there is a [`grace_period`](Self::grace_period). In a
    /// pod set one: Kubernetes kills the process 30 seconds after it has asked it to end
    /// (`terminationGracePeriodSeconds`).
    ///
    /// # Errors
    /// [`is_not_synced`](Error::is_not_synced) if the shutdown came before the informers had synced, with the last
    /// error of each;
    /// [`is_grace_exceeded`](Error::is_grace_exceeded) if reconciles had to be cut off, or an informer
    /// that was shut down already. Failures of reconciles are never errors of this.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub async fn run<F, Fut, E>(
        mut self,
        shutdown: impl Future<Output = ()>,
        reconcile: F,
    ) -> Result<(), Error>
    where
        F: Fn(ObjectKey) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Action, E>> + Send + 'static,
        E: Into<BoxError>,
    {
        let mut shutdown = pin!(shutdown);
        let listening = self.listen()?;
        tokio::select! {
            biased;
            () = &mut shutdown => {
                let waiting_for = listening.unsynced();
                if !waiting_for.is_empty() {
                    return Err(Error::not_synced(&listening.controller, waiting_for));
                }
                return Ok(());
            }
            synced = listening.synced() => synced?,
            never = listening.say_who_is_missing() => match never {},
        }
        tracing::debug!(controller = &*listening.controller, workers = self.workers, "started");

        let (workers, grace, counters) = (self.workers, self.grace, self.counters.clone());
        let workshop = Arc::new(Workshop {
            controller: self.name,
            queue: self.queue,
            limiter: self.limiter,
            reconcile: Box::new(move |key| {
                let attempt = reconcile(key);
                Box::pin(async move { attempt.await.map_err(Into::into) })
            }),
            retries: self.retries,
            counters: self.counters,
            stop: CancellationToken::new(),
        });
        let mut tasks = JoinSet::new();
        for _ in 0..workers {
            tasks.spawn(Arc::clone(&workshop).work());
        }
        loop {
            tokio::select! {
                biased;
                () = &mut shutdown => break,
                Some(ended) = tasks.join_next() => {
                    workshop.ended(ended);
                    tasks.spawn(Arc::clone(&workshop).work());
                }
            }
        }
        tracing::debug!(controller = &*workshop.controller, "stopping");
        workshop.stop.cancel();
        listening.stop().await;
        if finish(&workshop, &mut tasks, grace).await {
            return Ok(());
        }
        let running = counters.running_keys();
        tasks.shutdown().await;
        Err(Error::grace_exceeded(&workshop.controller, grace.unwrap_or_default(), running))
    }

    /// Puts a handler on each of the informers.
    fn listen(&mut self) -> Result<Listening, Error> {
        let mut listening = Listening {
            controller: self.name.clone(),
            queue: self.queue.clone(),
            handlers: Vec::new(),
        };
        for source in self.sources.drain(..) {
            let intake = Intake {
                controller: self.name.clone(),
                queue: self.queue.clone(),
                delay: if source.batched { self.batch } else { Duration::ZERO },
                counters: self.counters.clone(),
            };
            let registration = (source.attach)(intake)
                .map_err(|error| Error::listen(&self.name, &source.what, error))?;
            listening.handlers.push((source.what, registration));
        }
        Ok(listening)
    }
}

/// Whether all workers ended in time.
async fn finish(workshop: &Workshop, tasks: &mut JoinSet<()>, grace: Option<Duration>) -> bool {
    let all = async {
        while let Some(ended) = tasks.join_next().await {
            workshop.ended(ended);
        }
    };
    match grace {
        None => {
            all.await;
            true
        }
        Some(grace) => tokio::time::timeout(grace, all).await.is_ok(),
    }
}

/// The handlers of a running controller; they go, and the queue closes, when this is dropped.
struct Listening {
    controller: Arc<str>,
    queue: DelayingQueue<ObjectKey>,
    handlers: Vec<(String, Box<dyn Registration>)>,
}

impl Listening {
    async fn synced(&self) -> Result<(), Error> {
        for (what, handler) in &self.handlers {
            let synced = handler.synced().await;
            synced.map_err(|error| Error::listen(&self.controller, what, error))?;
        }
        Ok(())
    }

    /// The informers that are waited for, each with what it is doing; one with several handlers once.
    fn unsynced(&self) -> Vec<String> {
        let unsynced = self.handlers.iter().filter(|(_, handler)| !handler.has_synced());
        let mut unsynced: Vec<String> =
            unsynced.map(|(what, handler)| format!("{what} ({})", handler.doing())).collect();
        unsynced.sort_unstable();
        unsynced.dedup();
        unsynced
    }

    async fn say_who_is_missing(&self) -> Infallible {
        loop {
            tokio::time::sleep(SAY_WHO_IS_MISSING).await;
            tracing::warn!(
                controller = &*self.controller,
                missing = self.unsynced().join("; "),
                "still waiting for informers"
            );
        }
    }

    /// Takes the handlers off their informers and waits until none of them is at work.
    async fn stop(mut self) {
        self.queue.shut_down();
        // All at once: dropped while it waits for one of them, it has stopped the others too.
        join_all(self.handlers.drain(..).map(|(_, handler)| handler.remove())).await;
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.queue.shut_down();
        for (_, handler) in self.handlers.drain(..) {
            // One poll stops it; nobody is there to wait for its end.
            let _ = handler.remove().now_or_never();
        }
    }
}
