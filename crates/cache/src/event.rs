//! What a handler is told.

use std::fmt;

use kubewright_meta::ObjectKey;

use crate::CachedObject;

/// A change of the cache, as a handler gets it.
///
/// The store already shows the change, or a later one, when the event is delivered. Per object, events chain: the
/// `old` of one is what the one before gave as its object.
pub enum Event<K> {
    /// The object is new to the cache.
    Added {
        /// The object.
        object: CachedObject<K>,
        /// Whether it belongs to what was there when the handler began (`isInInitialList`).
        initial: bool,
    },
    /// The object changed. In a resync, which repeats what is known, both are the same version.
    Updated {
        /// What the handler was told before.
        old: CachedObject<K>,
        /// What it is now.
        new: CachedObject<K>,
    },
    /// The object is gone.
    Deleted {
        /// Its last state, or the last one that was seen.
        object: CachedObject<K>,
        /// Whether the deletion itself was missed, so that `object` is only the last state seen
        /// (`DeletedFinalStateUnknown`).
        final_state_unknown: bool,
    },
}

impl<K> Event<K> {
    /// The object as it is now, or was last.
    pub fn object(&self) -> &CachedObject<K> {
        match self {
            Self::Added { object, .. } | Self::Deleted { object, .. } => object,
            Self::Updated { new, .. } => new,
        }
    }

    /// The object's key.
    pub fn key(&self) -> &ObjectKey {
        self.object().key()
    }

    /// Whether this repeats what is known: an update between equal versions with equal content. (Versions can be equal
    /// and the content not, where a server was set back to an older state and counts from there again.)
    pub fn is_resync(&self) -> bool {
        matches!(self, Self::Updated { old, new } if old.ptr_eq(new)
            || old.is_same_version(new) && old.raw().bytes() == new.raw().bytes())
    }
}

impl<K> Clone for Event<K> {
    fn clone(&self) -> Self {
        match self {
            Self::Added { object, initial } => {
                Self::Added { object: object.clone(), initial: *initial }
            }
            Self::Updated { old, new } => Self::Updated { old: old.clone(), new: new.clone() },
            Self::Deleted { object, final_state_unknown } => {
                Self::Deleted { object: object.clone(), final_state_unknown: *final_state_unknown }
            }
        }
    }
}

impl<K> fmt::Debug for Event<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Added { object, initial } => {
                let initial = if *initial { ", initial" } else { "" };
                write!(f, "Added({}@{}{initial})", object.key(), object.resource_version())
            }
            Self::Updated { old, new } => {
                let (old, rv) = (old.resource_version(), new.resource_version());
                write!(f, "Updated({}@{old}->{rv})", new.key())
            }
            Self::Deleted { object, final_state_unknown } => {
                let unknown = if *final_state_unknown { ", final state unknown" } else { "" };
                write!(f, "Deleted({}@{}{unknown})", object.key(), object.resource_version())
            }
        }
    }
}
