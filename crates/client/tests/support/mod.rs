//! A server in this process that answers by a script and remembers what it was asked.
#![allow(dead_code, reason = "each test file uses its own part of it")]

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use kubewright_client::{Body, BoxError, Client};
use parking_lot::Mutex;
use serde_json::Value;

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: Method,
    /// Path and query, raw.
    pub(crate) target: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) at: tokio::time::Instant,
}

impl Seen {
    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    pub(crate) fn query(&self) -> &str {
        self.target.split_once('?').map_or("", |(_, query)| query)
    }

    pub(crate) fn line(&self) -> String {
        format!("{} {}", self.method, self.target)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// What to answer.
pub(crate) enum Answer {
    Reply {
        code: u16,
        headers: Vec<(&'static str, String)>,
        chunks: Vec<Bytes>,
        then: Then,
    },
    /// The service itself fails.
    Fail(&'static str),
    /// No answer at all.
    Never,
}

/// How a body goes on behind its chunks.
#[derive(Clone, Copy)]
pub(crate) enum Then {
    End,
    Break,
    Hang,
}

pub(crate) fn json(code: u16, body: Value) -> Answer {
    text(code, "application/json", &body.to_string())
}

pub(crate) fn text(code: u16, content_type: &str, body: &str) -> Answer {
    Answer::Reply {
        code,
        headers: vec![("content-type", content_type.to_owned())],
        chunks: vec![Bytes::copy_from_slice(body.as_bytes())],
        then: Then::End,
    }
}

pub(crate) fn retry_after(code: u16, after: &str) -> Answer {
    Answer::Reply {
        code,
        headers: vec![("retry-after", after.to_owned())],
        chunks: Vec::new(),
        then: Then::End,
    }
}

pub(crate) fn stream(chunks: impl IntoIterator<Item = impl Into<Bytes>>, then: Then) -> Answer {
    Answer::Reply {
        code: 200,
        headers: vec![("content-type", "application/json".to_owned())],
        chunks: chunks.into_iter().map(Into::into).collect(),
        then,
    }
}

#[derive(Clone, Default)]
pub(crate) struct Script {
    seen: Arc<Mutex<Vec<Seen>>>,
    answers: Arc<Mutex<VecDeque<Answer>>>,
}

impl Script {
    /// A server that gives these answers, one after the other, and a client of it.
    pub(crate) fn new(answers: impl IntoIterator<Item = Answer>) -> (Self, Client) {
        let script = Self::default();
        script.answers.lock().extend(answers);
        let client = Client::from_service(script.clone());
        (script, client)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().clone()
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.seen.lock().iter().map(Seen::line).collect()
    }

    pub(crate) fn only(&self) -> Seen {
        let seen = self.seen();
        assert_eq!(seen.len(), 1, "{seen:?}");
        seen[0].clone()
    }
}

type Stream = futures_util::stream::BoxStream<'static, Result<Frame<Bytes>, BoxError>>;

impl tower_service::Service<Request<Body>> for Script {
    type Response = Response<StreamBody<Stream>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let script = self.clone();
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            script.seen.lock().push(Seen {
                method: head.method,
                target: head.uri.to_string(),
                headers: head.headers,
                body,
                at: tokio::time::Instant::now(),
            });
            let answer = script.answers.lock().pop_front();
            match answer.expect("an answer for every request") {
                Answer::Never => std::future::pending().await,
                Answer::Fail(why) => Err(why.into()),
                Answer::Reply { code, headers, chunks, then } => {
                    let mut response = Response::builder().status(code);
                    for (name, value) in headers {
                        response = response.header(name, value);
                    }
                    Ok(response.body(StreamBody::new(body_of(chunks, then)))?)
                }
            }
        })
    }
}

fn body_of(chunks: Vec<Bytes>, then: Then) -> Stream {
    use futures_util::stream::{self, StreamExt};

    let chunks = stream::iter(chunks).map(|chunk| Ok(Frame::data(chunk)));
    match then {
        Then::End => chunks.boxed(),
        Then::Hang => chunks.chain(stream::pending()).boxed(),
        Then::Break => chunks.chain(stream::iter([Err("the line broke".into())])).boxed(),
    }
}
