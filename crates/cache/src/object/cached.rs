//! A handle on one object of a cache.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Weak};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kubewright_meta::selector::Labels;
use kubewright_meta::{Object, ObjectKey, OwnerReference};
use kubewright_wire::{RawObject, TextMap};
use parking_lot::Mutex;

use super::decoded::{Decoded, Decoder, Held};
use crate::Error;

/// An object in a cache: its bytes, the header fields at hand, and the whole of it when asked for.
///
/// A handle of one word; clones share everything. It never changes: a newer version of the object is another
/// handle. What most code asks of a cached object (key, labels, owners) is read from the bytes without decoding
/// them; [`get`](Self::get) decodes, once for all who hold the result.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubewright_cache::CachedObject;
///
/// let json = br#"{"metadata":{"namespace":"shop","name":"prices","uid":"u1"},"data":{"tea":"3"}}"#;
/// let object = CachedObject::<ConfigMap>::from_json(json)?;
/// assert_eq!((object.key().to_string().as_str(), object.uid()), ("shop/prices", "u1"));
/// let map = object.get()?;
/// assert_eq!(map.data.as_ref().unwrap()["tea"], "3");
/// # Ok::<(), kubewright_cache::Error>(())
/// ```
pub struct CachedObject<K>(Arc<Inner<K>>);

struct Inner<K> {
    raw: RawObject,
    decoder: Decoder<K>,
    decoded: Mutex<Weak<Held<K>>>,
}

impl<K> CachedObject<K> {
    /// A handle on an object, of the store that `decoder` belongs to.
    pub fn new(raw: RawObject, decoder: &Decoder<K>) -> Self {
        let decoded = Mutex::new(Weak::new());
        Self(Arc::new(Inner { raw, decoder: decoder.clone(), decoded }))
    }

    /// The object as it came.
    pub fn raw(&self) -> &RawObject {
        &self.0.raw
    }

    /// Namespace and name.
    pub fn key(&self) -> &ObjectKey {
        self.0.raw.key()
    }

    /// `metadata.name`.
    pub fn name(&self) -> &str {
        self.0.raw.name()
    }

    /// `metadata.namespace`; `None` for cluster-wide objects.
    pub fn namespace(&self) -> Option<&str> {
        self.0.raw.namespace()
    }

    /// `metadata.uid`.
    pub fn uid(&self) -> &str {
        self.0.raw.uid()
    }

    /// `metadata.resourceVersion`. An opaque text.
    pub fn resource_version(&self) -> &str {
        self.0.raw.resource_version()
    }

    /// `metadata.generation`, for kinds that count it.
    pub fn generation(&self) -> Option<i64> {
        self.0.raw.generation()
    }

    /// `metadata.labels`, read from the bytes.
    pub fn labels(&self) -> TextMap<'_> {
        self.0.raw.labels()
    }

    /// The value of one label.
    pub fn label(&self, key: &str) -> Option<Cow<'_, str>> {
        self.0.raw.label(key)
    }

    /// `metadata.annotations`, read from the bytes.
    pub fn annotations(&self) -> TextMap<'_> {
        self.0.raw.annotations()
    }

    /// `metadata.ownerReferences`, decoded now.
    pub fn owner_references(&self) -> Vec<OwnerReference> {
        self.0.raw.owner_references()
    }

    /// `metadata.finalizers`, decoded now.
    pub fn finalizers(&self) -> Vec<String> {
        self.0.raw.finalizers()
    }

    /// `metadata.deletionTimestamp`.
    pub fn deletion_timestamp(&self) -> Option<Time> {
        self.0.raw.deletion_timestamp()
    }

    /// Whether deletion was asked for and has not finished.
    pub fn is_being_deleted(&self) -> bool {
        self.0.raw.is_being_deleted()
    }

    /// Whether both are the same version of the same object: equal uid and resource version.
    pub fn is_same_version(&self, other: &Self) -> bool {
        self.is_version(other.raw())
    }

    pub(crate) fn is_version(&self, raw: &RawObject) -> bool {
        !raw.resource_version().is_empty()
            && self.resource_version() == raw.resource_version()
            && self.uid() == raw.uid()
    }

    /// Whether both are the very same handle.
    pub fn ptr_eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<K: Object> CachedObject<K> {
    /// A handle that belongs to no store, from JSON.
    ///
    /// # Errors
    /// When the bytes are not one JSON object with Kubernetes metadata.
    pub fn from_json(json: impl AsRef<[u8]>) -> Result<Self, Error> {
        let raw = RawObject::from_json(json).map_err(Error::encode)?;
        Ok(Self::new(raw, &Decoder::of_no_store()))
    }

    /// A handle that belongs to no store, from an object: for tests of handlers and reconcilers.
    ///
    /// # Errors
    /// When the type's own `Serialize` fails.
    pub fn from_object(object: &K) -> Result<Self, Error> {
        let raw = RawObject::encode(object).map_err(Error::encode)?;
        Ok(Self::new(raw, &Decoder::of_no_store()))
    }

    /// The whole object, decoded unless it still is.
    ///
    /// Two threads that ask at the same time may both decode; they get the same result.
    ///
    /// # Errors
    /// When the bytes do not fit `K`; the error names the object and the field. Other objects are not touched
    /// by it, and the object's header stays readable.
    pub fn get(&self) -> Result<Decoded<K>, Error> {
        if let Some(decoded) = self.decoded() {
            decoded.mark_used();
            return Ok(decoded);
        }
        let decoder = &self.0.decoder;
        let value = decoder.decode(&self.0.raw);
        let value = value.map_err(|e| Error::decode(decoder.kind(), self.key(), e))?;
        let decoded = Decoded::new(value);
        {
            let mut slot = self.0.decoded.lock();
            if let Some(other) = slot.upgrade() {
                return Ok(Decoded(other));
            }
            *slot = Arc::downgrade(&decoded.0);
        }
        decoder.keep(&decoded);
        Ok(decoded)
    }

    fn decoded(&self) -> Option<Decoded<K>> {
        self.0.decoded.lock().upgrade().map(Decoded)
    }
}

impl<K> Clone for CachedObject<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K> Labels for CachedObject<K> {
    fn label(&self, key: &str) -> Option<Cow<'_, str>> {
        self.0.raw.label(key)
    }
}

/// Shows names and versions only.
impl<K> fmt::Debug for CachedObject<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "CachedObject({} {}@{})",
            self.0.decoder.kind(),
            self.key(),
            self.resource_version()
        )
    }
}
