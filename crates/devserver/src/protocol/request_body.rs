//! Reads the body of a request, up to a limit.

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;

use crate::Error;

/// The limit of a real server.
pub(super) const LIMIT: usize = 3 << 20;
/// So much beyond it is still read, and thrown away, so that a client in the middle of sending gets to see the
/// refusal.
const DRAINED: usize = 256 << 10;

/// The whole body; `None` when it is over the limit.
pub(super) async fn read<B>(body: B) -> Result<Option<Bytes>, Error>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let mut body = std::pin::pin!(body);
    let mut total = 0;
    let mut first = Bytes::new();
    let mut rest = BytesMut::new();
    while let Some(frame) = body.as_mut().frame().await {
        let Ok(data) = frame.map_err(|error| Error::request_body(error.into()))?.into_data() else {
            continue;
        };
        total += data.len();
        if total > LIMIT + DRAINED {
            return Ok(None);
        }
        if total > LIMIT {
            (first, rest) = (Bytes::new(), BytesMut::new());
        } else if first.is_empty() {
            first = data;
        } else {
            rest.extend_from_slice(&data);
        }
    }
    if total > LIMIT {
        return Ok(None);
    }
    if rest.is_empty() {
        return Ok(Some(first));
    }
    let mut whole = BytesMut::with_capacity(first.len() + rest.len());
    whole.extend_from_slice(&first);
    whole.extend_from_slice(&rest);
    Ok(Some(whole.freeze()))
}
