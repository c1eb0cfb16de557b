//! Who may ask: whoever has the token.

use http::header::AUTHORIZATION;
use http::{HeaderMap, Method, Request};
use kubewright_meta::{Reason, StatusError};
use rustls::crypto::ring;

use crate::Error;

/// Paths that tell nothing but that the server is there, which a real server shows to everybody.
const OPEN: [&str; 4] = ["/healthz", "/livez", "/readyz", "/version"];
const RANDOM_BYTES: usize = 24;

/// A bearer token.
#[derive(Clone)]
pub(super) struct Token(String);

impl Token {
    pub(super) fn random() -> Result<Self, Error> {
        let mut bytes = [0; RANDOM_BYTES];
        let random = ring::default_provider().secure_random;
        random.fill(&mut bytes).map_err(|_| Error::no_random_bytes())?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// One that clients can send in a header.
    pub(super) fn given(token: &str) -> Result<Self, Error> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        if token.is_empty() || !token.bytes().all(fits) {
            return Err(Error::bad_token());
        }
        Ok(Self(token.to_owned()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Lets a request pass or says 401.
    ///
    /// A wrong token is refused everywhere, as by a real server: it is a mistake to be told of, not a wish
    /// to be anonymous.
    pub(super) fn check<B>(&self, request: &Request<B>) -> Result<(), StatusError> {
        let allowed = match bearer(request.headers()) {
            Some(given) => self.is(given),
            None => is_open(request),
        };
        if allowed { Ok(()) } else { Err(StatusError::of(Reason::Unauthorized, "Unauthorized")) }
    }

    /// In a time that does not depend on where they differ.
    fn is(&self, given: &[u8]) -> bool {
        let own = self.0.as_bytes();
        let differing = own.iter().zip(given).fold(0, |differing, (a, b)| differing | (a ^ b));
        own.len() == given.len() && differing == 0
    }
}

fn is_open<B>(request: &Request<B>) -> bool {
    let path = request.uri().path();
    [Method::GET, Method::HEAD].contains(request.method())
        && OPEN.contains(&path.strip_suffix('/').unwrap_or(path))
}

/// What follows `Bearer`; other schemes are none of ours.
fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let value = headers.get(AUTHORIZATION)?.as_bytes();
    let (scheme, rest) = value.split_at_checked(7)?;
    scheme.eq_ignore_ascii_case(b"bearer ").then(|| rest.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(token: &Token, method: Method, path: &str, authorization: Option<&str>) -> u16 {
        let mut request = Request::builder().method(method).uri(path);
        if let Some(value) = authorization {
            request = request.header(AUTHORIZATION, value);
        }
        token.check(&request.body(()).unwrap()).map_or_else(|refusal| refusal.code(), |()| 200)
    }

    #[test]
    fn only_the_token_opens_more_than_health_and_version() {
        let token = Token::given("abc.DEF-1").unwrap();
        let cases = [
            ("/api/v1/pods", Some("Bearer abc.DEF-1"), 200),
            ("/api/v1/pods", Some("bearer  abc.DEF-1 "), 200),
            ("/api/v1/pods", None, 401),
            ("/api/v1/pods", Some("Bearer abc.DEF-2"), 401),
            ("/api/v1/pods", Some("Bearer abc.DEF-1x"), 401),
            ("/api/v1/pods", Some("Bearer "), 401),
            ("/api/v1/pods", Some("abc.DEF-1"), 401),
            ("/api/v1/pods", Some("Basic YWJj"), 401),
            ("/openapi/v3", None, 401),
            ("/", None, 401),
            ("/version", None, 200),
            ("/version/", None, 200),
            ("/readyz?verbose", None, 200),
            ("/livez", None, 200),
            ("/healthz", None, 200),
            ("/healthz/ping", None, 401),
            ("/version", Some("Bearer wrong"), 401),
        ];
        for (path, authorization, wanted) in cases {
            assert_eq!(
                code(&token, Method::GET, path, authorization),
                wanted,
                "{path} {authorization:?}"
            );
        }
        assert_eq!(code(&token, Method::POST, "/version", None), 401);
    }

    #[test]
    fn tokens_are_fit_for_a_header_and_random_ones_differ() {
        for bad in ["", "with space", "line\nend", "ü"] {
            assert!(Token::given(bad).is_err(), "{bad:?}");
        }
        let (one, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert_ne!(one.as_str(), other.as_str());
        assert!(Token::given(one.as_str()).is_ok());
    }
}
