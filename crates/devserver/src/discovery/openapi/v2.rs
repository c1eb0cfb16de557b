//! OpenAPI v2: a document that describes nothing.
//!
//! `kubectl` reads it for kinds that the v3 index does not know, and takes what it does not find in it as
//! not described; without the document it fails before it could say that there is no such kind.

use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Response, StatusCode};
use serde_json::json;

use super::VERSION;
use crate::discovery::{json as json_answer, negotiate};
use crate::protocol::{self, Body};

/// How Go clients ask, in the old and the new spelling.
const PROTOBUF: [&str; 2] = [
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
];
const TITLE: &str = "Kubernetes";

pub(in crate::discovery) fn answer(headers: &HeaderMap) -> Response<Body> {
    let accepted = || headers.get_all(ACCEPT).iter();
    let is_protobuf = accepted()
        .filter_map(|accept| accept.to_str().ok())
        .flat_map(|accept| accept.split([',', ';']))
        .any(|part| PROTOBUF.contains(&part.trim()));
    if is_protobuf {
        let mut answer = protocol::json(StatusCode::OK, protobuf().into());
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(PROTOBUF[0]));
        return answer;
    }
    match negotiate::form(headers, negotiate::Offer::Json) {
        Some(_) => json_answer(&json!({
            "swagger": "2.0", "info": {"title": TITLE, "version": VERSION}, "paths": {},
        })),
        None => protocol::failure(&negotiate::refusal(negotiate::Offer::Json)),
    }
}

/// `openapi.v2.Document` with `swagger` (1), `info` (2: `title` 1, `version` 2) and `paths` (8).
fn protobuf() -> Vec<u8> {
    let info = [field(1, TITLE.as_bytes()), field(2, VERSION.as_bytes())].concat();
    [field(1, b"2.0"), field(2, &info), field(8, b"")].concat()
}

/// A length-delimited field; what stands in it here is shorter than 128 bytes.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    const { assert!(TITLE.len() + VERSION.len() + 4 < 128) };
    let length = content.len() as u8;
    [&[number << 3 | 2, length], content].concat()
}
