//! The task that does what the reflector's state machine says.

use std::error::Error as StdError;
use std::future::Future;
use std::time::Duration;

use kubewright_client::{Api, Error};
use kubewright_meta::{ListOptions, Object, ObjectKey, WatchOptions};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::core::{Action, ReflectorCore, Step};
use super::failure::{Cause, Failure};
use super::status::Phase;
use crate::Delta;

/// How much longer than asked a watch may last before it is given up: servers end watches by themselves, but one
/// behind a dead connection never does.
const WATCH_GRACE: Duration = Duration::from_secs(30);

/// Reads until `token` is cancelled. `push` puts a delta into the queue and may wait for room in it.
pub(crate) async fn run<K: Object, F: Future<Output = ()>>(
    mut core: ReflectorCore<K>,
    api: Api<K>,
    keep_managed_fields: bool,
    push: impl Fn(Delta<K>) -> F,
    token: &CancellationToken,
) {
    let status = core.shared_status();
    let reading = async {
        loop {
            match core.next_action(now()) {
                Action::Sleep(wait) => tokio::time::sleep(wait).await,
                Action::List(request) => {
                    list(&mut core, &api, &request, keep_managed_fields, &push).await;
                }
                Action::Watch(request) => {
                    watch(&mut core, &api, &request, keep_managed_fields, &push).await;
                }
            }
        }
    };
    tokio::select! {
        biased;
        () = token.cancelled() => {}
        () = reading => {}
    }
    status.change(|status| status.phase = Phase::Stopped);
}

/// The runtime's clock, which tests can pause.
fn now() -> std::time::Instant {
    Instant::now().into_std()
}

/// Reads one page.
async fn list<K: Object, F: Future<Output = ()>>(
    core: &mut ReflectorCore<K>,
    api: &Api<K>,
    request: &ListOptions,
    keep_managed_fields: bool,
    push: &impl Fn(Delta<K>) -> F,
) {
    let read = async {
        let list = api.list_raw(request).await?;
        let mut list = if keep_managed_fields { list } else { list.without_managed_fields() };
        while let Some(object) = list.next().await {
            match object {
                Ok(object) => core.list_item(object),
                // Whether more comes behind it decides the end.
                Err(error) if error.is_decode() => {
                    core.bad_object(object_key(&error).as_ref(), error.to_string());
                }
                Err(error) => return Err(error),
            }
        }
        list.end()
    };
    match read.await {
        Ok(end) => {
            if let Some(delta) = core.list_end(end) {
                push(delta).await;
            }
        }
        Err(error) => core.list_failed(now(), failure(&error)),
    }
}

/// Reads one watch to its end.
async fn watch<K: Object, F: Future<Output = ()>>(
    core: &mut ReflectorCore<K>,
    api: &Api<K>,
    request: &WatchOptions,
    keep_managed_fields: bool,
    push: &impl Fn(Delta<K>) -> F,
) {
    let deadline = request.timeout.map(|timeout| Instant::now() + timeout + WATCH_GRACE);
    let opening = api.watch_raw(request);
    let opened = match deadline {
        Some(deadline) => tokio::time::timeout_at(deadline, opening).await,
        None => Ok(opening.await),
    };
    let stream = match opened {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return core.watch_ended(now(), Some(failure(&error))),
        Err(_) => return core.watch_ended(now(), None),
    };
    core.watch_opened();
    let mut stream = if keep_managed_fields { stream } else { stream.without_managed_fields() };
    loop {
        let next = stream.next();
        let next = match deadline {
            Some(deadline) => tokio::time::timeout_at(deadline, next).await.unwrap_or(None),
            None => next.await,
        };
        match next {
            Some(Ok(event)) => match core.watch_event(now(), event) {
                Step::Push(delta) => push(delta).await,
                Step::Continue => {}
                Step::Stop => return,
            },
            Some(Err(error)) if error.is_decode() => {
                core.bad_object(object_key(&error).as_ref(), error.to_string());
            }
            Some(Err(error)) => return core.watch_ended(now(), Some(failure(&error))),
            None => return core.watch_ended(now(), None),
        }
    }
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
