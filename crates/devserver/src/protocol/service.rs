//! The server as a `tower` service.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Method, Request, Response};
use kubewright_meta::StatusError;
use tower_service::Service;

use super::path::{self, Route};
use super::request_body::{self, LIMIT};
use super::{Body, Query, Target, answer, negotiate, request_document};
use crate::api::{self, Call, Verb};
use crate::failure::{self, Result};
use crate::faults::Effects;
use crate::server::Inner;
use crate::{Error, discovery};

/// The API server as a service: a request in, an answer out, no sockets. Cheap to clone.
///
/// It is always ready. Calls fail only as connections do, see [`Error`]; refusals are answers.
#[derive(Clone)]
pub struct DevService {
    inner: Arc<Inner>,
}

impl DevService {
    pub(crate) fn new(inner: Arc<Inner>) -> Self {
        Self { inner }
    }
}

impl<B> Service<Request<B>> for DevService
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = std::result::Result<Response<Body>, Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<std::result::Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        Box::pin(handle(self.inner.clone(), request))
    }
}

async fn handle<B>(
    inner: Arc<Inner>,
    request: Request<B>,
) -> std::result::Result<Response<Body>, Error>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    // In process a chain of calls never waits for a socket; this lets watchers and others have their turn.
    tokio::task::consume_budget().await;
    if inner.shutdown.is_cancelled() {
        return Ok(answer::failure(&failure::shutting_down()));
    }
    let (parts, body) = request.into_parts();
    if let Some(refusal) = impersonation(&parts.headers) {
        return Ok(answer::failure(&refusal));
    }
    let registry = inner.registry();
    let target = match path::route(parts.uri.path(), &registry) {
        Ok(Route::Resource(target)) => target,
        Ok(Route::Other) => {
            let found = discovery::answer(&registry, &parts);
            return Ok(found.unwrap_or_else(|| answer::failure(&failure::no_such_path())));
        }
        Err(refusal) => return Ok(answer::failure(&refusal)),
    };
    let query = Query::parse(parts.uri.query().unwrap_or_default());
    let verb = match Verb::of(&parts.method, &target, &query) {
        Ok(verb) => verb,
        Err(refusal) => return Ok(answer::failure(&refusal)),
    };
    inner.count(verb, &target);
    let effects = inner.faults.meet(verb, &target);
    if let Some(early) = before(&effects).await? {
        return Ok(early);
    }
    let body = match parts.method {
        Method::GET => Bytes::new(),
        _ => match request_body::read(body).await? {
            Some(body) => body,
            None => {
                let refusal = failure::too_large(&format!("limit is {LIMIT}"));
                return Ok(answer::failure(&refusal));
            }
        },
    };
    let answer = dispatch(&inner, verb, &target, &query, &parts.headers, body);
    let answer = answer.unwrap_or_else(|refusal| answer::failure(&refusal));
    after(&effects, answer)
}

/// There is one user, who may do everything. To answer him in another's place would show what that other may not see.
fn impersonation(headers: &http::HeaderMap) -> Option<StatusError> {
    let header = headers.keys().find(|name| name.as_str().starts_with("impersonate-"))?;
    Some(failure::not_implemented(format!(
        "the development server knows no users, so nobody can be impersonated (header {header})"
    )))
}

fn dispatch(
    inner: &Arc<Inner>,
    verb: Verb,
    target: &Target,
    query: &Query,
    headers: &http::HeaderMap,
    body: Bytes,
) -> Result<Response<Body>> {
    negotiate::check_accept(headers)?;
    let body = request_document::read(verb, target, headers, body)?;
    api::dispatch(&Call { server: inner, verb, target, query, headers, body })
}

async fn before(effects: &Effects) -> std::result::Result<Option<Response<Body>>, Error> {
    if let Some(delay) = effects.delay {
        tokio::time::sleep(delay).await;
    }
    if effects.drop_request {
        return Err(Error::fault("the connection was dropped before the request was read"));
    }
    Ok(effects.answer.as_ref().map(answer::failure))
}

fn after(effects: &Effects, answer: Response<Body>) -> std::result::Result<Response<Body>, Error> {
    if effects.lose_answer {
        return Err(Error::fault("the connection was dropped after the request was carried out"));
    }
    match effects.cut_after {
        Some(bytes) => Ok(answer.map(|body| body.cut_after(bytes))),
        None => Ok(answer),
    }
}
