//! Paths whose segments are checked and percent-encoded exactly once.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::error::Error;

/// What stays as it is in a segment: the unreserved characters, and the colon that RBAC names are full of.
const ENCODED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b':');

/// Refuses what cannot be one segment of a path. The empty name would turn the call for an object into the call
/// for all of them.
pub(crate) fn check_segment(what: &str, text: &str) -> Result<(), Error> {
    let fault = match text {
        "" => "is empty",
        "." | ".." => "would be read as a place in the path",
        _ if text.contains('/') => "contains '/'",
        _ if text.contains('%') => "contains '%'",
        _ => return Ok(()),
    };
    Err(Error::invalid(format!("the {what} {text:?} {fault}")))
}

/// Appends a checked segment.
pub(crate) fn push(path: &mut String, segment: &str) {
    path.push('/');
    path.extend(utf8_percent_encode(segment, ENCODED));
}

/// Appends an absolute path of several segments; a slash at its end is kept.
pub(crate) fn push_absolute(path: &mut String, absolute: &str) -> Result<(), Error> {
    let Some(segments) = absolute.strip_prefix('/') else {
        return Err(Error::invalid(format!("the path {absolute:?} does not begin with '/'")));
    };
    let mut rest = segments.split('/').peekable();
    while let Some(segment) = rest.next() {
        // Only the end may be empty: it is the slash there.
        if !segment.is_empty() || rest.peek().is_some() {
            check_segment("path segment", segment)?;
        }
        push(path, segment);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(segment: &str) -> String {
        let mut path = String::new();
        push(&mut path, segment);
        path
    }

    #[test]
    fn segments_are_encoded_once() {
        assert_eq!(encoded("two words"), "/two%20words");
        assert_eq!(encoded("x?y"), "/x%3Fy");
        assert_eq!(encoded("h#1"), "/h%231");
        assert_eq!(encoded("ü"), "/%C3%BC");
        assert_eq!(encoded("system:node:a"), "/system:node:a");
        assert_eq!(encoded("a-b.c_d~e"), "/a-b.c_d~e");
    }

    #[test]
    fn what_is_no_segment_is_refused() {
        for name in ["", ".", "..", "a/b", "a%2fb", "/", "%"] {
            assert!(check_segment("name", name).unwrap_err().is_invalid_request(), "{name}");
        }
        for name in ["a", "...", "a..b", " ", "lab:read"] {
            assert!(check_segment("name", name).is_ok(), "{name}");
        }
    }

    #[test]
    fn absolute_paths_keep_their_last_slash() {
        let absolute = |text| {
            let mut path = String::new();
            push_absolute(&mut path, text).map(|()| path)
        };
        assert_eq!(absolute("/version").unwrap(), "/version");
        assert_eq!(absolute("/api/").unwrap(), "/api/");
        assert_eq!(absolute("/").unwrap(), "/");
        for text in ["", "api", "/a//b", "/a/../b", "/a%2fb"] {
            assert!(absolute(text).is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn every_segment_comes_back(segment in "[^/%]{1,20}") {
            proptest::prop_assume!(check_segment("name", &segment).is_ok());
            let path = encoded(&segment);
            let decoded = percent_encoding::percent_decode_str(&path[1..]).decode_utf8().unwrap();
            proptest::prop_assert_eq!(decoded, segment.as_str());
            proptest::prop_assert!(path.parse::<http::uri::PathAndQuery>().is_ok());
        }
    }
}
