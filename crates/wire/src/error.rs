//! What can be wrong with bytes from a server.

use std::borrow::Cow;
use std::fmt;

use kubewright_meta::{ObjectKey, StatusError};

use crate::scan::SyntaxError;

/// Why bytes could not be read as what they should be.
///
/// Printed, it says what was read, of which object where that is known, and what is wrong with it. It never
/// shows field values, which may be secret.
pub struct Error(Box<Kind>);

#[derive(Debug)]
enum Kind {
    Malformed { what: Cow<'static, str>, key: Option<ObjectKey>, fault: SyntaxError },
    Protobuf { what: String, path: String, problem: String },
    TooLarge { what: &'static str, limit: usize },
    Truncated { what: &'static str },
    Unexpected { wanted: &'static str, found: String },
    Refused(StatusError),
    Decode { into: &'static str, key: Option<ObjectKey>, path: String, message: String },
    Encode { from: &'static str, key: ObjectKey, message: String },
    UnknownEvent { name: String, key: Option<ObjectKey> },
    FieldPath { path: String, problem: &'static str },
}

impl Error {
    pub(crate) fn malformed(
        what: impl Into<Cow<'static, str>>,
        key: Option<ObjectKey>,
        fault: SyntaxError,
    ) -> Self {
        Self(Box::new(Kind::Malformed { what: what.into(), key, fault }))
    }

    pub(crate) fn malformed_protobuf(
        what: &str,
        path: String,
        problem: &impl fmt::Display,
    ) -> Self {
        Self(Box::new(Kind::Protobuf { what: what.to_owned(), path, problem: problem.to_string() }))
    }

    pub(crate) fn too_large(what: &'static str, limit: usize) -> Self {
        Self(Box::new(Kind::TooLarge { what, limit }))
    }

    pub(crate) fn truncated(what: &'static str) -> Self {
        Self(Box::new(Kind::Truncated { what }))
    }

    pub(crate) fn unexpected(wanted: &'static str, found: String) -> Self {
        Self(Box::new(Kind::Unexpected { wanted, found }))
    }

    pub(crate) fn refused(status: StatusError) -> Self {
        Self(Box::new(Kind::Refused(status)))
    }

    pub(crate) fn decode<K>(key: Option<ObjectKey>, path: String, message: String) -> Self {
        Self(Box::new(Kind::Decode { into: short_name::<K>(), key, path, message }))
    }

    pub(crate) fn encode<K>(key: ObjectKey, error: &serde_json::Error) -> Self {
        let message = error.to_string();
        Self(Box::new(Kind::Encode { from: short_name::<K>(), key, message }))
    }

    pub(crate) fn unknown_event(name: &str, key: Option<ObjectKey>) -> Self {
        let name = name.chars().take(40).collect();
        Self(Box::new(Kind::UnknownEvent { name, key }))
    }

    pub(crate) fn field_path(path: &str, problem: &'static str) -> Self {
        Self(Box::new(Kind::FieldPath { path: path.to_owned(), problem }))
    }

    /// The bytes are neither JSON nor, where that is read, protobuf; or no object with Kubernetes metadata.
    pub fn is_malformed(&self) -> bool {
        matches!(*self.0, Kind::Malformed { .. } | Kind::Protobuf { .. })
    }

    /// An object, event or list item is larger than [`MAX_OBJECT_BYTES`](crate::MAX_OBJECT_BYTES).
    pub fn is_too_large(&self) -> bool {
        matches!(*self.0, Kind::TooLarge { .. })
    }

    /// The bytes end in the middle of a list or event: the connection was cut.
    pub fn is_truncated(&self) -> bool {
        matches!(*self.0, Kind::Truncated { .. })
    }

    /// A document of another kind came than was asked for: no list where a list was, or a `Table`.
    pub fn is_unexpected_kind(&self) -> bool {
        matches!(*self.0, Kind::Unexpected { .. })
    }

    /// The object is well formed but does not fit the type it was decoded into.
    pub fn is_decode(&self) -> bool {
        matches!(*self.0, Kind::Decode { .. })
    }

    /// A watch event of a type that this version does not know.
    pub fn is_unknown_event(&self) -> bool {
        matches!(*self.0, Kind::UnknownEvent { .. })
    }

    /// The `Status` that the server sent instead of what was asked for.
    pub fn status(&self) -> Option<&StatusError> {
        match &*self.0 {
            Kind::Refused(status) => Some(status),
            _ => None,
        }
    }

    /// The object it is about, where that could be read.
    pub fn object_key(&self) -> Option<&ObjectKey> {
        match &*self.0 {
            Kind::Malformed { key, .. }
            | Kind::Decode { key, .. }
            | Kind::UnknownEvent { key, .. } => key.as_ref(),
            Kind::Encode { key, .. } => Some(key),
            _ => None,
        }
    }

    /// The path of the field that does not fit, such as `spec.ports[0].targetPort`; see
    /// [`is_decode`](Self::is_decode), or [`is_malformed`](Self::is_malformed) for protobuf.
    pub fn field(&self) -> Option<&str> {
        match &*self.0 {
            Kind::Decode { path, .. }
            | Kind::FieldPath { path, .. }
            | Kind::Protobuf { path, .. }
                if !path.is_empty() =>
            {
                Some(path)
            }
            _ => None,
        }
    }

    /// The byte at which a JSON document goes wrong; see [`is_malformed`](Self::is_malformed).
    pub fn offset(&self) -> Option<usize> {
        match &*self.0 {
            Kind::Malformed { fault, .. } => Some(fault.offset),
            _ => None,
        }
    }
}

/// The last part of a type's path: `Pod`.
fn short_name<K>() -> &'static str {
    let name = std::any::type_name::<K>();
    let plain = name.split('<').next().unwrap_or(name);
    plain.rsplit("::").next().unwrap_or(plain)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Kind::Malformed { what, key, fault } => {
                write!(
                    f,
                    "malformed {what}{}: {} (byte {})",
                    Of(key.as_ref()),
                    fault.problem,
                    fault.offset
                )
            }
            Kind::Protobuf { what, path, problem } => {
                write!(f, "malformed protobuf of {what}: ")?;
                if !path.is_empty() {
                    write!(f, "{path}: ")?;
                }
                f.write_str(problem)
            }
            Kind::TooLarge { what, limit } => {
                write!(f, "{what} is larger than the limit of {limit} bytes")
            }
            Kind::Truncated { what } => {
                write!(f, "{what} ends too early: the connection was cut; try again")
            }
            Kind::Unexpected { wanted, found } => write!(f, "expected {wanted}, got {found}"),
            Kind::Refused(status) => {
                write!(f, "expected a list of objects, got a refusal: {status}")
            }
            Kind::Decode { into, key, path, message } => {
                write!(f, "cannot decode {into}{}: ", Of(key.as_ref()))?;
                if !path.is_empty() {
                    write!(f, "{path}: ")?;
                }
                f.write_str(message)
            }
            Kind::Encode { from, key, message } => {
                write!(f, "cannot encode {from}{}: {message}", Of(Some(key)))
            }
            Kind::UnknownEvent { name, key } => {
                write!(f, "unknown watch event type {name:?}{}", Of(key.as_ref()))
            }
            Kind::FieldPath { path, problem } => write!(f, "field path {path:?}: {problem}"),
        }
    }
}

/// Names the object, where it is known.
struct Of<'a>(Option<&'a ObjectKey>);

impl fmt::Display for Of<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(key) if !key.as_str().is_empty() => write!(f, " {key}"),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wire::Error({self})")
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.0 {
            Kind::Refused(status) => Some(status),
            _ => None,
        }
    }
}
