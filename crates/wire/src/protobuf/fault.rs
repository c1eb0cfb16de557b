//! What can be wrong with a message, and where.

use std::fmt;

/// A problem, and the way to it.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) problem: Problem,
    /// From the inside out, as the decoder returns.
    way: Vec<Step>,
}

/// One step from an object to a part of it.
#[derive(Debug)]
pub(super) enum Step {
    Field(&'static str),
    Index(usize),
    Key(String),
}

/// Nothing here shows what a field holds, which may be secret.
#[derive(Debug)]
pub(super) enum Problem {
    NoMagic,
    NoKind,
    ContentType,
    Truncated,
    LongVarint,
    BadTag,
    WireType { wanted: &'static str, got: &'static str },
    NotUtf8,
    Time,
    IntOrString,
    Cbor,
    EmbeddedJson(serde_json::Error),
    EmbeddedKind(String),
    TooDeep,
    TooMany,
}

impl Fault {
    /// The fault as seen from one step further out.
    pub(super) fn under(mut self, step: Step) -> Self {
        self.way.push(step);
        self
    }

    /// `spec.containers[0].name`; empty for the object itself.
    pub(super) fn path(&self) -> String {
        let mut path = String::new();
        for step in self.way.iter().rev() {
            match step {
                Step::Field(name) => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(name);
                }
                Step::Index(index) => path.push_str(&format!("[{index}]")),
                Step::Key(key) => path.push_str(&format!("[{key:?}]")),
            }
        }
        path
    }
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        Self { problem, way: Vec::new() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoMagic => "it does not start with k8s\\0",
            Self::NoKind => "it does not say its apiVersion and kind",
            Self::ContentType => "its content is encoded, or is no protobuf",
            Self::Truncated => "it ends in the middle of a field",
            Self::LongVarint => "a number is longer than 64 bits",
            Self::BadTag => "a field's number or wire type is impossible",
            Self::WireType { wanted, got } => return write!(f, "expected {wanted}, got {got}"),
            Self::NotUtf8 => "the text is not UTF-8",
            Self::Time => "the time lies outside the years 1 to 9999, or its nanoseconds a second",
            Self::IntOrString => "it says to be neither an integer nor a string",
            Self::Cbor => "it holds CBOR, which is not supported: send JSON",
            Self::EmbeddedJson(error) => return write!(f, "the JSON within is malformed: {error}"),
            Self::EmbeddedKind(found) => {
                return write!(f, "the protobuf schema has no kind {found}");
            }
            Self::TooDeep => {
                return write!(
                    f,
                    "messages lie within each other more than {} levels deep",
                    super::MAX_DEPTH
                );
            }
            Self::TooMany => {
                return write!(f, "it stands for more than {} JSON values", super::MAX_VALUES);
            }
        })
    }
}
