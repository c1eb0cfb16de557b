//! Cuts the text of a label selector into tokens.
//!
//! Whether `in` and `notin` are operators or ordinary words depends on where they stand, so the
//! lexer calls them words and leaves that to the parser.

use std::fmt;
use std::iter::Peekable;
use std::str::CharIndices;

use super::error::Shown;

/// A piece of a label selector. Anything that is neither blank nor a sign belongs to a word; what
/// may be in a key or value is validation's business.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Word(&'a str),
    Comma,
    Open,
    Close,
    Not,
    Equals,
    NotEquals,
    Greater,
    Less,
    End,
}

/// Reads tokens one by one, with the byte offset of each; `End` for ever after the last.
#[derive(Debug)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    rest: Peekable<CharIndices<'a>>,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, rest: text.char_indices().peekable() }
    }

    pub(super) fn next_token(&mut self) -> (usize, Token<'a>) {
        while self.rest.next_if(|(_, c)| is_blank(*c)).is_some() {}
        let Some((start, first)) = self.rest.next() else {
            return (self.text.len(), Token::End);
        };
        let token = match first {
            ',' => Token::Comma,
            '(' => Token::Open,
            ')' => Token::Close,
            '>' => Token::Greater,
            '<' => Token::Less,
            '!' if self.skips('=') => Token::NotEquals,
            '!' => Token::Not,
            '=' => {
                // `==` says the same as `=`.
                self.skips('=');
                Token::Equals
            }
            _ => {
                let is_inner = |c: char| !is_blank(c) && !is_sign(c);
                while self.rest.next_if(|(_, c)| is_inner(*c)).is_some() {}
                let end = self.rest.peek().map_or(self.text.len(), |(at, _)| *at);
                Token::Word(self.text.get(start..end).unwrap_or_default())
            }
        };
        (start, token)
    }

    fn skips(&mut self, sign: char) -> bool {
        self.rest.next_if(|(_, c)| *c == sign).is_some()
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn is_sign(c: char) -> bool {
    matches!(c, ',' | '(' | ')' | '!' | '=' | '>' | '<')
}

/// The token as an error message names it.
impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => Shown(word).fmt(f),
            Self::Comma => f.write_str("','"),
            Self::Open => f.write_str("'('"),
            Self::Close => f.write_str("')'"),
            Self::Not => f.write_str("'!'"),
            Self::Equals => f.write_str("'='"),
            Self::NotEquals => f.write_str("'!='"),
            Self::Greater => f.write_str("'>'"),
            Self::Less => f.write_str("'<'"),
            Self::End => f.write_str("the end"),
        }
    }
}
