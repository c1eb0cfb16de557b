//! Comparing resource versions, as far as that is allowed.
//!
//! A resource version is an opaque text. The API server's own are decimals that only grow, so where both
//! are plain decimals "older" has a meaning; it is used for one thing only, to refuse to go *back* within a
//! watch. Whatever is not a plain decimal is never called older.

use std::cmp::Ordering;

/// Whether both are plain decimals and `candidate` is the smaller.
pub(crate) fn is_older(candidate: &str, than: &str) -> bool {
    match (decimal(candidate), decimal(than)) {
        (Some(a), Some(b)) => a.len().cmp(&b.len()).then_with(|| a.cmp(b)) == Ordering::Less,
        _ => false,
    }
}

fn decimal(version: &str) -> Option<&str> {
    let digits = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
    (digits && !version.starts_with('0')).then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_decimals_are_compared() {
        assert!(is_older("9", "10"));
        assert!(is_older("99999999999999999999998", "99999999999999999999999"));
        assert!(!is_older("10", "9"));
        assert!(!is_older("10", "10"));
        for (a, b) in [("0009", "10"), ("", "10"), ("5", ""), ("a", "b"), ("5", "zz9"), ("0", "1")]
        {
            assert!(!is_older(a, b), "{a} {b}");
        }
    }
}
