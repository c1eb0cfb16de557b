//! What can go wrong while acting on a cluster.

use std::fmt;
use std::time::Duration;

use kubewright_meta::ObjectKey;

/// What reconcilers may fail with: any error that can go to another thread.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why a controller ended early, or a change to an object did not come about.
pub struct Error(Box<Kind>);

enum Kind {
    NotSynced { controller: String, waiting_for: Vec<String> },
    Listen { controller: String, source: String, cause: kubewright_cache::Error },
    GraceExceeded { controller: String, grace: Duration, running: Vec<ObjectKey> },
    OwnerGone { owner: String, why: String },
    Call { attempt: String, cause: kubewright_client::Error },
    Patch { attempt: String, cause: serde_json::Error },
}

impl Error {
    pub(crate) fn not_synced(controller: &str, waiting_for: Vec<String>) -> Self {
        Self(Box::new(Kind::NotSynced { controller: controller.to_owned(), waiting_for }))
    }

    pub(crate) fn listen(controller: &str, source: &str, cause: kubewright_cache::Error) -> Self {
        let (controller, source) = (controller.to_owned(), source.to_owned());
        Self(Box::new(Kind::Listen { controller, source, cause }))
    }

    pub(crate) fn grace_exceeded(
        controller: &str,
        grace: Duration,
        running: Vec<ObjectKey>,
    ) -> Self {
        let controller = controller.to_owned();
        Self(Box::new(Kind::GraceExceeded { controller, grace, running }))
    }

    pub(crate) fn owner_gone(owner: String, why: String) -> Self {
        Self(Box::new(Kind::OwnerGone { owner, why }))
    }

    pub(crate) fn call(attempt: String, cause: kubewright_client::Error) -> Self {
        Self(Box::new(Kind::Call { attempt, cause }))
    }

    pub(crate) fn patch(attempt: String, cause: serde_json::Error) -> Self {
        Self(Box::new(Kind::Patch { attempt, cause }))
    }

    /// The shutdown came before the informers had read their first list.
    pub fn is_not_synced(&self) -> bool {
        matches!(*self.0, Kind::NotSynced { .. })
    }

    /// Reconciles were still running when the grace period was over, and were cut off.
    pub fn is_grace_exceeded(&self) -> bool {
        matches!(*self.0, Kind::GraceExceeded { .. })
    }

    /// The owner that wanted to adopt no longer exists as it was known, or is being deleted.
    pub fn is_owner_gone(&self) -> bool {
        matches!(*self.0, Kind::OwnerGone { .. })
    }

    /// The API server answered Conflict: the cache was behind. Trying again later helps.
    pub fn is_conflict(&self) -> bool {
        matches!(&*self.0, Kind::Call { cause, .. } if cause.is_conflict())
    }

    /// The error of the call to the API server, where there was one.
    pub fn client_error(&self) -> Option<&kubewright_client::Error> {
        match &*self.0 {
            Kind::Call { cause, .. } => Some(cause),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Kind::NotSynced { controller, waiting_for } => write!(
                f,
                "run controller {controller}: shut down before its informers had synced; still waiting for {}",
                waiting_for.join("; ")
            ),
            Kind::Listen { controller, source, cause } => {
                write!(
                    f,
                    "run controller {controller}: listen to the informer of {source}: {cause}"
                )
            }
            Kind::GraceExceeded { controller, grace, running } => {
                write!(f, "stop controller {controller}: cut off after {grace:?} what still ran:")?;
                running.iter().try_for_each(|key| write!(f, " {key}"))
            }
            Kind::OwnerGone { owner, why } => write!(f, "adopt children for {owner}: {why}"),
            Kind::Call { attempt, cause } => write!(f, "{attempt}: {cause}"),
            Kind::Patch { attempt, cause } => write!(f, "{attempt}: encode the patch: {cause}"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "controller::Error({self})")
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.0 {
            Kind::Listen { cause, .. } => Some(cause),
            Kind::Call { cause, .. } => Some(cause),
            Kind::Patch { cause, .. } => Some(cause),
            Kind::NotSynced { .. } | Kind::GraceExceeded { .. } | Kind::OwnerGone { .. } => None,
        }
    }
}
