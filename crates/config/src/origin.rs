//! Where a setting came from, so that an error can send its reader to the right line of the right file.

use std::{
    fmt,
    path::{Path, PathBuf},
};

/// A setting of a [`Config`](crate::Config) whose origin can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Setting {
    /// The address of the API server.
    Server,
    /// The namespace used where none is named.
    Namespace,
    /// The certificate authority that the server is checked against.
    CertificateAuthority,
    /// The name expected in the server's certificate.
    TlsServerName,
    /// That the server's certificate is not checked.
    InsecureSkipTlsVerify,
    /// The client certificate and its key.
    ClientIdentity,
    /// The bearer token or the file it is read from.
    Credentials,
}

/// The kinds of named entry in a kubeconfig.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum EntryKind {
    Cluster,
    User,
    Context,
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cluster => "cluster",
            Self::User => "user",
            Self::Context => "context",
        })
    }
}

/// The place a setting was read from: an entry of a kubeconfig file, a file, an environment variable, or the caller.
///
/// Its `Display` form is made to stand in a sentence: `user "dev" in /home/dev/.kube/config`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(Place);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Entry { kind: EntryKind, name: String, file: Option<PathBuf> },
    File(PathBuf),
    CurrentContext(Option<PathBuf>),
    Variable(&'static str),
    Caller,
}

impl Origin {
    pub(crate) fn entry(kind: EntryKind, name: &str, file: Option<&Path>) -> Self {
        Self(Place::Entry { kind, name: name.to_owned(), file: file.map(Path::to_owned) })
    }

    pub(crate) fn of_file(path: &Path) -> Self {
        Self(Place::File(path.to_owned()))
    }

    pub(crate) fn variable(name: &'static str) -> Self {
        Self(Place::Variable(name))
    }

    pub(crate) fn current_context(file: Option<&Path>) -> Self {
        Self(Place::CurrentContext(file.map(Path::to_owned)))
    }

    pub(crate) fn caller() -> Self {
        Self(Place::Caller)
    }

    /// The file the setting stands in; `None` for what came from the environment, from memory or from the caller.
    pub fn file(&self) -> Option<&Path> {
        match &self.0 {
            Place::Entry { file, .. } | Place::CurrentContext(file) => file.as_deref(),
            Place::File(path) => Some(path),
            Place::Variable(_) | Place::Caller => None,
        }
    }

    /// The name of the cluster, user or context entry, where the setting came from one.
    pub fn entry_name(&self) -> Option<&str> {
        match &self.0 {
            Place::Entry { name, .. } => Some(name),
            _ => None,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Place::Entry { kind, name, file: Some(file) } => {
                write!(f, "{kind} {name:?} in {}", file.display())
            }
            Place::Entry { kind, name, file: None } => write!(f, "{kind} {name:?}"),
            Place::CurrentContext(Some(file)) => write!(f, "current-context in {}", file.display()),
            Place::CurrentContext(None) => f.write_str("current-context"),
            Place::File(path) => write!(f, "{}", path.display()),
            Place::Variable(name) => write!(f, "environment variable {name}"),
            Place::Caller => f.write_str("the caller's settings"),
        }
    }
}
