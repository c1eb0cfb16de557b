//! Reads and writes the text of a field selector: terms, signs and escapes.

use std::borrow::Cow;

use super::error::{Shown, SyntaxError};
use super::field::{FieldOperator, FieldTerm};

/// The terms in the order they were written.
pub(super) fn parse(text: &str) -> Result<Vec<FieldTerm>, SyntaxError> {
    split_terms(text)
        .into_iter()
        .filter(|(_, term)| !term.is_empty())
        .map(|(at, term)| parse_term(at, term))
        .collect()
}

/// A value as it is written in a field selector.
pub(super) fn escape(value: &str) -> Cow<'_, str> {
    if !value.contains(is_special) {
        return Cow::Borrowed(value);
    }
    let mut escaped = String::with_capacity(value.len().saturating_add(8));
    for c in value.chars() {
        if is_special(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    Cow::Owned(escaped)
}

/// Paths are written without escapes, so none of the signs may be in one.
pub(super) fn check_path(path: &str) -> Result<(), String> {
    if path.is_empty() {
        return Err("the field path is empty".to_owned());
    }
    match path.chars().find(|c| is_special(*c) || *c == '!') {
        Some(sign) => Err(format!("field path {} must not contain '{sign}'", Shown(path))),
        None => Ok(()),
    }
}

/// The stretches between unescaped commas, with the byte offset of each.
fn split_terms(text: &str) -> Vec<(usize, &str)> {
    let mut escaped = false;
    let mut start = 0;
    text.split(move |c| {
        let splits = c == ',' && !escaped;
        escaped = c == '\\' && !escaped;
        splits
    })
    .map(|term| {
        let at = start;
        start = at + term.len() + 1;
        (at, term)
    })
    .collect()
}

fn parse_term(at: usize, term: &str) -> Result<FieldTerm, SyntaxError> {
    let Some((left, right)) = term.split_once('=') else {
        return Err(SyntaxError::new(
            at,
            format!("{} has none of '=', '==' and '!='", Shown(term)),
        ));
    };
    let (path, operator) = match left.strip_suffix('!') {
        Some(path) => (path, FieldOperator::NotEquals),
        None => (left, FieldOperator::Equals),
    };
    let value = match right.strip_prefix('=') {
        Some(value) if operator == FieldOperator::Equals => value,
        _ => right,
    };
    check_path(path).map_err(|reason| SyntaxError::new(at, reason))?;
    let value_at = at + (term.len() - value.len());
    let value = unescape(value_at, value)?;
    Ok(FieldTerm::trusted(path.to_owned(), operator, value))
}

fn unescape(at: usize, value: &str) -> Result<String, SyntaxError> {
    let mut plain = String::with_capacity(value.len());
    let mut rest = value.char_indices();
    while let Some((offset, c)) = rest.next() {
        match c {
            '\\' => match rest.next() {
                Some((_, next)) if is_special(next) => plain.push(next),
                Some((_, next)) => {
                    return Err(SyntaxError::new(
                        at + offset,
                        format!(
                            "invalid escape sequence \"\\{}\"; write a backslash as \"\\\\\"",
                            next.escape_debug()
                        ),
                    ));
                }
                None => {
                    return Err(SyntaxError::new(
                        at + offset,
                        "a backslash at the end escapes nothing; write a backslash as \"\\\\\"",
                    ));
                }
            },
            '=' | ',' => {
                return Err(SyntaxError::new(
                    at + offset,
                    format!("unescaped '{c}' in the value; write it as \"\\{c}\""),
                ));
            }
            _ => plain.push(c),
        }
    }
    Ok(plain)
}

fn is_special(c: char) -> bool {
    matches!(c, '\\' | ',' | '=')
}
