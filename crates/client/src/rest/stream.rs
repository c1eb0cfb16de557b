//! An answer that is read as it comes.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use http::{HeaderMap, StatusCode};
use http_body::Body as _;

use crate::body::Body;
use crate::error::{CallName, Error, Kind};

/// The body of an answer, chunk by chunk. Dropping it ends the transfer.
///
/// Not reading it stops the server (at most 2 MiB are held unread) and nothing else. It ends after an error.
pub struct ByteStream {
    call: CallName,
    status: StatusCode,
    headers: HeaderMap,
    pause: Option<Duration>,
    body: Option<Body>,
}

impl ByteStream {
    pub(super) fn new(
        call: CallName,
        pause: Option<Duration>,
        response: http::Response<Body>,
    ) -> Self {
        let (head, body) = response.into_parts();
        Self { call, status: head.status, headers: head.headers, pause, body: Some(body) }
    }

    /// The code, 2xx.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The next part; `None` at the end. Nothing is lost when the future is dropped.
    pub async fn next(&mut self) -> Option<Result<Bytes, Error>> {
        poll_fn(|cx| self.poll_chunk(cx)).await
    }

    /// The next part, which may not take longer than the call's limit. The time in which nobody asks does not count.
    pub(crate) async fn next_in_time(&mut self) -> Option<Result<Bytes, Error>> {
        let Some(limit) = self.pause else {
            return self.next().await;
        };
        match tokio::time::timeout(limit, self.next()).await {
            Ok(chunk) => chunk,
            Err(_) => {
                self.body = None;
                let error = Error::from(Kind::Timeout { limit, last: None });
                Some(Err(error.at(&self.call)))
            }
        }
    }

    pub(crate) fn poll_chunk(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Error>>> {
        loop {
            let Some(body) = &mut self.body else {
                return Poll::Ready(None);
            };
            match ready!(Pin::new(body).poll_frame(cx)) {
                // Trailers carry nothing here.
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(chunk) if !chunk.is_empty() => return Poll::Ready(Some(Ok(chunk))),
                    _ => {}
                },
                Some(Err(error)) => {
                    self.body = None;
                    let error = Error::from(Kind::Transport(error)).at(&self.call);
                    return Poll::Ready(Some(Err(error)));
                }
                None => {
                    self.body = None;
                    return Poll::Ready(None);
                }
            }
        }
    }

    pub(crate) fn call(&self) -> &CallName {
        &self.call
    }

    /// Ends the transfer.
    pub(crate) fn close(&mut self) {
        self.body = None;
    }
}

impl Stream for ByteStream {
    type Item = Result<Bytes, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_chunk(cx)
    }
}

impl fmt::Debug for ByteStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByteStream")
            .field("call", &self.call.to_string())
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}
