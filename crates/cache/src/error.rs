//! What can go wrong with a local copy of cluster state.

use std::fmt;
use std::time::Duration;

use kubewright_meta::ObjectKey;

/// Why something could not be read from a cache or asked of an informer.
///
/// Faults of the network do not come this way: a reflector tries again for ever, and says why it has to in
/// [`InformerStatus`](crate::InformerStatus).
pub struct Error(Box<Kind>);

#[derive(Debug)]
enum Kind {
    Decode { kind: String, key: ObjectKey, source: kubewright_wire::Error },
    Encode { source: kubewright_wire::Error },
    IndexExists { kind: String, index: String },
    NoSuchIndex { kind: String, index: String, known: Vec<String> },
    Reentrant { what: &'static str },
    Stopped { what: String },
    ScopeMismatch { kind: String, namespace: String },
    NotSynced { waited: Option<Duration>, missing: Vec<String> },
}

impl Error {
    pub(crate) fn decode(kind: &str, key: &ObjectKey, source: kubewright_wire::Error) -> Self {
        Self(Box::new(Kind::Decode { kind: kind.to_owned(), key: key.clone(), source }))
    }

    pub(crate) fn encode(source: kubewright_wire::Error) -> Self {
        Self(Box::new(Kind::Encode { source }))
    }

    pub(crate) fn index_exists(kind: &str, index: &str) -> Self {
        Self(Box::new(Kind::IndexExists { kind: kind.to_owned(), index: index.to_owned() }))
    }

    pub(crate) fn no_such_index(kind: &str, index: &str, known: Vec<String>) -> Self {
        Self(Box::new(Kind::NoSuchIndex { kind: kind.to_owned(), index: index.to_owned(), known }))
    }

    pub(crate) fn reentrant(what: &'static str) -> Self {
        Self(Box::new(Kind::Reentrant { what }))
    }

    pub(crate) fn stopped(what: impl Into<String>) -> Self {
        Self(Box::new(Kind::Stopped { what: what.into() }))
    }

    pub(crate) fn scope_mismatch(kind: &str, namespace: &str) -> Self {
        Self(Box::new(Kind::ScopeMismatch { kind: kind.into(), namespace: namespace.into() }))
    }

    pub(crate) fn not_synced(waited: Option<Duration>, missing: Vec<String>) -> Self {
        Self(Box::new(Kind::NotSynced { waited, missing }))
    }

    /// The bytes of an object do not fit its type.
    pub fn is_decode(&self) -> bool {
        matches!(*self.0, Kind::Decode { .. })
    }

    /// An index of this name is there already.
    pub fn is_index_exists(&self) -> bool {
        matches!(*self.0, Kind::IndexExists { .. })
    }

    /// There is no index of this name.
    pub fn is_no_such_index(&self) -> bool {
        matches!(*self.0, Kind::NoSuchIndex { .. })
    }

    /// An index function called something that waits for the end of index functions.
    pub fn is_reentrant(&self) -> bool {
        matches!(*self.0, Kind::Reentrant { .. })
    }

    /// The informer or its factory was shut down.
    pub fn is_stopped(&self) -> bool {
        matches!(*self.0, Kind::Stopped { .. })
    }

    /// A namespace was given for a cluster-wide kind.
    pub fn is_scope_mismatch(&self) -> bool {
        matches!(*self.0, Kind::ScopeMismatch { .. })
    }

    /// Informers had not read their first list when the wait ended; [`missing`](Self::missing) names them.
    pub fn is_not_synced(&self) -> bool {
        matches!(*self.0, Kind::NotSynced { .. })
    }

    /// The informers that had not read their first list, each with the last thing that went wrong.
    pub fn missing(&self) -> &[String] {
        match &*self.0 {
            Kind::NotSynced { missing, .. } => missing,
            _ => &[],
        }
    }

    /// The object that the error is about.
    pub fn object_key(&self) -> Option<&ObjectKey> {
        match &*self.0 {
            Kind::Decode { key, .. } => Some(key),
            Kind::Encode { source } => source.object_key(),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Kind::Decode { kind, key, source } => {
                write!(f, "decode the cached {kind} {key}: {source}")
            }
            Kind::Encode { source } => write!(f, "put an object into the cache's form: {source}"),
            Kind::IndexExists { kind, index } => {
                write!(f, "add index {index:?} of {kind}: one of this name exists; choose another")
            }
            Kind::NoSuchIndex { kind, index, known } => {
                write!(
                    f,
                    "read index {index:?} of {kind}: there is none of this name, only {known:?}; "
                )?;
                f.write_str("add it with add_index first")
            }
            Kind::Reentrant { what } => {
                write!(
                    f,
                    "{what} from inside an index function: that would wait for itself for ever"
                )
            }
            Kind::Stopped { what } => write!(f, "{what}: the informer was shut down"),
            Kind::ScopeMismatch { kind, namespace } => {
                write!(f, "make an informer of {kind} in namespace {namespace}: ")?;
                f.write_str("objects of this kind are in no namespace; leave it out")
            }
            Kind::NotSynced { waited, missing } => {
                match waited {
                    Some(waited) => write!(f, "wait {waited:?} for informers to sync")?,
                    None => f.write_str("wait for informers to sync: they were shut down")?,
                }
                write!(f, "; not synced: {}", missing.join("; "))
            }
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cache::Error({self})")
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.0 {
            Kind::Decode { source, .. } | Kind::Encode { source } => Some(source),
            _ => None,
        }
    }
}
