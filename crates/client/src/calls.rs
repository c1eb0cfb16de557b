//! How many calls of which verb were made: cheap to keep, and what a test or a demonstration wants to know.

use std::fmt;
use std::ops::Sub;
use std::sync::atomic::{AtomicU64, Ordering};

/// A verb of the Kubernetes API, as authorization and audit name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    /// Read one object, or a path that is no resource.
    Get,
    /// Read a collection.
    List,
    /// Follow a collection.
    Watch,
    /// Make an object, or post to a subresource.
    Create,
    /// Replace an object (`update`).
    Replace,
    /// Change part of an object.
    Patch,
    /// Remove an object.
    Delete,
    /// Remove all objects of a collection that match.
    DeleteCollection,
}

impl Verb {
    /// All verbs.
    pub const ALL: [Self; 8] = [
        Self::Get,
        Self::List,
        Self::Watch,
        Self::Create,
        Self::Replace,
        Self::Patch,
        Self::Delete,
        Self::DeleteCollection,
    ];

    /// The verb as Kubernetes spells it: `Replace` is `update`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Replace => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        }
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How many calls a client and its clones have made by a certain moment; see [`Client::calls`](crate::Client::calls).
///
/// A call counts once, when it is first sent, whatever comes back; sending it again after a refusal or a broken
/// connection counts as a retry. The difference of two snapshots tells what happened between them:
///
/// ```
/// # use kubewright_client::{CallStats, Verb};
/// # let (before, after) = (CallStats::default(), CallStats::default());
/// let made = after - before;
/// assert_eq!(made.of(Verb::Watch), 0);
/// assert_eq!(made.to_string(), "no calls");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallStats {
    by_verb: [u64; Verb::ALL.len()],
    retries: u64,
}

impl CallStats {
    /// Calls with this verb.
    pub fn of(&self, verb: Verb) -> u64 {
        self.by_verb[verb as usize]
    }

    /// Calls with any verb.
    pub fn total(&self) -> u64 {
        self.by_verb.iter().sum()
    }

    /// How often a call was sent again.
    pub fn retries(&self) -> u64 {
        self.retries
    }
}

/// What was counted since an earlier snapshot.
impl Sub for CallStats {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        let by_verb = std::array::from_fn(|i| self.by_verb[i].saturating_sub(earlier.by_verb[i]));
        Self { by_verb, retries: self.retries.saturating_sub(earlier.retries) }
    }
}

/// Prints the verbs that were used: `2 list, 1 watch`.
impl fmt::Display for CallStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for verb in Verb::ALL {
            let count = self.of(verb);
            if count > 0 {
                let separator = if std::mem::take(&mut first) { "" } else { ", " };
                write!(f, "{separator}{count} {verb}")?;
            }
        }
        if first { f.write_str("no calls") } else { Ok(()) }
    }
}

/// The counters behind [`CallStats`].
#[derive(Default)]
pub(crate) struct CallCounter {
    by_verb: [AtomicU64; Verb::ALL.len()],
    retries: AtomicU64,
}

impl CallCounter {
    pub(crate) fn count(&self, verb: Verb) {
        self.by_verb[verb as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_retry(&self) {
        self.retries.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn snapshot(&self) -> CallStats {
        CallStats {
            by_verb: std::array::from_fn(|i| self.by_verb[i].load(Ordering::Relaxed)),
            retries: self.retries.load(Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_tells_what_happened_between() {
        let counter = CallCounter::default();
        counter.count(Verb::List);
        let before = counter.snapshot();
        counter.count(Verb::List);
        counter.count(Verb::Replace);
        counter.count_retry();
        let made = counter.snapshot() - before;
        assert_eq!(made.to_string(), "1 list, 1 update");
        assert_eq!((made.total(), made.retries(), made.of(Verb::Get)), (2, 1, 0));
    }

    #[test]
    fn verbs_are_numbered_as_listed() {
        for (index, verb) in Verb::ALL.into_iter().enumerate() {
            assert_eq!(verb as usize, index);
        }
    }
}
