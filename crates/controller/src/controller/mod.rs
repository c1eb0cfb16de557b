//! From events to reconciles: the loop that every controller is.

mod enqueuer;
mod run;
mod source;
mod stats;
mod worker;

#[cfg(test)]
mod testing;
#[cfg(test)]
#[path = "controller_tests.rs"]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kubewright_cache::{Event, SharedInformer};
use kubewright_meta::{Kind, Object, ObjectKey};
use kubewright_queue::{DelayingQueue, RateLimiter, default_controller_limiter};

pub use enqueuer::Enqueuer;
use source::{OwnerKind, Source};
pub use stats::ControllerStats;
use stats::Counters;
use worker::{Retries, panic_text};

use crate::BoxError;

/// Keeps objects of kind `K` as they should be: turns events of informers into keys of `K`, and calls a reconcile
/// function for each, with retries.
///
/// The reconcile gets the key alone, not what happened: it reads listers, compares, and acts. Events that come
/// while a key waits are one reconcile; those that come while it is being reconciled make one more. A key is
/// never reconciled twice at the same time.
///
/// ```no_run
/// use k8s_openapi::api::{apps::v1::ReplicaSet, core::v1::Pod};
/// use kubewright_cache::SharedInformerFactory;
/// use kubewright_controller::{Action, BoxError, Controller};
/// use kubewright_meta::ObjectKey;
///
/// # async fn demo(factory: SharedInformerFactory, shutdown: impl Future<Output = ()>) -> Result<(), BoxError> {
/// let replica_sets = factory.informer::<ReplicaSet>();
/// let pods = factory.informer::<Pod>();
/// let controller = Controller::new("replicaset", &replica_sets).owns(&pods).workers(4);
/// factory.start();
/// let lister = replica_sets.lister();
/// controller
///     .run(shutdown, move |key: ObjectKey| {
///         let lister = lister.clone();
///         async move {
///             let Some(_replica_set) = lister.get(&key) else {
///                 return Ok(Action::done()); // gone
///             };
///             // Compare and act here.
///             Ok::<_, BoxError>(Action::done())
///         }
///     })
///     .await?;
/// # Ok(()) }
/// ```
///
/// # Retries
/// A reconcile that returns an error or panics is repeated with the back-off of the
/// [`rate_limiter`](Self::rate_limiter); a success forgets it. Without [`max_retries`](Self::max_retries) there is
/// no end to it. An error with a Conflict of the API server in its chain, which is part of the daily work against a
/// cache, is treated alike but logged at debug instead of warn.
///
/// # Bounds
/// One queue entry a distinct key; at most [`workers`](Self::workers) reconciles at a time.
pub struct Controller<K> {
    name: Arc<str>,
    kind: Kind<K>,
    sources: Vec<Source>,
    batch: Duration,
    workers: usize,
    grace: Option<Duration>,
    limiter: Box<dyn RateLimiter<ObjectKey>>,
    retries: Retries,
    queue: DelayingQueue<ObjectKey>,
    counters: Arc<Counters>,
}

impl<K: Object> Controller<K> {
    /// A controller of the objects of an informer: each event about one of them enqueues its key. `name` appears
    /// in logs and errors.
    ///
    /// Nothing is listened to before [`run`](Self::run); what the informer holds by then is handled as added.
    pub fn new(name: &str, informer: &SharedInformer<K>) -> Self {
        let source = Source::new(informer, false, |event: &Event<K>| vec![event.key().clone()]);
        Self::from_source(name, informer.kind().clone(), source)
    }

    fn from_source(name: &str, kind: Kind<K>, source: Source) -> Self {
        Self {
            name: name.into(),
            kind,
            sources: vec![source],
            batch: Duration::ZERO,
            workers: 1,
            grace: None,
            limiter: Box::new(default_controller_limiter()),
            retries: Retries::default(),
            queue: DelayingQueue::new(),
            counters: Arc::default(),
        }
    }

    /// Events about objects that objects of `K` own enqueue their controller: the owner reference marked so, of the
    /// kind and group of `K`. After an update that changed hands both owners are enqueued.
    #[must_use]
    pub fn owns<C: Object>(self, informer: &SharedInformer<C>) -> Self {
        let owner = OwnerKind::new(&self.kind);
        self.watches(informer, move |event| owner.keys(event))
    }

    /// Events of an informer enqueue the keys that `map` returns for them.
    ///
    /// `map` runs in the informer's handler, before the keys are enqueued: the place to tick off
    /// [`Expectations`](crate::Expectations). It must not block. If it panics, that event is lost.
    #[must_use]
    pub fn watches<W: Object>(
        mut self,
        informer: &SharedInformer<W>,
        map: impl Fn(&Event<W>) -> Vec<ObjectKey> + Send + 'static,
    ) -> Self {
        self.sources.push(Source::new(informer, true, map));
        self
    }

    /// Keys of [`owns`](Self::owns) and [`watches`](Self::watches) wait this long, so that a burst of their events
    /// is one reconcile. Default: zero, at once. Events of `K` itself never wait.
    #[must_use]
    pub fn batch(mut self, period: Duration) -> Self {
        self.batch = period;
        self
    }

    /// How many keys are reconciled at the same time; at least one. Default: 1.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers.max(1);
        self
    }

    /// Gives a key up after it has failed, and then failed this many times more in a row, of whatever cause: panics
    /// and conflicts count like any other failure. The next event about it starts anew. Default: never.
    ///
    /// It is the back-off that makes a time of this number. With the default [`rate_limiter`](Self::rate_limiter) a key is
    /// given up 5 ms × (2ⁿ − 1) after its first failure, plus what the reconciles take; from the 19th retry on
    /// each adds 1000 s:
    ///
    /// | retries | given up after |
    /// |---|---|
    /// | 5 | 0.2 s |
    /// | 10 | 5 s |
    /// | 12 | 20 s |
    /// | 15 | 2 min 44 s |
    /// | 18 | 22 min |
    /// | 20 | 55 min |
    ///
    /// Take 15 or more: with fewer, a restart of the API server is enough to have every key given up that
    /// was reconciled meanwhile.
    #[must_use]
    pub fn max_retries(mut self, retries: u32) -> Self {
        self.retries.max = Some(retries);
        self
    }

    /// Called with the last error when a key is given up; see [`max_retries`](Self::max_retries).
    #[must_use]
    pub fn on_give_up(
        mut self,
        hook: impl Fn(&ObjectKey, &BoxError) + Send + Sync + 'static,
    ) -> Self {
        self.retries.on_give_up = Some(Box::new(hook));
        self
    }

    /// When a failed key may be tried again. Default:
    /// [`default_controller_limiter`], 5 ms doubling up to 1000 s a key, and 10 retries a second for all with
    /// a burst of 100.
    #[must_use]
    pub fn rate_limiter(mut self, limiter: impl RateLimiter<ObjectKey> + 'static) -> Self {
        self.limiter = Box::new(limiter);
        self
    }

    /// How long a shutdown waits for running reconciles before it cuts them off, at their next `await`. Default:
    /// without limit, until they end.
    ///
    /// Set it below what the process is given. That is 30 seconds for a pod, unless its
    /// `terminationGracePeriodSeconds` says otherwise; 20 leave time for what is shut down after the controller.
    #[must_use]
    pub fn grace_period(mut self, grace: Duration) -> Self {
        self.grace = Some(grace);
        self
    }

    /// A handle to enqueue keys from outside.
    pub fn enqueuer(&self) -> Enqueuer {
        Enqueuer::new(self.queue.clone())
    }

    /// A handle on the controller's figures, to be taken before [`run`](Self::run).
    pub fn stats(&self) -> ControllerStats {
        ControllerStats::new(self.counters.clone(), self.queue.clone())
    }
}

impl<K> fmt::Debug for Controller<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sources: Vec<&str> = self.sources.iter().map(|source| source.what.as_str()).collect();
        f.debug_struct("Controller")
            .field("name", &self.name)
            .field("sources", &sources)
            .field("batch", &self.batch)
            .field("workers", &self.workers)
            .field("grace_period", &self.grace)
            .field("max_retries", &self.retries.max)
            .finish_non_exhaustive()
    }
}
