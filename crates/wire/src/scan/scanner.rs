//! A cursor over one complete JSON document.

use std::ops::Range;

use super::text::{self, Text};
use super::{MAX_DEPTH, Nesting, Scan, SyntaxError, is_space};

/// A cursor over bytes that should hold JSON. All offsets are relative to the whole of these bytes.
///
/// UTF-8 is not checked here: callers check the bytes they keep in one go, which is much faster.
#[derive(Clone)]
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// A cursor that starts at `at`, such as the start of a value met before.
    pub(crate) fn starting_at(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The next byte, not consumed; `None` at the end.
    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    pub(crate) fn error<T>(&self, problem: &'static str) -> Scan<T> {
        let problem = if self.at >= self.bytes.len() { ENDS_EARLY } else { problem };
        Err(SyntaxError { offset: self.at.min(self.bytes.len()), problem })
    }

    #[inline]
    pub(crate) fn skip_space(&mut self) {
        // Servers send none: one comparison settles it.
        while self.peek().is_some_and(|byte| byte <= b' ' && is_space(byte)) {
            self.at += 1;
        }
    }

    /// Consumes `byte`, or fails with `problem`.
    pub(crate) fn expect(&mut self, byte: u8, problem: &'static str) -> Scan<()> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        self.error(problem)
    }

    /// Consumes `byte` if it is next.
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Fails unless only white space is left.
    pub(crate) fn finish(&mut self) -> Scan<()> {
        self.skip_space();
        if self.at == self.bytes.len() {
            return Ok(());
        }
        self.error("more text after the end of the document")
    }

    /// Reads a string.
    pub(crate) fn text(&mut self) -> Scan<Text> {
        self.expect(b'"', "expected a string")?;
        let text = text::end_of_text(self.bytes, self.at)?;
        self.at = text.end + 1;
        Ok(text)
    }

    /// Reads an object key and the colon behind it, up to its value.
    pub(super) fn key(&mut self) -> Scan<Text> {
        if self.peek() != Some(b'"') {
            return self.error("expected an object key in quotes");
        }
        let key = self.text()?;
        self.skip_space();
        self.expect(b':', "expected a colon after an object key")?;
        self.skip_space();
        Ok(key)
    }

    /// Passes over the value at the cursor and checks it. `outside` counts the arrays and objects it lies in.
    pub(crate) fn skip_value(&mut self, outside: u32) -> Scan<Range<usize>> {
        let start = self.at;
        match self.peek() {
            Some(b'"') => {
                self.text()?;
            }
            Some(b'{' | b'[') => self.skip_nested(outside)?,
            _ => self.skip_scalar()?,
        }
        Ok(start..self.at)
    }

    /// Passes over the value at the cursor by its brackets alone. For values that are thrown away: what is
    /// inside is not checked.
    pub(crate) fn skip_unchecked(&mut self, outside: u32) -> Scan<Range<usize>> {
        if !matches!(self.peek(), Some(b'{' | b'[')) {
            return self.skip_value(outside);
        }
        let start = self.at;
        match Nesting::opened().advance(&self.bytes[start + 1..]) {
            Some(length) => self.at = start + 1 + length,
            None => {
                self.at = self.bytes.len();
                return self.error(ENDS_EARLY);
            }
        }
        Ok(start..self.at)
    }

    /// The whole array or object at the cursor, without recursion: one bit for each level says which of the
    /// two it is.
    fn skip_nested(&mut self, outside: u32) -> Scan<()> {
        let mut levels: u128 = 0;
        let mut depth = 0;
        loop {
            // At a value.
            match self.peek() {
                Some(open @ (b'{' | b'[')) => {
                    if outside + depth >= MAX_DEPTH {
                        return self.error("nested too deeply");
                    }
                    depth += 1;
                    let is_object = open == b'{';
                    levels = levels << 1 | u128::from(is_object);
                    self.at += 1;
                    self.skip_space();
                    if !self.take(if is_object { b'}' } else { b']' }) {
                        if is_object {
                            self.key()?;
                        }
                        continue;
                    }
                    depth -= 1;
                    levels >>= 1;
                }
                Some(b'"') => {
                    self.text()?;
                }
                _ => self.skip_scalar()?,
            }
            // Behind a value.
            loop {
                if depth == 0 {
                    return Ok(());
                }
                self.skip_space();
                let is_object = levels & 1 == 1;
                match (self.peek(), is_object) {
                    (Some(b','), _) => {
                        self.at += 1;
                        self.skip_space();
                        if is_object {
                            self.key()?;
                        }
                        break;
                    }
                    (Some(b'}'), true) | (Some(b']'), false) => {
                        self.at += 1;
                        depth -= 1;
                        levels >>= 1;
                    }
                    (_, true) => return self.error("expected a comma or the end of an object"),
                    (_, false) => return self.error("expected a comma or the end of an array"),
                }
            }
        }
    }

    fn skip_scalar(&mut self) -> Scan<()> {
        match self.peek() {
            Some(b't') => self.literal(b"true"),
            Some(b'f') => self.literal(b"false"),
            Some(b'n') => self.literal(b"null"),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.error("expected a value"),
        }
    }

    fn literal(&mut self, literal: &'static [u8]) -> Scan<()> {
        for &byte in literal {
            self.expect(byte, "expected true, false or null")?;
        }
        Ok(())
    }

    fn number(&mut self) -> Scan<()> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        let mut huge = false;
        if self.take(b'.') {
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if !self.take(b'+') {
                self.take(b'-');
            }
            self.digits()?;
            huge = true;
        }
        // Beyond the range of a 64-bit float no reader can decode it. Rare, so the check may be slow.
        huge |= self.at - start > 300;
        if huge && serde_json::from_slice::<f64>(&self.bytes[start..self.at]).is_err() {
            return Err(SyntaxError { offset: start, problem: "number out of range" });
        }
        Ok(())
    }

    fn digits(&mut self) -> Scan<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { self.error("expected a digit") }
    }
}

pub(super) const ENDS_EARLY: &str = "the document ends too early";
