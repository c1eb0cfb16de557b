//! The four ways to change part of an object.

use serde::Serialize;
use serde_json::Value;

/// The media type of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PatchType {
    /// RFC 6902: a list of operations.
    Json,
    /// RFC 7386: a document laid over the object; `null` removes, arrays are replaced whole.
    Merge,
    /// Kubernetes' own merge, which knows the list keys of built-in kinds.
    Strategic,
    /// Server-side apply: the fields a manager wants, owned by it from then on.
    Apply,
}

impl PatchType {
    /// The `Content-Type` of the request.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json-patch+json",
            Self::Merge => "application/merge-patch+json",
            Self::Strategic => "application/strategic-merge-patch+json",
            Self::Apply => "application/apply-patch+yaml",
        }
    }

    /// The patch type a `Content-Type` names; parameters such as `charset` are ignored.
    pub fn from_content_type(text: &str) -> Option<Self> {
        let media_type = text.split(';').next().unwrap_or_default().trim();
        [Self::Json, Self::Merge, Self::Strategic, Self::Apply]
            .into_iter()
            .find(|patch_type| patch_type.content_type().eq_ignore_ascii_case(media_type))
    }
}

/// A change to part of an object.
///
/// ```
/// use kubewright_meta::{Patch, PatchType};
/// let patch = Patch::merge(serde_json::json!({"metadata": {"labels": {"tier": "web"}}}))?;
/// assert_eq!(patch.patch_type(), PatchType::Merge);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    patch_type: PatchType,
    body: Value,
}

impl Patch {
    /// A JSON patch (RFC 6902); `operations` serializes to an array of operations.
    ///
    /// # Errors
    /// If `operations` does not serialize to JSON.
    pub fn json(operations: impl Serialize) -> serde_json::Result<Self> {
        Self::new(PatchType::Json, operations)
    }

    /// A JSON merge patch (RFC 7386).
    ///
    /// # Errors
    /// If `document` does not serialize to JSON.
    pub fn merge(document: impl Serialize) -> serde_json::Result<Self> {
        Self::new(PatchType::Merge, document)
    }

    /// A strategic merge patch; built-in kinds only.
    ///
    /// # Errors
    /// If `document` does not serialize to JSON.
    pub fn strategic(document: impl Serialize) -> serde_json::Result<Self> {
        Self::new(PatchType::Strategic, document)
    }

    /// A server-side apply; set [`PatchOptions::field_manager`](crate::PatchOptions::field_manager), which
    /// the server requires for it.
    ///
    /// # Errors
    /// If `document` does not serialize to JSON.
    pub fn apply(document: impl Serialize) -> serde_json::Result<Self> {
        Self::new(PatchType::Apply, document)
    }

    fn new(patch_type: PatchType, body: impl Serialize) -> serde_json::Result<Self> {
        Ok(Self { patch_type, body: serde_json::to_value(body)? })
    }

    /// Which of the four it is.
    pub fn patch_type(&self) -> PatchType {
        self.patch_type
    }

    /// The document or the operations.
    pub fn body(&self) -> &Value {
        &self.body
    }
}
