//! Names of API groups, versions, kinds and resources, as Kubernetes writes them.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

type Text = Cow<'static, str>;

/// An API group at one version: `apps/v1`, or `v1` for the core group, whose name is empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupVersion {
    /// The group; empty for the core group.
    pub group: Text,
    /// The version, such as `v1` or `v1beta2`.
    pub version: Text,
}

impl GroupVersion {
    /// The group `group` (empty for the core group) at `version`.
    pub fn new(group: impl Into<Text>, version: impl Into<Text>) -> Self {
        Self { group: group.into(), version: version.into() }
    }

    /// The path under which a server serves it: `api/v1` for the core group, else `apis/{group}/{version}`.
    pub fn path(&self) -> String {
        if self.group.is_empty() {
            format!("api/{}", self.version)
        } else {
            format!("apis/{}/{}", self.group, self.version)
        }
    }

    /// This group version with a kind.
    pub fn with_kind(&self, kind: impl Into<Text>) -> GroupVersionKind {
        GroupVersionKind::new(self.group.clone(), self.version.clone(), kind)
    }
}

impl fmt::Display for GroupVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.group.is_empty() {
            f.write_str(&self.version)
        } else {
            write!(f, "{}/{}", self.group, self.version)
        }
    }
}

/// An `apiVersion` that is neither `VERSION` nor `GROUP/VERSION`.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no apiVersion: expected VERSION or GROUP/VERSION, such as v1 or apps/v1")]
pub struct ParseGroupVersionError(String);

/// As the text: a `main` that returns the error prints this form.
impl fmt::Debug for ParseGroupVersionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ParseGroupVersionError({self})")
    }
}

impl FromStr for GroupVersion {
    type Err = ParseGroupVersionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (group, version) = text.split_once('/').unwrap_or(("", text));
        if version.is_empty() || version.contains('/') || (group.is_empty() && text.contains('/')) {
            return Err(ParseGroupVersionError(text.to_owned()));
        }
        Ok(Self::new(group.to_owned(), version.to_owned()))
    }
}

/// A kind in a group version: what an object says it is (`apiVersion` and `kind`).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupVersionKind {
    /// The group; empty for the core group.
    pub group: Text,
    /// The version.
    pub version: Text,
    /// The kind, such as `ReplicaSet`.
    pub kind: Text,
}

impl GroupVersionKind {
    /// `kind` in `group` (empty for the core group) at `version`.
    pub fn new(group: impl Into<Text>, version: impl Into<Text>, kind: impl Into<Text>) -> Self {
        Self { group: group.into(), version: version.into(), kind: kind.into() }
    }

    /// Without the kind.
    pub fn group_version(&self) -> GroupVersion {
        GroupVersion::new(self.group.clone(), self.version.clone())
    }
}

impl fmt::Display for GroupVersionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, Kind={}", self.group_version(), self.kind)
    }
}

/// A resource in a group version: what a URL names (`/apis/apps/v1/replicasets`).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupVersionResource {
    /// The group; empty for the core group.
    pub group: Text,
    /// The version.
    pub version: Text,
    /// The plural lower-case name, such as `replicasets`.
    pub resource: Text,
}

impl GroupVersionResource {
    /// `resource` in `group` (empty for the core group) at `version`.
    pub fn new(
        group: impl Into<Text>,
        version: impl Into<Text>,
        resource: impl Into<Text>,
    ) -> Self {
        Self { group: group.into(), version: version.into(), resource: resource.into() }
    }

    /// Without the resource.
    pub fn group_version(&self) -> GroupVersion {
        GroupVersion::new(self.group.clone(), self.version.clone())
    }

    /// Without the version.
    pub fn group_resource(&self) -> GroupResource {
        GroupResource { group: self.group.clone(), resource: self.resource.clone() }
    }
}

impl fmt::Display for GroupVersionResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, Resource={}", self.group_version(), self.resource)
    }
}

/// A kind without its version, as owner references and scale targets compare it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupKind {
    /// The group; empty for the core group.
    pub group: Text,
    /// The kind.
    pub kind: Text,
}

impl fmt::Display for GroupKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        dotted(&self.kind, &self.group, f)
    }
}

/// A resource without its version, printed as `replicasets.apps`, the form error messages use.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupResource {
    /// The group; empty for the core group.
    pub group: Text,
    /// The plural name.
    pub resource: Text,
}

impl fmt::Display for GroupResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        dotted(&self.resource, &self.group, f)
    }
}

fn dotted(name: &str, group: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(name)?;
    if group.is_empty() { Ok(()) } else { write!(f, ".{group}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_version_is_read_and_printed() {
        for text in ["v1", "apps/v1", "events.k8s.io/v1beta1"] {
            assert_eq!(text.parse::<GroupVersion>().unwrap().to_string(), text);
        }
        for text in ["", "/", "/v1", "apps/", "a/b/c"] {
            let error = text.parse::<GroupVersion>().unwrap_err().to_string();
            assert!(error.contains("GROUP/VERSION"), "{text}: {error}");
        }
    }

    #[test]
    fn paths_and_dotted_names() {
        assert_eq!(GroupVersion::new("", "v1").path(), "api/v1");
        assert_eq!(GroupVersion::new("apps", "v1").path(), "apis/apps/v1");
        let gvr = GroupVersionResource::new("apps", "v1", "replicasets");
        assert_eq!(gvr.group_resource().to_string(), "replicasets.apps");
        assert_eq!(
            GroupVersionResource::new("", "v1", "pods").group_resource().to_string(),
            "pods"
        );
    }
}
