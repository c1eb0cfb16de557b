//! Getting one request to the API server.

use std::time::Duration;

use futures_core::future::BoxFuture;
use k8s_openapi::api::events::v1::Event;
use kubewright_client::{Api, Client};
use kubewright_meta::{CreateOptions, Kind, Object, Patch, PatchOptions, StatusError};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::series::Request;

/// How often an unreachable API server is tried, and how long to wait in between.
const TRIES: u32 = 12;
const PAUSE: Duration = Duration::from_secs(10);
/// A pause is longer by a random part of this share.
const JITTER: f64 = 0.25;

/// Where events go.
pub(super) trait EventSink: Send + Sync + 'static {
    fn create<'a>(&'a self, event: &'a Event) -> BoxFuture<'a, Outcome>;
    /// Tells of the event's series.
    fn patch<'a>(&'a self, event: &'a Event) -> BoxFuture<'a, Outcome>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Done,
    /// No such event, or no events of this version at all.
    NotFound,
    NamespaceGone,
    AlreadyExists,
    NamespaceTerminating,
    /// The API server has answered, and will not answer otherwise next time.
    Refused(String),
    /// No answer that makes sense.
    Unreachable(String),
}

/// How a delivery ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivered {
    Sent,
    /// It could not be, for a reason that is nobody's fault.
    Dropped,
    /// The server has no events of this version.
    Unserved,
    Failed,
}

/// Sends a request, with patience for an API server that cannot be reached. Once `hurry` is cancelled there is only
/// one more try.
pub(super) async fn deliver(
    sink: &dyn EventSink,
    request: &Request,
    hurry: &CancellationToken,
) -> Delivered {
    let (Request::Create(event) | Request::Update(event)) = request;
    let regarding = event.regarding.as_ref().and_then(|object| object.name.as_deref());
    let reason = event.reason.as_deref();
    let mut tries = 0;
    loop {
        tries += 1;
        let problem = match attempt(sink, request).await {
            Outcome::Done => return Delivered::Sent,
            outcome @ (Outcome::AlreadyExists
            | Outcome::NamespaceTerminating
            | Outcome::NamespaceGone) => {
                tracing::debug!(regarding, reason, ?outcome, "event not stored");
                return Delivered::Dropped;
            }
            Outcome::NotFound => return Delivered::Unserved,
            Outcome::Refused(why) => {
                tracing::warn!(regarding, reason, error = why, "event refused");
                return Delivered::Failed;
            }
            Outcome::Unreachable(why) => why,
        };
        if tries == TRIES || hurry.is_cancelled() {
            tracing::warn!(
                regarding,
                reason,
                tries,
                error = problem,
                "event could not be delivered"
            );
            return Delivered::Failed;
        }
        tracing::debug!(regarding, reason, tries, error = problem, "event not delivered yet");
        let pause = PAUSE.mul_f64(1.0 + JITTER * fastrand::f64());
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = hurry.cancelled() => {}
        }
    }
}

async fn attempt(sink: &dyn EventSink, request: &Request) -> Outcome {
    match request {
        Request::Create(event) => sink.create(event).await,
        Request::Update(event) => match sink.patch(event).await {
            // Events live for an hour; a series that goes on longer is stored anew.
            Outcome::NotFound => match sink.create(event).await {
                Outcome::AlreadyExists => Outcome::Unreachable("it exists after all".to_owned()),
                outcome => outcome,
            },
            outcome => outcome,
        },
    }
}

/// The events of an API server.
pub(super) struct ApiSink(Api<Event>);

impl ApiSink {
    pub(super) fn new(client: &Client) -> Self {
        Self(client.api(Kind::of()))
    }

    fn api(&self, event: &Event) -> Api<Event> {
        self.0.in_namespace(event.namespace().unwrap_or("default"))
    }
}

impl EventSink for ApiSink {
    fn create<'a>(&'a self, event: &'a Event) -> BoxFuture<'a, Outcome> {
        Box::pin(
            async move { outcome(self.api(event).create(event, &CreateOptions::default()).await) },
        )
    }

    fn patch<'a>(&'a self, event: &'a Event) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            // A merge patch, since not every server knows strategic ones.
            match Patch::merge(json!({"series": event.series})) {
                Ok(patch) => outcome(
                    self.api(event).patch(event.name(), &patch, &PatchOptions::default()).await,
                ),
                Err(error) => Outcome::Refused(error.to_string()),
            }
        })
    }
}

fn outcome(result: Result<Event, kubewright_client::Error>) -> Outcome {
    let Err(error) = result else {
        return Outcome::Done;
    };
    match error.status() {
        Some(status) if status.is_not_found() && is_about_namespace(status) => {
            Outcome::NamespaceGone
        }
        Some(status) if status.is_not_found() => Outcome::NotFound,
        Some(status) if status.is_already_exists() => Outcome::AlreadyExists,
        Some(status) if status.is_namespace_terminating() => Outcome::NamespaceTerminating,
        Some(_) => Outcome::Refused(error.to_string()),
        // Never sent, and never will be.
        None if error.is_invalid_request() => Outcome::Refused(error.to_string()),
        None => Outcome::Unreachable(error.to_string()),
    }
}

/// Both a namespace that is gone and a group that is not served are NotFound; the former names the namespace.
fn is_about_namespace(status: &StatusError) -> bool {
    let details = status.status().details.as_ref();
    match details.and_then(|details| details.kind.as_deref()) {
        Some(kind) => kind == "namespaces",
        None => status.message().starts_with("namespaces \""),
    }
}

#[cfg(test)]
#[path = "delivery_tests.rs"]
pub(in crate::events) mod tests;
