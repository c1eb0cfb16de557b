//! An object as it came, with its header read.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kubewright_meta::selector::Labels;
use kubewright_meta::{Object, ObjectKey, OwnerReference};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::cuts::Cuts;
use crate::field_path::{FieldPath, locate, remove};
use crate::header::{Field, Found, Header};
use crate::scan::{self, SyntaxError};
use crate::text_map::TextMap;
use crate::{Error, MAX_OBJECT_BYTES, decode};

/// The JSON bytes of one object, with its header read.
///
/// A cache holds many objects and reads a few fields of most of them; their bytes are a small part of what
/// they take up decoded. This is a handle of one word: clones share the bytes and the header, about 200 bytes
/// beside the object's own.
///
/// The bytes are checked to be one well-formed JSON object with metadata of the right types, so
/// that [`decode`](Self::decode) fails only where a field does not fit the wanted type. They live in a buffer of
/// their own of exactly their size: a handle never keeps a received body alive.
///
/// Two are equal when their bytes are.
#[derive(Clone)]
pub struct RawObject(Arc<Inner>);

struct Inner {
    bytes: Bytes,
    header: Header,
}

impl RawObject {
    /// Checks and copies one JSON object. White space around it is dropped.
    ///
    /// # Errors
    /// Bytes that are not one well-formed JSON object in UTF-8, nested at most 127 deep; metadata with fields of
    /// the wrong type; more than [`MAX_OBJECT_BYTES`]. The error carries namespace and name where they
    /// come before the fault.
    pub fn from_json(json: impl AsRef<[u8]>) -> Result<Self, Error> {
        Self::scan(json.as_ref(), false)
    }

    /// The same without `metadata.managedFields`, which is more than half of an ordinary object and of use only to
    /// those who apply. The field is cut out of the bytes; all else stays as it was sent.
    ///
    /// # Errors
    /// As [`from_json`](Self::from_json), except that of the field that is dropped only the brackets
    /// are checked.
    pub fn from_json_without_managed_fields(json: impl AsRef<[u8]>) -> Result<Self, Error> {
        Self::scan(json.as_ref(), true)
    }

    /// Encodes an object.
    ///
    /// # Errors
    /// When the type's own `Serialize` fails, or what it writes is not a Kubernetes object.
    pub fn encode<K: Object>(object: &K) -> Result<Self, Error> {
        let json = serde_json::to_vec(object)
            .map_err(|error| Error::encode::<K>(Object::key(object), &error))?;
        Self::from_json(json)
    }

    fn scan(json: &[u8], strip: bool) -> Result<Self, Error> {
        let json = scan::trim(json);
        if json.len() > MAX_OBJECT_BYTES {
            return Err(Error::too_large("an object", MAX_OBJECT_BYTES));
        }
        let mut found = Found::default();
        let mut cuts = Cuts::default();
        if let Err(fault) = found.scan(json, strip, &mut cuts) {
            return Err(Error::malformed("object", found.key_if_named(json), fault));
        }
        let kept = cuts.apply(json);
        if let Err(error) = std::str::from_utf8(&kept) {
            // Where it is in the bytes as they came.
            let offset =
                std::str::from_utf8(json).map_or_else(|e| e.valid_up_to(), |_| error.valid_up_to());
            let fault = SyntaxError { offset, problem: "not valid UTF-8" };
            return Err(Error::malformed("object", found.key_if_named(json), fault));
        }
        let header = found.into_header(json, &cuts);
        Ok(Self(Arc::new(Inner { bytes: kept.into(), header })))
    }

    /// The object's JSON.
    pub fn bytes(&self) -> &Bytes {
        &self.0.bytes
    }

    /// Namespace and name. The name is empty for the few objects that have none, such as access reviews.
    pub fn key(&self) -> &ObjectKey {
        &self.0.header.key
    }

    /// `metadata.name`, or empty.
    pub fn name(&self) -> &str {
        self.key().name()
    }

    /// `metadata.namespace`; `None` for cluster-wide objects.
    pub fn namespace(&self) -> Option<&str> {
        self.key().namespace()
    }

    /// `metadata.uid`, or empty.
    pub fn uid(&self) -> &str {
        self.text(Field::Uid)
    }

    /// `metadata.resourceVersion`, or empty. An opaque text.
    pub fn resource_version(&self) -> &str {
        self.text(Field::ResourceVersion)
    }

    /// `metadata.generation`: how often the specification has changed, for kinds that count it.
    pub fn generation(&self) -> Option<i64> {
        self.0.header.generation
    }

    /// `apiVersion`; `None` for the items of lists of built-in kinds, which leave it out.
    pub fn api_version(&self) -> Option<&str> {
        Some(self.text(Field::ApiVersion)).filter(|text| !text.is_empty())
    }

    /// `kind`; `None` for the items of lists of built-in kinds, which leave it out.
    pub fn kind(&self) -> Option<&str> {
        Some(self.text(Field::Kind)).filter(|text| !text.is_empty())
    }

    /// The value of one label.
    pub fn label(&self, key: &str) -> Option<Cow<'_, str>> {
        self.labels().get(key)
    }

    /// `metadata.labels`.
    pub fn labels(&self) -> TextMap<'_> {
        TextMap::new(self.0.header.labels.of(self.bytes()))
    }

    /// The value of one annotation.
    pub fn annotation(&self, key: &str) -> Option<Cow<'_, str>> {
        self.annotations().get(key)
    }

    /// `metadata.annotations`.
    pub fn annotations(&self) -> TextMap<'_> {
        TextMap::new(self.0.header.annotations.of(self.bytes()))
    }

    /// `metadata.ownerReferences`, decoded now.
    pub fn owner_references(&self) -> Vec<OwnerReference> {
        decode_checked(self.0.header.owner_references.of(self.bytes()))
    }

    /// `metadata.finalizers`, decoded now.
    pub fn finalizers(&self) -> Vec<String> {
        decode_checked(self.0.header.finalizers.of(self.bytes()))
    }

    /// `metadata.deletionTimestamp`: when deletion was asked for, plus the grace period.
    pub fn deletion_timestamp(&self) -> Option<Time> {
        let text = Some(self.text(Field::DeletionTimestamp)).filter(|text| !text.is_empty())?;
        // Checked to be a time when the object arrived.
        serde_json::from_value(Value::from(text)).ok()
    }

    /// Whether deletion was asked for and has not finished (`metadata.deletionTimestamp` is set).
    pub fn is_being_deleted(&self) -> bool {
        !self.text(Field::DeletionTimestamp).is_empty()
    }

    /// The value at a path such as `spec.nodeName` or `spec.containers.0.image`, without decoding the rest.
    ///
    /// The parts are separated by dots. In a map a part is a key, in a list it is an index counted from 0. A dot
    /// or backslash inside a key is written with a backslash before it:
    /// `metadata.annotations.example\.com/owner`. `None` where there is no such field; a field
    /// that is `null` is `Some(Value::Null)`.
    ///
    /// # Errors
    /// An empty path or part, or a backslash before any other sign.
    pub fn field(&self, path: &str) -> Result<Option<Value>, Error> {
        self.field_as(path)
    }

    /// The same, decoded into a type.
    ///
    /// # Errors
    /// As [`field`](Self::field), and when the value does not fit the type.
    pub fn field_as<T: DeserializeOwned>(&self, path: &str) -> Result<Option<T>, Error> {
        let parsed: FieldPath = path.parse()?;
        let Some(range) = locate(self.bytes(), &parsed) else {
            return Ok(None);
        };
        decode::from_json(&self.bytes()[range], Some(self.key()), path).map(Some)
    }

    /// The JSON of the value at a path; see [`field`](Self::field).
    ///
    /// # Errors
    /// As [`field`](Self::field).
    pub fn field_bytes(&self, path: &str) -> Result<Option<&[u8]>, Error> {
        Ok(locate(self.bytes(), &path.parse()?).map(|range| &self.bytes()[range]))
    }

    /// This object without the fields at these paths, cut out of the bytes. A path that leads nowhere changes
    /// nothing. Paths are those of [`field`](Self::field), but lists cannot be entered.
    ///
    /// # Errors
    /// As [`field`](Self::field).
    pub fn without_fields(&self, paths: &[&str]) -> Result<Self, Error> {
        let paths = paths.iter().map(|path| path.parse()).collect::<Result<Vec<FieldPath>, _>>()?;
        match remove(self.bytes(), &paths) {
            Some(json) => Self::from_json(json),
            None => Ok(self.clone()),
        }
    }

    /// Decodes the whole object.
    ///
    /// # Errors
    /// When a field does not fit the type. The error names object and field, and does not show the value.
    pub fn decode<K: Object>(&self) -> Result<K, Error> {
        decode::from_json(self.bytes(), Some(self.key()), "")
    }

    fn text(&self, field: Field) -> &str {
        self.0.header.text(field, &self.0.bytes)
    }
}

/// Decodes a part of the header whose types were checked when the object arrived.
fn decode_checked<T: DeserializeOwned>(json: &[u8]) -> Vec<T> {
    if json.is_empty() {
        return Vec::new();
    }
    serde_json::from_slice(json).unwrap_or_default()
}

impl Labels for RawObject {
    fn label(&self, key: &str) -> Option<Cow<'_, str>> {
        self.labels().get(key)
    }
}

impl PartialEq for RawObject {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.bytes() == other.bytes()
    }
}

impl Eq for RawObject {}

/// Shows the header's names and versions only: the rest may be secret.
impl fmt::Debug for RawObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawObject")
            .field("api_version", &self.api_version())
            .field("kind", &self.kind())
            .field("key", self.key())
            .field("resource_version", &self.resource_version())
            .field("bytes", &self.bytes().len())
            .finish()
    }
}

#[cfg(test)]
#[path = "raw_object_tests.rs"]
mod tests;
