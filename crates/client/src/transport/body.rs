//! A response's body together with the stream it comes on.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use super::error::{TransportError, TransportErrorKind};
use super::lease::Lease;

/// Gives the stream back when the body was read to its end, has failed, or is dropped.
pub(crate) struct Leased {
    // Dropped first: the reset goes out before the place is given to another.
    incoming: Incoming,
    lease: Option<Lease>,
}

impl Leased {
    pub(crate) fn new(incoming: Incoming, lease: Lease) -> Self {
        let lease = Some(lease).filter(|_| !incoming.is_end_stream());
        Self { incoming, lease }
    }
}

impl Body for Leased {
    type Data = Bytes;
    type Error = TransportError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, TransportError>>> {
        let polled = Pin::new(&mut self.incoming).poll_frame(cx);
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            self.lease = None;
        }
        polled.map_err(|error| {
            let what = "the connection failed in the middle of the response";
            TransportError::with_source(TransportErrorKind::Body, what, error)
        })
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}
