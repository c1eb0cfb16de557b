//! The body of an answer: whole, in pieces, or a stream that goes on.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use http_body::{Frame, SizeHint};

use crate::Error;

/// The body of an answer.
///
/// Lists come in pieces of about 64 KiB made from the stored bytes as they are asked for. Watches go on until
/// their timeout, until the server shuts down (a clean end), or until the reader drops the body.
pub struct Body {
    content: Content,
    /// An injected fault: so many bytes, then a broken connection.
    cut_after: Option<u64>,
}

enum Content {
    Whole(Bytes),
    Pieces { pieces: Box<dyn Iterator<Item = Bytes> + Send>, left: u64 },
    Stream(Pin<Box<dyn Stream<Item = Bytes> + Send>>),
}

impl Body {
    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self { content: Content::Whole(bytes.into()), cut_after: None }
    }

    /// Pieces of `length` bytes together.
    pub(crate) fn pieces(
        pieces: impl Iterator<Item = Bytes> + Send + 'static,
        length: u64,
    ) -> Self {
        Self {
            content: Content::Pieces { pieces: Box::new(pieces), left: length },
            cut_after: None,
        }
    }

    pub(crate) fn stream(stream: impl Stream<Item = Bytes> + Send + 'static) -> Self {
        Self { content: Content::Stream(Box::pin(stream)), cut_after: None }
    }

    pub(crate) fn cut_after(mut self, bytes: u64) -> Self {
        self.cut_after = Some(bytes);
        self
    }

    fn next(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        match &mut self.content {
            Content::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Content::Whole(bytes) => Poll::Ready(Some(std::mem::take(bytes))),
            Content::Pieces { pieces, left } => {
                let piece = pieces.next();
                *left = left.saturating_sub(piece.as_ref().map_or(0, |piece| piece.len() as u64));
                Poll::Ready(piece)
            }
            Content::Stream(stream) => stream.as_mut().poll_next(context),
        }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        if self.cut_after == Some(0) {
            self.content = Content::Whole(Bytes::new());
            self.cut_after = None;
            return Poll::Ready(Some(Err(Error::fault("the body was cut short"))));
        }
        let Some(mut bytes) = ready!(self.next(context)) else {
            return Poll::Ready(None);
        };
        if let Some(left) = &mut self.cut_after {
            bytes.truncate(usize::try_from(*left).unwrap_or(usize::MAX));
            *left -= bytes.len() as u64;
        }
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.content, Content::Whole(bytes) if bytes.is_empty())
            && self.cut_after.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            // A cut body announces its full length, as one cut by a network has.
            Content::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Content::Pieces { left, .. } => SizeHint::with_exact(*left),
            Content::Stream(_) => SizeHint::default(),
        }
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let content = match &self.content {
            Content::Whole(bytes) => format!("{} bytes", bytes.len()),
            Content::Pieces { left, .. } => format!("a list, {left} bytes to come"),
            Content::Stream(_) => "a watch".into(),
        };
        write!(f, "Body({content})")
    }
}
