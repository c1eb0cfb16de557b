//! Reading JSON by its bytes, without building values.
//!
//! Clients hold many objects of which they read a few fields, so objects are kept as the bytes they came in.
//! [`Scanner`] walks such bytes: it checks every byte it passes as strictly as `serde_json` would, allocates
//! nothing, and says at which byte a document goes wrong. [`Nesting`] finds the end of a document that
//! arrives in pieces; it only balances brackets, several times faster.

mod blocks;
mod nesting;
mod scanner;
mod text;
mod walk;

pub(crate) use nesting::{Nesting, TextEnd};
pub(crate) use scanner::Scanner;
pub(crate) use text::Text;
pub(crate) use walk::{ArrayWalk, ObjectWalk};

/// How deep arrays and objects may nest. One more, and `serde_json` refuses to decode the document.
pub(crate) const MAX_DEPTH: u32 = 127;

/// Where a document stops being JSON, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    /// Byte offset in the scanned bytes.
    pub(crate) offset: usize,
    /// What was expected or found there.
    pub(crate) problem: &'static str,
}

pub(crate) type Scan<T> = Result<T, SyntaxError>;

/// JSON's four white space characters.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}

/// Without the white space around it.
pub(crate) fn trim(json: &[u8]) -> &[u8] {
    let start = json.iter().position(|byte| !is_space(*byte)).unwrap_or(json.len());
    let end = json.iter().rposition(|byte| !is_space(*byte)).map_or(start, |last| last + 1);
    &json[start..end]
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
