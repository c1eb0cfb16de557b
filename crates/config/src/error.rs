//! Everything that can be wrong with a configuration, said so that the reader knows which file and entry to open.

use std::{error::Error as StdError, fmt, io, path::PathBuf, sync::Arc};

use crate::origin::Origin;

/// Why a configuration could not be loaded or used.
///
/// The text says what was tried and where to look. It never contains a credential or a piece of a file's content.
#[derive(Clone)]
pub struct Error(Box<Kind>);

#[derive(Clone)]
pub(crate) enum Kind {
    /// A file that the caller named does not exist.
    FileNotFound(PathBuf),
    /// Files that exist but cannot be used.
    Files(Vec<Problem>),
    /// No kubeconfig and no cluster around: one line for each thing tried.
    Nothing(Vec<String>),
    /// There is a kubeconfig, but nothing says which context to use.
    NoContext { known: Vec<String>, tried: Vec<String> },
    /// The chosen context does not exist.
    ContextNotFound { name: String, chosen_by: Origin, known: Vec<String> },
    /// The in-cluster environment is missing or incomplete.
    NotInCluster(String),
    /// The chosen entries, or a hand-made configuration, do not hold together.
    Invalid(Vec<Problem>),
    /// A token file could not be read.
    Token { path: PathBuf, reason: &'static str, source: Option<Arc<io::Error>> },
}

impl Error {
    /// A file that was named explicitly does not exist.
    pub fn is_file_not_found(&self) -> bool {
        matches!(*self.0, Kind::FileNotFound(_))
    }

    /// There is nothing to configure from: no kubeconfig with a usable context, and the process is not in a cluster.
    pub fn is_empty(&self) -> bool {
        matches!(*self.0, Kind::Nothing(_) | Kind::NoContext { .. })
    }

    /// The context that was asked for, or that `current-context` names, does not exist.
    pub fn is_context_not_found(&self) -> bool {
        matches!(*self.0, Kind::ContextNotFound { .. })
    }

    /// In-cluster configuration was asked for outside of a cluster.
    pub fn is_not_in_cluster(&self) -> bool {
        matches!(*self.0, Kind::NotInCluster(_))
    }

    /// The configuration was found but is wrong: see [`problems`](Self::problems).
    pub fn is_invalid(&self) -> bool {
        matches!(*self.0, Kind::Invalid(_) | Kind::Files(_))
    }

    /// Any of the problems is a feature that this library does not have yet.
    pub fn is_unsupported(&self) -> bool {
        self.problems().iter().any(Problem::is_unsupported)
    }

    /// Every single thing that is wrong, where more than one can be; otherwise empty.
    pub fn problems(&self) -> &[Problem] {
        match &*self.0 {
            Kind::Files(problems) | Kind::Invalid(problems) => problems,
            _ => &[],
        }
    }
}

impl From<Kind> for Error {
    fn from(kind: Kind) -> Self {
        Self(Box::new(kind))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Kind::FileNotFound(path) => write!(f, "kubeconfig {} does not exist", path.display()),
            Kind::Files(problems) => list(f, "cannot load the kubeconfig", problems),
            Kind::Nothing(tried) => {
                f.write_str("no Kubernetes configuration was found; tried:")?;
                lines(f, tried)?;
                f.write_str("\nset KUBECONFIG to a kubeconfig file, or run inside a pod with a service account")
            }
            Kind::NoContext { known, tried } => {
                f.write_str(
                    "the kubeconfig sets no current-context and no context was chosen; tried:",
                )?;
                lines(f, tried)?;
                write!(f, "\nset current-context or choose one of the contexts: {}", names(known))
            }
            Kind::ContextNotFound { name, chosen_by, known } => {
                write!(
                    f,
                    "context {name:?} does not exist (chosen by {chosen_by}); known contexts: {}",
                    names(known)
                )
            }
            Kind::NotInCluster(reason) => write!(f, "not in a cluster: {reason}"),
            Kind::Invalid(problems) => list(f, "invalid configuration", problems),
            Kind::Token { path, reason, source } => {
                write!(f, "cannot read a token from {}: {reason}", path.display())?;
                source.iter().try_for_each(|source| write!(f, ": {source}"))
            }
        }
    }
}

/// As the text: a `main` that returns the error prints this form.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "config::Error({self})")
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &*self.0 {
            Kind::Token { source: Some(source), .. } => Some(source.as_ref()),
            Kind::Files(problems) | Kind::Invalid(problems) => match problems.as_slice() {
                [only] => only.source(),
                _ => None,
            },
            _ => None,
        }
    }
}

/// One thing that is wrong in a file or an entry.
#[derive(Clone)]
pub struct Problem {
    origin: Option<Origin>,
    field: Option<&'static str>,
    message: String,
    unsupported: bool,
    source: Option<Arc<io::Error>>,
}

impl Problem {
    /// `origin: message`, about a whole file or entry.
    pub(crate) fn new(origin: Option<Origin>, message: impl Into<String>) -> Self {
        Self { origin, field: None, message: message.into(), unsupported: false, source: None }
    }

    /// `origin: field message`, about one field.
    pub(crate) fn field(origin: &Origin, field: &'static str, message: impl Into<String>) -> Self {
        Self { field: Some(field), ..Self::new(Some(origin.clone()), message) }
    }

    pub(crate) fn unsupported(origin: &Origin, field: &'static str) -> Self {
        let message = "is not supported yet; remove it or choose another context";
        Self { unsupported: true, ..Self::field(origin, field, message) }
    }

    /// `variable: message`, about an environment variable that asks for something that does not exist yet.
    pub(crate) fn unsupported_variable(name: &'static str, message: impl Into<String>) -> Self {
        Self { unsupported: true, ..Self::new(Some(Origin::variable(name)), message) }
    }

    pub(crate) fn with_source(mut self, source: io::Error) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// The file or entry that is wrong.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// The kubeconfig field that is wrong, as it is spelled there, for example `client-key`.
    pub fn field_name(&self) -> Option<&str> {
        self.field
    }

    /// The field or variable is right as such, but this library does not have the feature yet.
    pub fn is_unsupported(&self) -> bool {
        self.unsupported
    }

    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_ref().map(|source| source.as_ref() as _)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(origin) = &self.origin {
            write!(f, "{origin}: ")?;
        }
        if let Some(field) = self.field {
            write!(f, "{field} ")?;
        }
        f.write_str(&self.message)?;
        self.source.iter().try_for_each(|source| write!(f, ": {source}"))
    }
}

impl fmt::Debug for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Problem({self})")
    }
}

fn list(f: &mut fmt::Formatter<'_>, title: &str, problems: &[Problem]) -> fmt::Result {
    match problems {
        [only] => write!(f, "{title}: {only}"),
        many => {
            write!(f, "{title}, {} problems:", many.len())?;
            many.iter().try_for_each(|problem| write!(f, "\n  - {problem}"))
        }
    }
}

fn lines(f: &mut fmt::Formatter<'_>, tried: &[String]) -> fmt::Result {
    tried.iter().try_for_each(|line| write!(f, "\n  - {line}"))
}

fn names(known: &[String]) -> String {
    match known {
        [] => "none".to_owned(),
        known => known.join(", "),
    }
}
