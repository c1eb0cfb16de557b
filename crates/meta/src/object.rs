//! What holds for every Kubernetes object, and what holds for those whose kind is known at compile time.

use std::collections::BTreeMap;
use std::fmt::Debug;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{ObjectKey, Scope};

/// An object with Kubernetes metadata that can be decoded and encoded.
///
/// It holds for every type that implements k8s-openapi's [`Metadata`](k8s_openapi::Metadata) with
/// [`ObjectMeta`], custom resources written by hand included, and for
/// [`Unstructured`](crate::Unstructured), whose kind is only known at run time. The short accessors read
/// the metadata and never fail: what is absent reads as empty.
pub trait Object: Serialize + DeserializeOwned + Clone + Debug + Send + Sync + 'static {
    /// The object's metadata.
    fn metadata(&self) -> &ObjectMeta;

    /// The object's metadata, to change it.
    fn metadata_mut(&mut self) -> &mut ObjectMeta;

    /// `metadata.name`, empty before the server has generated one.
    fn name(&self) -> &str {
        self.metadata().name.as_deref().unwrap_or_default()
    }

    /// `metadata.namespace`; `None` for cluster-wide objects.
    fn namespace(&self) -> Option<&str> {
        self.metadata().namespace.as_deref().filter(|namespace| !namespace.is_empty())
    }

    /// Namespace and name.
    fn key(&self) -> ObjectKey {
        ObjectKey::new(self.namespace(), self.name())
    }

    /// `metadata.uid`, empty before the object is created.
    fn uid(&self) -> &str {
        self.metadata().uid.as_deref().unwrap_or_default()
    }

    /// `metadata.resourceVersion`, empty before the object is created. An opaque text.
    fn resource_version(&self) -> &str {
        self.metadata().resource_version.as_deref().unwrap_or_default()
    }

    /// `metadata.labels`.
    fn labels(&self) -> &BTreeMap<String, String> {
        self.metadata().labels.as_ref().unwrap_or(&EMPTY)
    }

    /// `metadata.annotations`.
    fn annotations(&self) -> &BTreeMap<String, String> {
        self.metadata().annotations.as_ref().unwrap_or(&EMPTY)
    }

    /// `metadata.ownerReferences`.
    fn owner_references(&self) -> &[OwnerReference] {
        self.metadata().owner_references.as_deref().unwrap_or_default()
    }

    /// `metadata.finalizers`.
    fn finalizers(&self) -> &[String] {
        self.metadata().finalizers.as_deref().unwrap_or_default()
    }

    /// Whether deletion was asked for and has not finished (`metadata.deletionTimestamp` is set).
    fn is_being_deleted(&self) -> bool {
        self.metadata().deletion_timestamp.is_some()
    }
}

static EMPTY: BTreeMap<String, String> = BTreeMap::new();

impl<K> Object for K
where
    K: k8s_openapi::Metadata<Ty = ObjectMeta>
        + Serialize
        + DeserializeOwned
        + Clone
        + Debug
        + Send
        + Sync
        + 'static,
{
    fn metadata(&self) -> &ObjectMeta {
        k8s_openapi::Metadata::metadata(self)
    }

    fn metadata_mut(&mut self) -> &mut ObjectMeta {
        k8s_openapi::Metadata::metadata_mut(self)
    }
}

/// An [`Object`] whose kind is known at compile time.
///
/// It holds for every object type that implements k8s-openapi's [`Resource`](k8s_openapi::Resource) and
/// [`Metadata`](k8s_openapi::Metadata); implement those two for a custom resource.
pub trait Resource: Object {
    /// The group; empty for the core group.
    const GROUP: &'static str;
    /// The version.
    const VERSION: &'static str;
    /// The kind, such as `ReplicaSet`.
    const KIND: &'static str;
    /// The plural name of URLs, such as `replicasets`.
    const PLURAL: &'static str;
    /// Namespaced or cluster-wide.
    const SCOPE: Scope;
}

impl<K> Resource for K
where
    K: k8s_openapi::Resource + Object,
    <K as k8s_openapi::Resource>::Scope: KnownScope,
{
    const GROUP: &'static str = <K as k8s_openapi::Resource>::GROUP;
    const VERSION: &'static str = <K as k8s_openapi::Resource>::VERSION;
    const KIND: &'static str = <K as k8s_openapi::Resource>::KIND;
    const PLURAL: &'static str = <K as k8s_openapi::Resource>::URL_PATH_SEGMENT;
    const SCOPE: Scope = <<K as k8s_openapi::Resource>::Scope as KnownScope>::SCOPE;
}

/// The scope types of k8s-openapi that objects have; subresource types have none of these.
pub trait KnownScope {
    /// The scope as a value.
    const SCOPE: Scope;
}

impl KnownScope for NamespaceResourceScope {
    const SCOPE: Scope = Scope::Namespaced;
}

impl KnownScope for ClusterResourceScope {
    const SCOPE: Scope = Scope::Cluster;
}
