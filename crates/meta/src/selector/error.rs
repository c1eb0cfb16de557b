//! What is said about a selector that cannot be understood.

use std::fmt;

/// Input longer than this is cut in messages: a selector may come from a stranger's request.
const SHOWN_CHARACTERS: usize = 256;

/// A piece of the input as messages quote it.
pub(super) struct Shown<'a>(pub(super) &'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.char_indices().nth(SHOWN_CHARACTERS) {
            Some((end, _)) => write!(f, "{:?}", format!("{}…", &self.0[..end])),
            None => write!(f, "{:?}", self.0),
        }
    }
}

/// A label or field selector was refused.
///
/// The text names the selector as given (what is very long is cut), the place in it, and the reason.
#[derive(Clone, PartialEq, Eq)]
pub struct SelectorError(Box<Refusal>);

#[derive(Clone, PartialEq, Eq)]
struct Refusal {
    subject: Subject,
    /// As it is shown.
    input: Option<String>,
    place: Place,
    reason: String,
}

/// Which of the two selector languages the refused selector was written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Labels,
    Fields,
}

#[derive(Clone, PartialEq, Eq)]
enum Place {
    Whole,
    /// Counted in characters from 1.
    Character(usize),
    End,
    /// A path inside a structured selector, as `matchExpressions[2]`.
    Path(String),
}

/// A fault found while reading text; `at` is a byte offset into it.
#[derive(Debug)]
pub(super) struct SyntaxError {
    pub(super) at: usize,
    pub(super) reason: String,
}

impl SyntaxError {
    pub(super) fn new(at: usize, reason: impl Into<String>) -> Self {
        Self { at, reason: reason.into() }
    }
}

impl SelectorError {
    /// For a fault in text that was parsed.
    pub(super) fn in_text(subject: Subject, input: &str, fault: SyntaxError) -> Self {
        let place = match input.get(..fault.at) {
            Some(before) if fault.at < input.len() => {
                Place::Character(before.chars().count().saturating_add(1))
            }
            _ => Place::End,
        };
        Self(Box::new(Refusal {
            subject,
            input: Some(Shown(input).to_string()),
            place,
            reason: fault.reason,
        }))
    }

    /// For a fault in a selector that was put together from values.
    pub(super) fn in_value(subject: Subject, reason: impl Into<String>) -> Self {
        Self(Box::new(Refusal { subject, input: None, place: Place::Whole, reason: reason.into() }))
    }

    /// The same fault, located at a path inside a structured selector.
    pub(super) fn at_path(mut self, path: impl Into<String>) -> Self {
        self.0.place = Place::Path(path.into());
        self
    }
}

impl fmt::Display for SelectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refusal { subject, input, place, reason } = &*self.0;
        f.write_str(match subject {
            Subject::Labels => "invalid label selector",
            Subject::Fields => "invalid field selector",
        })?;
        if let Some(input) = input {
            write!(f, " {input}")?;
        }
        match place {
            Place::Whole => {}
            Place::Character(number) => write!(f, ": at character {number}")?,
            Place::End => f.write_str(": at its end")?,
            Place::Path(path) => write!(f, ": {path}")?,
        }
        write!(f, ": {reason}")
    }
}

/// As the text: a `main` that returns the error prints this form.
impl fmt::Debug for SelectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SelectorError({self})")
    }
}

impl std::error::Error for SelectorError {}
