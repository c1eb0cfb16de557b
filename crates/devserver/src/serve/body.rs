//! The body of an answer on its way to a socket.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::activity::Busy;

/// Ends cleanly at the stop signal where it would wait for more, as a watch does; what is ready is sent
/// first. Its connection is busy as long as it lives.
pub(super) struct Served<B> {
    body: B,
    /// Made when the body first waits, so that short answers do without.
    stopped: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    stop: CancellationToken,
    ended: bool,
    _busy: Busy,
}

impl<B> Served<B> {
    pub(super) fn new(body: B, stop: CancellationToken, busy: Busy) -> Self {
        Self { body, stopped: None, stop, ended: false, _busy: busy }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Served<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = &mut *self;
        if this.ended {
            return Poll::Ready(None);
        }
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(context) {
            return Poll::Ready(frame);
        }
        let stop = &this.stop;
        let stopped = this.stopped.get_or_insert_with(|| Box::pin(stop.clone().cancelled_owned()));
        if stopped.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        this.ended = true;
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        self.ended || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
