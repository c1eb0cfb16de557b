//! Where a document that arrives in pieces ends.

use super::blocks::{BLOCK, Masks};

/// Follows the brackets of one array or object until the one that opened it is closed.
///
/// It can be fed in pieces cut anywhere. It looks at nothing but strings and brackets and does not tell the
/// two kinds of brackets apart: whoever gets the bytes checks them with a [`Scanner`](super::Scanner).
#[derive(Clone, Debug)]
pub(crate) struct Nesting {
    depth: u64,
    in_text: bool,
    /// The next byte is behind a backslash.
    escaped: bool,
}

impl Nesting {
    /// Behind the opening bracket.
    pub(crate) fn opened() -> Self {
        Self { depth: 1, in_text: false, escaped: false }
    }

    /// Goes through `piece`. Returns the offset behind the closing bracket, if it is in there.
    pub(crate) fn advance(&mut self, piece: &[u8]) -> Option<usize> {
        let (blocks, rest) = piece.as_chunks::<BLOCK>();
        for (index, block) in blocks.iter().enumerate() {
            if let Some(length) = self.block(block, BLOCK) {
                return Some(index * BLOCK + length);
            }
        }
        if rest.is_empty() {
            return None;
        }
        let mut last = [b' '; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        self.block(&last, rest.len()).map(|length| blocks.len() * BLOCK + length)
    }

    /// Goes through the first `length` bytes of a block; those behind are spaces.
    fn block(&mut self, block: &[u8; BLOCK], length: usize) -> Option<usize> {
        let masks = Masks::of(block);
        let escaped = self.escaped_bytes(masks.backslashes, length);
        let quotes = masks.quotes & !escaped;
        let mut text = parity(quotes);
        if self.in_text {
            text = !text;
        }
        // The spaces behind the end continue the state at the end.
        self.in_text = text >> (BLOCK - 1) == 1;

        let opens = masks.opens & !text;
        let mut closes = masks.closes & !text;
        let closing = u64::from(closes.count_ones());
        if closing >= self.depth {
            let mut depth = self.depth;
            let mut opens_left = opens;
            while closes != 0 {
                let below = (closes & closes.wrapping_neg()) - 1;
                depth += u64::from((opens_left & below).count_ones());
                opens_left &= !below;
                depth -= 1;
                if depth == 0 {
                    return Some(closes.trailing_zeros() as usize + 1);
                }
                closes &= closes - 1;
            }
        }
        self.depth = self.depth + u64::from(opens.count_ones()) - closing;
        None
    }

    /// Which bytes of a block stand behind a backslash that is not itself escaped.
    fn escaped_bytes(&mut self, mut backslashes: u64, length: usize) -> u64 {
        let mut escaped = u64::from(self.escaped);
        self.escaped = false;
        while backslashes != 0 {
            let at = backslashes.trailing_zeros() as usize;
            backslashes &= backslashes - 1;
            if escaped >> at & 1 == 1 {
                continue;
            }
            if at + 1 == length {
                self.escaped = true;
            } else {
                escaped |= 1 << (at + 1);
            }
        }
        escaped
    }
}

/// For each bit: whether the number of ones up to and with it is odd.
fn parity(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

/// Finds the closing quote of a string that arrives in pieces.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextEnd {
    escaped: bool,
}

impl TextEnd {
    /// Goes through `piece`, which starts behind the opening quote. Returns the offset behind the closing
    /// quote, if it is in there.
    pub(crate) fn advance(&mut self, piece: &[u8]) -> Option<usize> {
        let mut at = 0;
        if self.escaped && !piece.is_empty() {
            self.escaped = false;
            at = 1;
        }
        loop {
            at += memchr::memchr2(b'"', b'\\', piece.get(at..)?)?;
            if piece[at] == b'"' {
                return Some(at + 1);
            }
            at += 2;
            if at > piece.len() {
                self.escaped = true;
                return None;
            }
        }
    }
}
