//! The task that does what the reflector's state machine says.

use std::error::Error as StdError;
use std::fmt;
use std::future::Future;
use std::time::Duration;

use kubewright_client::{Api, Error};
use kubewright_meta::{ListOptions, Object, ObjectKey, WatchOptions};
use kubewright_wire::ListEnd;
use tokio::time::{Instant, timeout_at};

use super::action::{Action, Call, ReflectorOptions, Step};
use super::core::ReflectorCore;
use super::failure::{Cause, Failure};
use super::status::{Phase, ReflectorMonitor};
use crate::{Decoder, Delta, Indexer};

/// How much longer than asked a watch may last before it is given up: servers end watches by themselves, but one
/// behind a dead connection never does.
const WATCH_GRACE: Duration = Duration::from_secs(30);
/// For a watch without a time, which the state machine never asks for.
const NO_LIMIT: Duration = Duration::from_secs(86_400);

/// Reads the objects of one kind from a server, for ever: a list, then watches from where it ends.
///
/// What it reads it hands on as [`Delta`]s; [`Fifo`](crate::Fifo) and [`Indexer`] make a store of them. An
/// informer does all of that.
pub struct Reflector<K> {
    core: ReflectorCore<K>,
    api: Api<K>,
    keep_managed_fields: bool,
}

impl<K: Object> Reflector<K> {
    /// A reflector of the objects that `api` is about. `store` is where its deltas end up, and `decoder` the
    /// store's: what a list has in common with the store is not kept twice.
    pub fn new(
        api: Api<K>,
        options: ReflectorOptions,
        decoder: Decoder<K>,
        store: Indexer<K>,
    ) -> Self {
        let keep_managed_fields = options.keep_managed_fields;
        let core = ReflectorCore::new(api.kind().kind(), options, decoder, store);
        Self { core, api, keep_managed_fields }
    }

    /// A view of what it is doing, also while it runs.
    pub fn monitor(&self) -> ReflectorMonitor {
        self.core.monitor()
    }

    /// Reads until `shutdown` is done. `push` takes each delta, in order; nothing more is read before the future it
    /// returns is done.
    pub async fn run<F: Future<Output = ()>>(
        mut self,
        push: impl Fn(Delta<K>) -> F,
        shutdown: impl Future<Output = ()>,
    ) {
        let monitor = self.monitor();
        let reading = async {
            loop {
                match self.core.next_action(now()) {
                    Action::Sleep(wait) => tokio::time::sleep(wait).await,
                    Action::List(call, request) => self.list(call, &request, &push).await,
                    Action::Watch(call, request) => self.watch(call, &request, &push).await,
                }
            }
        };
        tokio::select! {
            biased;
            () = shutdown => {}
            () = reading => {}
        }
        monitor.change(|status| status.phase = Phase::Stopped);
    }

    /// Reads one page.
    async fn list<F: Future<Output = ()>>(
        &mut self,
        call: Call,
        request: &ListOptions,
        push: &impl Fn(Delta<K>) -> F,
    ) {
        match self.read_page(call, request).await {
            Ok(end) => {
                if let Some(delta) = self.core.list_end(call, end) {
                    push(delta).await;
                }
            }
            Err(error) => self.core.list_failed(call, now(), failure(&error)),
        }
    }

    async fn read_page(&mut self, call: Call, request: &ListOptions) -> Result<ListEnd, Error> {
        let list = self.api.list_raw(request).await?;
        let mut list = if self.keep_managed_fields { list } else { list.without_managed_fields() };
        let mut unreadable = None;
        while let Some(object) = list.next().await {
            match object {
                Ok(object) => {
                    self.core.list_item(call, object);
                    unreadable = None;
                }
                // Whether more comes behind it, and the list can be used without it, is for its end to say.
                Err(error) if error.is_decode() => {
                    self.leave_out(call, &error);
                    unreadable = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        list.end().map_err(|error| unreadable.unwrap_or(error))
    }

    /// An object or event could not be read.
    fn leave_out(&mut self, call: Call, error: &Error) {
        let key = object_key(error);
        self.core.bad_object(call, key.as_ref(), error.to_string());
    }

    /// Reads one watch to its end.
    async fn watch<F: Future<Output = ()>>(
        &mut self,
        call: Call,
        request: &WatchOptions,
        push: &impl Fn(Delta<K>) -> F,
    ) {
        let lasts = request.timeout.map_or(NO_LIMIT, |timeout| timeout + WATCH_GRACE);
        let deadline = Instant::now() + lasts;
        let stream = match timeout_at(deadline, self.api.watch_raw(request)).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return self.core.watch_ended(call, now(), Some(failure(&error))),
            Err(_) => return self.core.watch_ended(call, now(), None),
        };
        self.core.watch_opened(call);
        let mut stream =
            if self.keep_managed_fields { stream } else { stream.without_managed_fields() };
        loop {
            match timeout_at(deadline, stream.next()).await.unwrap_or(None) {
                Some(Ok(event)) => match self.core.watch_event(call, now(), event) {
                    Step::Push(delta) => push(delta).await,
                    Step::Continue => {}
                    Step::Stop => return,
                },
                Some(Err(error)) if error.is_decode() => self.leave_out(call, &error),
                Some(Err(error)) => {
                    return self.core.watch_ended(call, now(), Some(failure(&error)));
                }
                None => return self.core.watch_ended(call, now(), None),
            }
        }
    }
}

impl<K> fmt::Debug for Reflector<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reflector")
            .field("api", &self.api)
            .field("status", &self.core.status())
            .finish_non_exhaustive()
    }
}

/// The runtime's clock, which tests can pause.
fn now() -> std::time::Instant {
    Instant::now().into_std()
}

fn failure(error: &Error) -> Failure {
    let message = error.to_string();
    match error.status() {
        Some(status) => Failure { message, ..Failure::of_status(status) },
        None if error.is_transport() => Failure::new(Cause::Connection, message),
        None => Failure::new(Cause::Other, message),
    }
}

/// The object that an error of decoding is about.
fn object_key(error: &Error) -> Option<ObjectKey> {
    let wire = error.source()?.downcast_ref::<kubewright_wire::Error>()?;
    wire.object_key().cloned()
}
