//! The value that tells a client where objects of a type are served.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use crate::{GroupVersion, GroupVersionKind, GroupVersionResource, Object, Resource};

/// Whether objects of a kind live in namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Each object belongs to one namespace.
    Namespaced,
    /// Objects belong to the cluster as a whole.
    Cluster,
}

/// Group, version, kind, plural name and scope of objects that are decoded as `K`.
///
/// Clients, informers and listers take this value, whether it comes from constants known at compile time
/// ([`Kind::of`]) or was learnt at run time, say from discovery ([`Kind::dynamic`]). So typed, custom and
/// unstructured objects go through the same code.
///
/// ```
/// use k8s_openapi::api::apps::v1::ReplicaSet;
/// use kubewright_meta::{GroupVersionKind, Kind, Scope, Unstructured};
///
/// let known = Kind::<ReplicaSet>::of();
/// let learnt = Kind::<Unstructured>::dynamic(
///     GroupVersionKind::new("apps", "v1", "ReplicaSet"), "replicasets", Scope::Namespaced);
/// assert_eq!(known.gvr(), learnt.gvr());
/// ```
pub struct Kind<K> {
    gvk: GroupVersionKind,
    plural: Cow<'static, str>,
    scope: Scope,
    decoded_as: PhantomData<fn() -> K>,
}

impl<K: Resource> Kind<K> {
    /// The kind that `K`'s constants describe.
    pub fn of() -> Self {
        Self {
            gvk: GroupVersionKind::new(K::GROUP, K::VERSION, K::KIND),
            plural: Cow::Borrowed(K::PLURAL),
            scope: K::SCOPE,
            decoded_as: PhantomData,
        }
    }
}

impl<K: Object> Kind<K> {
    /// A kind learnt at run time. `plural` is the resource name of URLs, such as `replicasets`.
    pub fn dynamic(
        gvk: GroupVersionKind,
        plural: impl Into<Cow<'static, str>>,
        scope: Scope,
    ) -> Self {
        Self { gvk, plural: plural.into(), scope, decoded_as: PhantomData }
    }
}

impl<K> Kind<K> {
    /// The group; empty for the core group.
    pub fn group(&self) -> &str {
        &self.gvk.group
    }

    /// The version.
    pub fn version(&self) -> &str {
        &self.gvk.version
    }

    /// The kind's name, such as `ReplicaSet`.
    pub fn kind(&self) -> &str {
        &self.gvk.kind
    }

    /// The plural name of URLs, such as `replicasets`.
    pub fn plural(&self) -> &str {
        &self.plural
    }

    /// Namespaced or cluster-wide.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// `VERSION` or `GROUP/VERSION`, as objects carry it in `apiVersion`.
    pub fn api_version(&self) -> Cow<'_, str> {
        if self.gvk.group.is_empty() {
            Cow::Borrowed(&self.gvk.version)
        } else {
            Cow::Owned(format!("{}/{}", self.gvk.group, self.gvk.version))
        }
    }

    /// Group and version.
    pub fn group_version(&self) -> GroupVersion {
        self.gvk.group_version()
    }

    /// Group, version and kind.
    pub fn gvk(&self) -> &GroupVersionKind {
        &self.gvk
    }

    /// Group, version and plural name.
    pub fn gvr(&self) -> GroupVersionResource {
        GroupVersionResource {
            group: self.gvk.group.clone(),
            version: self.gvk.version.clone(),
            resource: self.plural.clone(),
        }
    }
}

// By hand, since a derive would ask the same of `K`, which is never stored.
impl<K> Clone for Kind<K> {
    fn clone(&self) -> Self {
        Self {
            gvk: self.gvk.clone(),
            plural: self.plural.clone(),
            scope: self.scope,
            decoded_as: PhantomData,
        }
    }
}

impl<K> PartialEq for Kind<K> {
    fn eq(&self, other: &Self) -> bool {
        self.gvk == other.gvk && self.plural == other.plural && self.scope == other.scope
    }
}

impl<K> Eq for Kind<K> {}

impl<K> Hash for Kind<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.gvk.hash(state);
        self.plural.hash(state);
        self.scope.hash(state);
    }
}

impl<K> fmt::Debug for Kind<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kind({self}, {:?})", self.scope)
    }
}

/// Prints `replicasets.apps/v1`, or `pods/v1` for the core group.
impl<K> fmt::Display for Kind<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.gvr().group_resource(), self.gvk.version)
    }
}
