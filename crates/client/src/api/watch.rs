//! Watches: frames read as events, raw or decoded.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use kubewright_meta::{Object, StatusError};
use kubewright_wire::{FrameSplitter, RawObject, RawWatchEvent};

use super::Api;
use crate::error::Error;
use crate::rest::ByteStream;

/// A watch whose objects are not decoded. Dropping it ends the watch.
///
/// It ends (`None`) when the server ends it, also in the middle of an event, which is dropped: go on from the last
/// version seen. A connection that fails is one error with [`Error::is_transport`], and the end. An event that cannot
/// be read is an error with [`Error::is_decode`] about that event alone; the next ones follow.
pub struct RawWatch {
    body: ByteStream,
    frames: FrameSplitter,
    strip: bool,
}

impl RawWatch {
    pub(super) fn new(body: ByteStream) -> Self {
        Self { body, frames: FrameSplitter::new(), strip: false }
    }

    /// Drops `metadata.managedFields` from the objects still to come, which is more than half of most of them.
    #[must_use]
    pub fn without_managed_fields(mut self) -> Self {
        self.strip = true;
        self
    }

    /// The next event. Nothing is lost when the future is dropped.
    pub async fn next(&mut self) -> Option<Result<RawWatchEvent, Error>> {
        poll_fn(|cx| self.poll_event(cx)).await
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<RawWatchEvent, Error>>> {
        loop {
            if let Some(frame) = self.frames.next_frame() {
                let event = frame.and_then(|frame| RawWatchEvent::parse(frame, self.strip));
                let event = event.map_err(|error| Error::wire(error).at(self.body.call()));
                return Poll::Ready(Some(event));
            }
            match ready!(self.body.poll_chunk(cx)) {
                Some(Ok(chunk)) => self.frames.feed(chunk),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => {
                    if std::mem::take(&mut self.frames).finish().is_err() {
                        tracing::debug!(call = %self.body.call(), "the watch ended within an event");
                    }
                    return Poll::Ready(None);
                }
            }
        }
    }
}

impl Stream for RawWatch {
    type Item = Result<RawWatchEvent, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_event(cx)
    }
}

impl fmt::Debug for RawWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawWatch")
            .field("call", &self.body.call().to_string())
            .finish_non_exhaustive()
    }
}

/// One event of a typed watch.
#[derive(Clone, Debug)]
pub enum WatchEvent<K> {
    /// An object was created, now matches the selector, or existed when the watch began.
    Added(K),
    /// An object changed.
    Modified(K),
    /// An object was deleted, or no longer matches the selector; with its last state.
    Deleted(K),
    /// All changes up to this version have been sent.
    Bookmark {
        /// From where a watch can go on.
        resource_version: String,
        /// The objects that existed at the start of the watch have all been sent.
        initial_events_end: bool,
    },
    /// The server cannot go on; the watch ends behind it. An expired version ([`StatusError::is_expired`]) calls for a
    /// new list.
    Error(StatusError),
}

/// A typed watch: [`next`](Self::next), or a [`Stream`]. Dropping it ends the watch.
///
/// It ends as a [`RawWatch`] does. An object that does not fit `K` is an error that names it; the next events follow.
pub struct WatchStream<K> {
    api: Api<K>,
    raw: RawWatch,
}

impl<K: Object> WatchStream<K> {
    pub(super) fn new(api: Api<K>, raw: RawWatch) -> Self {
        Self { api, raw }
    }

    /// The next event. Nothing is lost when the future is dropped.
    pub async fn next(&mut self) -> Option<Result<WatchEvent<K>, Error>> {
        poll_fn(|cx| self.poll_event(cx)).await
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<WatchEvent<K>, Error>>> {
        let event = ready!(self.raw.poll_event(cx));
        Poll::Ready(event.map(|event| self.decode(event?)))
    }

    fn decode(&self, event: RawWatchEvent) -> Result<WatchEvent<K>, Error> {
        let read = |object: RawObject| -> Result<K, Error> {
            let mut object = object
                .decode::<K>()
                .map_err(|error| Error::wire(error).at(self.raw.body.call()))?;
            self.api.complete_types(&mut object);
            Ok(object)
        };
        Ok(match event {
            RawWatchEvent::Added(object) => WatchEvent::Added(read(object)?),
            RawWatchEvent::Modified(object) => WatchEvent::Modified(read(object)?),
            RawWatchEvent::Deleted(object) => WatchEvent::Deleted(read(object)?),
            RawWatchEvent::Bookmark { resource_version, initial_events_end } => {
                WatchEvent::Bookmark { resource_version, initial_events_end }
            }
            RawWatchEvent::Error(status) => WatchEvent::Error(status),
        })
    }
}

impl<K: Object> Stream for WatchStream<K> {
    type Item = Result<WatchEvent<K>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_event(cx)
    }
}

impl<K> fmt::Debug for WatchStream<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchStream").field("raw", &self.raw).finish_non_exhaustive()
    }
}
