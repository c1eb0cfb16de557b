//! Answers in the forms Kubernetes has: an object, a list, a watch, a `Status`.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, Status};
use kubewright_meta::{StatusError, Unstructured};
use serde::Serialize;

use super::Body;
use crate::failure::{self, Result};
use crate::kinds::ResourceKind;
use crate::object as encoding;
use crate::store::Stored;

const PIECE: usize = 64 << 10;

pub(crate) fn json(code: StatusCode, bytes: Bytes) -> Response<Body> {
    let mut answer = Response::new(Body::whole(bytes));
    *answer.status_mut() = code;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

/// A stored object in the form `kind` is served in.
pub(crate) fn object(
    code: StatusCode,
    kind: &ResourceKind,
    stored: &Stored,
) -> Result<Response<Body>> {
    Ok(json(code, served_bytes(kind, stored)?))
}

pub(crate) fn served_bytes(kind: &ResourceKind, stored: &Stored) -> Result<Bytes> {
    match kind.stored_elsewhere {
        false => Ok(stored.bytes().clone()),
        true => unstored_bytes(kind, stored.decode()?),
    }
}

/// An object that is not stored (any more, or in a dry run), from its stored form.
pub(crate) fn unstored_bytes(kind: &ResourceKind, object: Unstructured) -> Result<Bytes> {
    encoding::encode(kind, &encoding::to_served(kind, object))
}

pub(crate) fn status(code: StatusCode, status: &Status) -> Response<Body> {
    match serde_json::to_vec(status) {
        Ok(bytes) => json(code, bytes.into()),
        Err(error) => failure(&failure::internal(error)),
    }
}

/// A `Status` that says that all went well.
pub(crate) fn success(code: StatusCode) -> Response<Body> {
    let answer = Status {
        status: Some("Success".into()),
        code: Some(code.as_u16().into()),
        ..Status::default()
    };
    status(code, &answer)
}

/// A refusal.
pub(crate) fn failure(error: &StatusError) -> Response<Body> {
    let code = StatusCode::from_u16(error.code()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let bytes = serde_json::to_vec(error.status()).unwrap_or_default();
    let mut answer = json(code, bytes.into());
    if let Some(wait) = error.retry_after() {
        answer.headers_mut().insert(RETRY_AFTER, wait.as_secs().into());
    }
    answer
}

pub(crate) fn watch(frames: impl Stream<Item = Bytes> + Send + 'static) -> Response<Body> {
    let mut answer = json(StatusCode::OK, Bytes::new());
    *answer.body_mut() = Body::stream(frames);
    answer
}

/// A list, written piece by piece from the stored bytes.
pub(crate) fn list(
    kind: &ResourceKind,
    metadata: &ListMeta,
    items: Vec<Arc<Stored>>,
) -> Result<Response<Body>> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Head<'a> {
        kind: String,
        api_version: String,
        metadata: &'a ListMeta,
    }
    let head =
        Head { kind: format!("{}List", kind.kind), api_version: kind.api_version(), metadata };
    let mut head = serde_json::to_vec(&head).map_err(failure::internal)?;
    head.pop(); // the closing brace
    head.extend_from_slice(b",\"items\":[");

    let items: Vec<Bytes> =
        items.iter().map(|stored| served_bytes(kind, stored)).collect::<Result<_>>()?;
    // Items of built-in kinds do not repeat the type, those of custom kinds do.
    let skipped = if kind.custom { 1 } else { encoding::type_prefix(kind).len() };
    let items_length: usize = items.iter().map(|item| item.len() - skipped + 1).sum();
    let length = head.len() + items_length + items.len().saturating_sub(1) + 2;
    let pieces = Pieces {
        head: Some(head.into()),
        items: items.into_iter(),
        skipped,
        first: true,
        ended: false,
    };
    let mut answer = json(StatusCode::OK, Bytes::new());
    *answer.body_mut() = Body::pieces(pieces, length as u64);
    Ok(answer)
}

struct Pieces {
    head: Option<Bytes>,
    items: std::vec::IntoIter<Bytes>,
    skipped: usize,
    first: bool,
    ended: bool,
}

impl Iterator for Pieces {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        if self.ended {
            return None;
        }
        let mut piece = BytesMut::with_capacity(PIECE.min(4096 + 512 * self.items.len()));
        if let Some(head) = self.head.take() {
            piece.extend_from_slice(&head);
        }
        while piece.len() < PIECE {
            let Some(item) = self.items.next() else {
                piece.extend_from_slice(b"]}");
                self.ended = true;
                break;
            };
            piece.extend_from_slice(if self.first { b"{" } else { b",{" });
            piece.extend_from_slice(&item[self.skipped..]);
            self.first = false;
        }
        Some(piece.freeze())
    }
}
