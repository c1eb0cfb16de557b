//! The two fields by which a document says what it is.

use crate::{GroupVersion, GroupVersionKind};

/// `apiVersion` and `kind` of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TypeMeta {
    /// `VERSION` or `GROUP/VERSION`; empty where the document does not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    /// The kind; empty where the document does not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
}

impl TypeMeta {
    /// The two fields of `gvk`.
    pub fn of(gvk: &GroupVersionKind) -> Self {
        Self { api_version: gvk.group_version().to_string(), kind: gvk.kind.to_string() }
    }

    /// Group, version and kind; `None` where `apiVersion` or `kind` is missing or malformed.
    pub fn gvk(&self) -> Option<GroupVersionKind> {
        let group_version: GroupVersion = self.api_version.parse().ok()?;
        (!self.kind.is_empty()).then(|| group_version.with_kind(self.kind.clone()))
    }
}
