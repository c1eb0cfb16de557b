//! Entity tags: clients keep discovery documents and ask only whether they changed.

use std::hash::{DefaultHasher, Hasher};
use std::io;

use http::header::{ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH};
use http::{Response, StatusCode};
use serde::Serialize;

use crate::protocol::Body;

/// A name for the content of a document, the same for equal documents of any run.
pub(super) fn hash<T: Serialize>(document: &T) -> String {
    struct Sink(DefaultHasher);
    impl io::Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut sink = Sink(DefaultHasher::new());
    // A document that cannot be written is told of by whoever sends it.
    let _ = serde_json::to_writer(&mut sink, document);
    format!("{:016X}", sink.0.finish())
}

/// 304 if the client has the document of this tag.
pub(super) fn not_modified(headers: &HeaderMap, tag: &str) -> Option<Response<Body>> {
    let mut held = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let known = held.any(|held| {
        held.split(',')
            .map(str::trim)
            .any(|one| one == "*" || one.strip_prefix("W/").unwrap_or(one).trim_matches('"') == tag)
    });
    known.then(|| {
        let mut answer = Response::new(Body::whole(""));
        *answer.status_mut() = StatusCode::NOT_MODIFIED;
        set_tag(&mut answer, tag);
        answer
    })
}

pub(super) fn set_tag(answer: &mut Response<Body>, tag: &str) {
    if let Ok(value) = HeaderValue::try_from(format!("\"{tag}\"")) {
        answer.headers_mut().insert(ETAG, value);
    }
}
