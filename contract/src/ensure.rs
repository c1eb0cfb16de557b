//! Assertions that say what was expected and what was seen, and let the other checks go on.

/// Ends the check with a reason unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($reason:tt)+) => {
        if !$condition {
            return Err(format!($($reason)+));
        }
    };
}

/// Ends the check unless both values are equal; the last argument names what they are.
macro_rules! ensure_eq {
    ($seen:expr, $expected:expr, $($what:tt)+) => {{
        let (seen, expected) = (&$seen, &$expected);
        if *seen != *expected {
            return Err(format!("{}: expected {expected:?}, saw {seen:?}", format_args!($($what)+)));
        }
    }};
}
