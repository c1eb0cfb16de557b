//! Decoded objects, and which of them are kept.
//!
//! A cache of bytes would decode the same hundred pods in every round of a reconciler. So the objects decoded
//! last stay, up to a budget, and everybody who asks for one while it is alive gets the same.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use kubewright_meta::{Kind, Object, TypeMeta, Unstructured};
use kubewright_wire::RawObject;
use parking_lot::Mutex;

/// How many decoded objects a store keeps when nothing else is said.
pub const DEFAULT_DECODED_BUDGET: usize = 1024;

/// A decoded object, shared by all who hold it. Cheap to clone; read it like a `&K`.
///
/// It cannot be changed. To change an object, clone what is inside: `let mut pod = (*decoded).clone()`.
pub struct Decoded<K>(pub(super) Arc<Held<K>>);

/// The object is boxed so that the `Weak` in every cached object keeps two words alive, not a whole object.
pub(super) struct Held<K> {
    value: Box<K>,
    /// Asked for again since the budget last looked.
    used: AtomicBool,
}

impl<K> Decoded<K> {
    pub(super) fn new(value: K) -> Self {
        Self(Arc::new(Held { value: Box::new(value), used: AtomicBool::new(false) }))
    }

    pub(super) fn mark_used(&self) {
        self.0.used.store(true, Ordering::Relaxed);
    }

    /// Whether both are the very same decoded object.
    pub fn ptr_eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<K> Clone for Decoded<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K> Deref for Decoded<K> {
    type Target = K;

    fn deref(&self) -> &K {
        &self.0.value
    }
}

impl<K> AsRef<K> for Decoded<K> {
    fn as_ref(&self) -> &K {
        self
    }
}

impl<K: fmt::Debug> fmt::Debug for Decoded<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<K: PartialEq> PartialEq for Decoded<K> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

/// What the objects of one store have in common: how errors name them, how often they were decoded, and which
/// decoded ones are kept. Clones are handles on the same.
pub struct Decoder<K>(Arc<Shared<K>>);

struct Shared<K> {
    kind: String,
    types: Option<TypeMeta>,
    budget: usize,
    decodes: AtomicU64,
    kept: Mutex<VecDeque<Decoded<K>>>,
}

impl<K> Decoder<K> {
    /// For objects of `kind`. Keeps up to `budget` decoded ones, those used last; with 0, an object is shared only
    /// while somebody holds it.
    pub fn new(kind: &Kind<K>, budget: usize) -> Self {
        Self::with_types(kind.to_string(), Some(TypeMeta::of(kind.gvk())), budget)
    }

    /// For a single object outside any store.
    pub(super) fn of_no_store() -> Self {
        Self::with_types(std::any::type_name::<K>().to_owned(), None, 0)
    }

    fn with_types(kind: String, types: Option<TypeMeta>, budget: usize) -> Self {
        Self(Arc::new(Shared {
            kind,
            types,
            budget,
            decodes: AtomicU64::new(0),
            kept: Mutex::default(),
        }))
    }

    /// How errors name the objects.
    pub fn kind(&self) -> &str {
        &self.0.kind
    }

    /// How often an object was decoded.
    pub fn decodes(&self) -> u64 {
        self.0.decodes.load(Ordering::Relaxed)
    }

    pub(super) fn decode(&self, raw: &RawObject) -> Result<K, kubewright_wire::Error>
    where
        K: Object,
    {
        self.0.decodes.fetch_add(1, Ordering::Relaxed);
        let mut value = raw.decode::<K>()?;
        // Servers leave apiVersion and kind out of the items of built-in lists; unstructured objects need them.
        let unstructured = (&mut value as &mut dyn Any).downcast_mut::<Unstructured>();
        if let (Some(object), Some(types)) = (unstructured, &self.0.types) {
            if object.types.api_version.is_empty() {
                object.types.api_version.clone_from(&types.api_version);
            }
            if object.types.kind.is_empty() {
                object.types.kind.clone_from(&types.kind);
            }
        }
        Ok(value)
    }

    /// Keeps an object, and lets go of the one least in use: a clock that passes over those that were
    /// asked for since it last came by.
    pub(super) fn keep(&self, decoded: &Decoded<K>) {
        if self.0.budget == 0 {
            return;
        }
        let mut dropped = None;
        let mut kept = self.0.kept.lock();
        if kept.len() >= self.0.budget {
            // Once around at most: every flag passed is cleared.
            for _ in 0..=kept.len() {
                match kept.pop_front() {
                    Some(oldest) if oldest.0.used.swap(false, Ordering::Relaxed) => {
                        kept.push_back(oldest);
                    }
                    oldest => {
                        dropped = oldest;
                        break;
                    }
                }
            }
        }
        kept.push_back(decoded.clone());
        drop(kept);
        // Freeing an object takes a while; not under the lock.
        drop(dropped);
    }
}

impl<K> Clone for Decoder<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K> fmt::Debug for Decoder<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder")
            .field("kind", &self.0.kind)
            .field("budget", &self.0.budget)
            .field("decodes", &self.decodes())
            .finish_non_exhaustive()
    }
}
