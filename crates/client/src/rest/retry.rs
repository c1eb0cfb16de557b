//! Whether a call is sent again, and after how long.

use std::time::Duration;

use http::{HeaderMap, Method, StatusCode, header::RETRY_AFTER};

use crate::transport::TransportErrorKind;

/// A call is sent at most this many times more.
pub(crate) const MAX_RETRIES: u32 = 10;
/// However long the server asks to wait.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// The wait between repetitions for a broken connection, from the second on: the first usually is an old connection
/// that had ended, and the next is a new one.
const PAUSE: Duration = Duration::from_secs(1);

/// The wait that a refusal asks for, if it may be repeated: 429 or 5xx with whole seconds in `Retry-After`. The server
/// says so before it acts, so it holds for any verb.
pub(crate) fn after_response(status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    let asks = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
    let seconds = asks.then(|| retry_after_seconds(headers)).flatten()?;
    Some(Duration::from_secs(seconds).min(MAX_WAIT))
}

/// The whole seconds in `Retry-After`; dates are not supported, as in client-go.
pub(crate) fn retry_after_seconds(headers: &HeaderMap) -> Option<u64> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()
}

/// The wait before a call is sent again whose connection failed, if it may be. `earlier` is how often that happened
/// to it before.
pub(crate) fn after_failure(
    method: &Method,
    kind: Option<TransportErrorKind>,
    earlier: u32,
) -> Option<Duration> {
    let again = match kind? {
        TransportErrorKind::Unprocessed => true,
        // A write may have happened.
        TransportErrorKind::Lost => method == Method::GET,
        TransportErrorKind::Connect
        | TransportErrorKind::Busy
        | TransportErrorKind::Body
        | TransportErrorKind::Credentials => false,
    };
    again.then_some(if earlier == 0 { Duration::ZERO } else { PAUSE })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(retry_after: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(RETRY_AFTER, http::HeaderValue::from_static(retry_after))])
    }

    #[test]
    fn only_a_refusal_with_whole_seconds_is_repeated() {
        let wait = |code, text| {
            after_response(StatusCode::from_u16(code).unwrap(), &headers(text)).map(|d| d.as_secs())
        };
        assert_eq!(wait(429, "1"), Some(1));
        assert_eq!(wait(500, " 2 "), Some(2));
        assert_eq!(wait(503, "0"), Some(0));
        assert_eq!(wait(503, "100000"), Some(30));
        assert_eq!(wait(429, "1.5"), None);
        assert_eq!(wait(429, "-1"), None);
        assert_eq!(wait(429, "Wed, 21 Oct 2015 07:28:00 GMT"), None);
        assert_eq!(wait(409, "1"), None);
        assert_eq!(wait(404, "1"), None);
        assert_eq!(after_response(StatusCode::TOO_MANY_REQUESTS, &HeaderMap::new()), None);
    }

    #[test]
    fn a_write_is_repeated_only_if_it_was_not_processed() {
        use TransportErrorKind::{Body, Busy, Connect, Credentials, Lost, Unprocessed};
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            assert_eq!(after_failure(&method, Some(Unprocessed), 0), Some(Duration::ZERO));
            assert_eq!(after_failure(&method, Some(Lost), 0), None);
        }
        assert_eq!(after_failure(&Method::GET, Some(Lost), 0), Some(Duration::ZERO));
        assert_eq!(after_failure(&Method::GET, Some(Lost), 1), Some(PAUSE));
        for kind in [Some(Connect), Some(Busy), Some(Body), Some(Credentials), None] {
            assert_eq!(after_failure(&Method::GET, kind, 0), None);
        }
    }
}
