//! A watch, event by event, with an end to waiting.

use std::time::Duration;

use http::HeaderMap;
use http::header::CONTENT_TYPE;
use http_body_util::BodyExt;
use kubewright_client::Body;
use kubewright_wire::FrameSplitter;
use serde_json::Value;

use crate::context::At;

/// An event may take so long.
const PATIENCE: Duration = Duration::from_secs(20);

/// A watch that the server has begun.
#[derive(Debug)]
pub struct Watch {
    request: String,
    headers: HeaderMap,
    body: Body,
    frames: FrameSplitter,
}

/// One event.
#[derive(Clone, Debug)]
pub struct Event {
    /// `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK` or `ERROR`.
    pub kind: String,
    /// The object; a `Status` with `ERROR`.
    pub object: Value,
}

impl Watch {
    pub(crate) fn new(request: String, headers: HeaderMap, body: Body) -> Self {
        Self { request, headers, body, frames: FrameSplitter::new() }
    }

    /// The `Content-Type` of the answer.
    pub fn content_type(&self) -> &str {
        self.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The next event, or `None` at the end.
    ///
    /// # Errors
    /// Nothing comes in time, or it is no event.
    pub async fn next(&mut self) -> Result<Option<Event>, String> {
        let limit = PATIENCE.as_secs();
        match tokio::time::timeout(PATIENCE, self.read()).await {
            Ok(event) => event,
            Err(_) => Err(format!("{}: no event within {limit} s", self.request)),
        }
    }

    /// The next event, which must be of this kind and about this object.
    ///
    /// # Errors
    /// It is another event, or none.
    pub async fn expect(&mut self, kind: &str, name: &str) -> Result<Value, String> {
        match self.next().await? {
            Some(event) if event.kind == kind && event.object.at("/metadata/name") == name => {
                Ok(event.object)
            }
            Some(event) => Err(format!(
                "{}: expected {kind} {name:?}, saw {} {}",
                self.request, event.kind, event.object
            )),
            None => Err(format!("{}: expected {kind} {name:?}, saw the end", self.request)),
        }
    }

    /// All events until the server ends the watch.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub async fn rest(&mut self) -> Result<Vec<Event>, String> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await? {
            events.push(event);
        }
        Ok(events)
    }

    async fn read(&mut self) -> Result<Option<Event>, String> {
        loop {
            if let Some(frame) = self.frames.next_frame() {
                let frame = frame.map_err(|error| format!("{}: {error}", self.request))?;
                let mut event: Value = serde_json::from_slice(&frame).map_err(|error| {
                    format!(
                        "{}: not JSON ({error}): {}",
                        self.request,
                        String::from_utf8_lossy(&frame)
                    )
                })?;
                return Ok(Some(Event { kind: event.at("/type"), object: event["object"].take() }));
            }
            match self.body.frame().await {
                Some(Ok(frame)) => {
                    if let Ok(chunk) = frame.into_data() {
                        self.frames.feed(chunk);
                    }
                }
                Some(Err(error)) => return Err(format!("{}: broke off: {error}", self.request)),
                None => return Ok(None),
            }
        }
    }
}
