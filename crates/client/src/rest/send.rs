//! Sending a finished request: deadline, repetitions, and what counts as a refusal.

use std::time::Duration;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::uri::PathAndQuery;
use http::{HeaderMap, StatusCode, Uri};
use http_body_util::BodyExt;
use kubewright_meta::StatusError;
use tokio::time::Instant;

use super::retry::{self, MAX_RETRIES};
use super::status::{self, MAX_ERROR_BYTES};
use super::{ByteStream, Response};
use crate::body::Body;
use crate::calls::Verb;
use crate::client::Client;
use crate::error::{CallName, Error, Kind};
use crate::transport::{Lane, Sent};

/// How long the body of a refusal may take.
const REFUSAL_TIME: Duration = Duration::from_secs(10);

/// A request that can be sent, more than once if need be.
pub(crate) struct Call {
    pub(super) name: CallName,
    pub(super) target: PathAndQuery,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<Bytes>,
    pub(super) verb: Verb,
    pub(super) lane: Lane,
    pub(super) deadline: Option<Duration>,
    pub(super) subject: Subject,
}

/// What a call is about, for the refusals that do not say it themselves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subject {
    pub(super) group: String,
    pub(super) resource: String,
    pub(super) name: String,
}

impl Call {
    pub(super) async fn send(self, client: &Client) -> Result<Response, Error> {
        let mut last = None;
        let answer = async {
            let response = self.open(client, &mut last).await?;
            let (head, body) = response.into_parts();
            let body = collect(body, Response::MAX_BYTES).await?;
            Ok((head, body))
        };
        let outcome = within(self.deadline, answer).await;
        let (head, body) = self.settle(outcome, last)?;
        Ok(Response::new(self.name, head.status, head.headers, body))
    }

    pub(super) async fn stream(self, client: &Client) -> Result<ByteStream, Error> {
        let mut last = None;
        let outcome = within(self.deadline, self.open(client, &mut last)).await;
        let response = self.settle(outcome, last)?;
        if self.verb == Verb::Watch && response.status() != StatusCode::OK {
            let what = format!("a watch begins with 200, not {}", response.status());
            return Err(Error::from(Kind::Decode { what, source: None }).at(&self.name));
        }
        Ok(ByteStream::new(self.name, self.deadline, response))
    }

    /// Names the call in the error, and puts the last failure into one of time.
    fn settle<T>(
        &self,
        outcome: Result<Result<T, Error>, Duration>,
        last: Option<Error>,
    ) -> Result<T, Error> {
        let outcome = outcome.unwrap_or_else(|limit| Err(Kind::Timeout { limit, last }.into()));
        outcome.map_err(|error| error.at(&self.name))
    }

    /// Sends until there is an answer that stands. `last` keeps what the tries before it said.
    async fn open(
        &self,
        client: &Client,
        last: &mut Option<Error>,
    ) -> Result<http::Response<Body>, Error> {
        client.counter().count(self.verb);
        let (mut attempt, mut broken) = (0, 0);
        loop {
            let started = Instant::now();
            let outcome = client.carrier().call(self.request()).await;
            let elapsed = started.elapsed();
            let (error, wait) = match outcome {
                Ok(response) => {
                    let status = response.status();
                    tracing::debug!(call = %self.name, verb = %self.verb, status = status.as_u16(), ?elapsed, attempt, "answered");
                    if status.is_success() {
                        return Ok(response);
                    }
                    let wait = retry::after_response(status, response.headers());
                    (self.refusal(response).await, wait)
                }
                Err(error) => {
                    let error = Error::from(Kind::Transport(error));
                    tracing::debug!(call = %self.name, verb = %self.verb, %error, ?elapsed, attempt, "failed");
                    let method = &self.name.method;
                    let wait = retry::after_failure(method, error.transport_kind(), broken);
                    broken += 1;
                    (error, wait)
                }
            };
            let Some(wait) = wait.filter(|_| attempt < MAX_RETRIES) else {
                return Err(error);
            };
            *last = Some(error);
            client.counter().count_retry();
            tokio::time::sleep(wait).await;
            attempt += 1;
        }
    }

    fn request(&self) -> http::Request<Body> {
        let body = self.body.clone().map_or_else(Body::empty, Body::from);
        let mut request = http::Request::new(body);
        *request.method_mut() = self.name.method.clone();
        *request.uri_mut() = Uri::from(self.target.clone());
        *request.headers_mut() = self.headers.clone();
        request.extensions_mut().insert(self.lane);
        request
    }

    async fn refusal(&self, response: http::Response<Body>) -> Error {
        let (mut head, body) = response.into_parts();
        let sent = head.extensions.remove::<Sent>();
        // Read to its end, so that an HTTP/1.1 connection can be used again. One that breaks, is too long or never
        // ends still has its code; a watch has no other limit to end it.
        let body = within(Some(REFUSAL_TIME), collect(body, MAX_ERROR_BYTES)).await;
        let body = body.ok().and_then(Result::ok).unwrap_or_default();
        let status = status::refusal(head.status, &head.headers, &body, self.verb, &self.subject);
        let hint = self.hint(&status, sent);
        Error::from(Kind::Status(status)).with_hint(hint)
    }
}

impl Call {
    /// What to try, where the server's message does not say enough.
    fn hint(&self, status: &StatusError, sent: Option<Sent>) -> Option<String> {
        if status.is_unauthorized() {
            let sent = sent.unwrap_or_else(|| match self.headers.contains_key(AUTHORIZATION) {
                true => Sent::own_header(),
                false => Sent::by_service(),
            });
            return Some(sent.0);
        }
        let unknown = status.is_not_found()
            && !self.subject.resource.is_empty()
            && status::is_unknown_resource(status);
        unknown.then(|| {
            "is the API group served, or the custom resource definition installed?".to_owned()
        })
    }
}

/// The outcome, or the limit if that was passed.
async fn within<T>(
    limit: Option<Duration>,
    future: impl Future<Output = T>,
) -> Result<T, Duration> {
    match limit {
        None => Ok(future.await),
        Some(limit) => tokio::time::timeout(limit, future).await.map_err(|_| limit),
    }
}

/// Collects a body: one chunk is kept as it is, several are copied once.
async fn collect(mut body: Body, limit: usize) -> Result<Bytes, Error> {
    use http_body::Body as _;

    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    let mut first = Bytes::new();
    let mut all = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| Error::from(Kind::Transport(error)))?;
        let Ok(chunk) = frame.into_data() else {
            continue;
        };
        if first.len().max(all.len()) + chunk.len() > limit {
            return Err(Kind::TooLarge { limit }.into());
        }
        if first.is_empty() && all.is_empty() {
            first = chunk;
            continue;
        }
        if all.is_empty() {
            all.reserve(announced.min(limit).max(first.len() + chunk.len()));
            all.extend_from_slice(&first);
        }
        all.extend_from_slice(&chunk);
    }
    Ok(if all.is_empty() { first } else { all.into() })
}
