//! Reads the text of a label selector into requirements.
//!
//! The grammar, with blanks allowed between any two tokens:
//! ```text
//! selector    = [ requirement { "," requirement } ]
//! requirement = "!" word | word [ operator ]
//! operator    = ( "=" | "==" | "!=" | ">" | "<" ) [ word ] | ( "in" | "notin" ) "(" set ")"
//! set         = [ word ] { "," [ word ] }
//! ```
//! A word left out after a sign or in a set is the empty value. `in` and `notin` are operators
//! only where an operator is due, and ordinary words elsewhere.

use super::error::SyntaxError;
use super::label_lexer::{Lexer, Token};
use super::requirement::{Operator, Part, Requirement};

/// The requirements in the order they were written.
pub(super) fn parse(text: &str) -> Result<Vec<Requirement>, SyntaxError> {
    let mut parser = Parser::new(text);
    let mut requirements = Vec::new();
    if parser.token == Token::End {
        return Ok(requirements);
    }
    loop {
        requirements.push(parser.requirement()?);
        match parser.token {
            Token::End => return Ok(requirements),
            Token::Comma => parser.advance(),
            _ => return Err(parser.expected("',' or the end")),
        }
    }
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    /// The token to be read next, and its byte offset.
    token: Token<'a>,
    at: usize,
}

/// A value and the byte offset it stands at.
type Value<'a> = (usize, &'a str);

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        let mut lexer = Lexer::new(text);
        let (at, token) = lexer.next_token();
        Self { lexer, token, at }
    }

    fn requirement(&mut self) -> Result<Requirement, SyntaxError> {
        let negated = self.token == Token::Not;
        if negated {
            self.advance();
        }
        let key_at = self.at;
        let Token::Word(key) = self.token else {
            return Err(self.expected(if negated { "a label key" } else { "a label key or '!'" }));
        };
        self.advance();
        let (operator, values) =
            if negated { (Operator::DoesNotExist, Vec::new()) } else { self.condition()? };
        build(key_at, key, operator, &values)
    }

    /// What follows a key: an operator with its values, or nothing, which asks for existence.
    fn condition(&mut self) -> Result<(Operator, Vec<Value<'a>>), SyntaxError> {
        let operator = match self.token {
            Token::End | Token::Comma => return Ok((Operator::Exists, Vec::new())),
            Token::Equals => Operator::Equals,
            Token::NotEquals => Operator::NotEquals,
            Token::Greater => Operator::GreaterThan,
            Token::Less => Operator::LessThan,
            Token::Word("in") => Operator::In,
            Token::Word("notin") => Operator::NotIn,
            _ => return Err(self.expected("one of =, ==, !=, >, <, in, notin, or ',' or the end")),
        };
        self.advance();
        let values = match operator {
            Operator::In | Operator::NotIn => self.set()?,
            _ => vec![self.single_value()?],
        };
        Ok((operator, values))
    }

    fn single_value(&mut self) -> Result<Value<'a>, SyntaxError> {
        match self.token {
            Token::Word(_) | Token::End | Token::Comma => Ok(self.optional_word()),
            _ => Err(self.expected("a value")),
        }
    }

    fn set(&mut self) -> Result<Vec<Value<'a>>, SyntaxError> {
        if self.token != Token::Open {
            return Err(self.expected("'('"));
        }
        self.advance();
        let mut values = Vec::new();
        loop {
            values.push(self.optional_word());
            match self.token {
                Token::Comma => self.advance(),
                Token::Close => {
                    self.advance();
                    return Ok(values);
                }
                _ => return Err(self.expected("a value, ',' or ')'")),
            }
        }
    }

    /// The word that stands here, or the empty value where none does.
    fn optional_word(&mut self) -> Value<'a> {
        let at = self.at;
        if let Token::Word(word) = self.token {
            self.advance();
            (at, word)
        } else {
            (at, "")
        }
    }

    fn advance(&mut self) {
        (self.at, self.token) = self.lexer.next_token();
    }

    fn expected(&self, wanted: &str) -> SyntaxError {
        SyntaxError::new(self.at, format!("expected {wanted}, found {}", self.token))
    }
}

/// Validates a requirement, and blames the part of the text a fault stands in.
fn build(
    key_at: usize,
    key: &str,
    operator: Operator,
    values: &[Value<'_>],
) -> Result<Requirement, SyntaxError> {
    let owned = values.iter().map(|(_, value)| (*value).to_owned()).collect();
    Requirement::checked(key.to_owned(), operator, owned).map_err(|fault| {
        let at = match &fault.part {
            Part::Key | Part::Values => key_at,
            Part::Value(bad) => {
                values.iter().find(|(_, value)| value == bad).map_or(key_at, |(at, _)| *at)
            }
        };
        SyntaxError::new(at, fault.reason)
    })
}

#[cfg(test)]
#[path = "label_parser_tests.rs"]
mod tests;
