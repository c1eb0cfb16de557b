//! Strings: where they end, and what they say.

use std::borrow::Cow;

use super::scanner::ENDS_EARLY;
use super::{Scan, SyntaxError};

/// A string's place between its quotes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) start: usize,
    /// The offset of the closing quote.
    pub(crate) end: usize,
    /// Whether there are escapes, so that the text is not the bytes as they stand.
    pub(crate) escaped: bool,
}

impl Text {
    /// What the string says; `bytes` are those it was found in. Invalid UTF-8 reads as U+FFFD.
    pub(crate) fn read(self, bytes: &[u8]) -> Cow<'_, str> {
        if self.escaped {
            // The quotes belong to it. The scanner has checked the escapes.
            let quoted = bytes.get(self.start - 1..=self.end).unwrap_or_default();
            if let Ok(text) = serde_json::from_slice::<String>(quoted) {
                return Cow::Owned(text);
            }
        }
        String::from_utf8_lossy(bytes.get(self.start..self.end).unwrap_or_default())
    }

    /// Whether the string says `expected`.
    pub(crate) fn is(self, bytes: &[u8], expected: &str) -> bool {
        if self.escaped {
            return self.read(bytes) == expected;
        }
        bytes.get(self.start..self.end) == Some(expected.as_bytes())
    }
}

/// Finds the closing quote of the string whose first byte behind the opening quote is at `start`.
pub(super) fn end_of_text(bytes: &[u8], start: usize) -> Scan<Text> {
    let mut at = start;
    let mut escaped = false;
    loop {
        // Eight bytes at a time while none of them is special.
        while let Some(eight) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
            let special = special_bytes(u64::from_le_bytes(*eight));
            if special == 0 {
                at += 8;
                continue;
            }
            at += special.trailing_zeros() as usize / 8;
            break;
        }
        match bytes.get(at) {
            Some(b'"') => {
                return Ok(Text { start, end: at, escaped });
            }
            Some(b'\\') => {
                escaped = true;
                at = end_of_escape(bytes, at)?;
            }
            Some(0..=0x1f) => {
                return Err(SyntaxError { offset: at, problem: "control character in a string" });
            }
            Some(_) => at += 1,
            None => {
                return Err(SyntaxError { offset: bytes.len(), problem: ENDS_EARLY });
            }
        }
    }
}

/// The high bit of each byte that is a quote, a backslash or a control character. Bytes above the lowest one
/// that is marked may be marked wrongly.
fn special_bytes(eight: u64) -> u64 {
    const LOW: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = LOW << 7;
    let zeros = |word: u64| word.wrapping_sub(LOW) & !word;
    let control = eight.wrapping_sub(LOW * 0x20) & !eight;
    let quote = zeros(eight ^ (LOW * u64::from(b'"')));
    let backslash = zeros(eight ^ (LOW * u64::from(b'\\')));
    (control | quote | backslash) & HIGH
}

/// Checks the escape whose backslash is at `at`, and says where it ends.
fn end_of_escape(bytes: &[u8], at: usize) -> Scan<usize> {
    match bytes.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => match hex4(bytes, at + 2)? {
            0xDC00..=0xDFFF => Err(SyntaxError { offset: at, problem: LONE_SURROGATE }),
            0xD800..=0xDBFF => {
                let low = bytes.get(at + 6..at + 8) == Some(b"\\u");
                if low && (0xDC00..=0xDFFF).contains(&hex4(bytes, at + 8)?) {
                    return Ok(at + 12);
                }
                Err(SyntaxError { offset: at, problem: LONE_SURROGATE })
            }
            _ => Ok(at + 6),
        },
        Some(_) => Err(SyntaxError { offset: at + 1, problem: "unknown escape in a string" }),
        None => Err(SyntaxError { offset: bytes.len(), problem: ENDS_EARLY }),
    }
}

const LONE_SURROGATE: &str = "half a surrogate pair in a string";

fn hex4(bytes: &[u8], at: usize) -> Scan<u16> {
    let mut value = 0;
    for offset in at..at + 4 {
        let Some(&byte) = bytes.get(offset) else {
            return Err(SyntaxError { offset: bytes.len(), problem: ENDS_EARLY });
        };
        let Some(digit) = char::from(byte).to_digit(16) else {
            return Err(SyntaxError { offset, problem: "expected a hexadecimal digit" });
        };
        value = value << 4 | digit as u16;
    }
    Ok(value)
}
