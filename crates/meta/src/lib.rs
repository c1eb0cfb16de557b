//! What a Kubernetes object is, apart from how it travels and who stores it.
//!
//! Everything that clients, caches, controllers and the development server agree on lives here: the
//! [`Object`] and [`Resource`] traits, the [`Kind`] value that says where objects of a type are served,
//! [`ObjectKey`], the options and patches of the API verbs, label and field selectors, and the
//! [`StatusError`] a server answers when it refuses.
//!
//! ```
//! use k8s_openapi::api::core::v1::Pod;
//! use kubewright_meta::{Kind, Object, ObjectKey, Selector};
//!
//! let kind = Kind::<Pod>::of();
//! assert_eq!((kind.api_version().as_ref(), kind.plural()), ("v1", "pods"));
//!
//! let mut pod = Pod::default();
//! pod.metadata.namespace = Some("shop".into());
//! pod.metadata.name = Some("web-1".into());
//! pod.metadata.labels = Some([("app".into(), "web".into())].into());
//! assert_eq!(pod.key(), ObjectKey::namespaced("shop", "web-1"));
//!
//! let selector: Selector = "app in (web, api), !canary".parse()?;
//! assert!(selector.matches(pod.labels()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod group_version;
mod kind;
mod list;
mod object;
mod object_key;
mod options;
mod patch;
pub mod selector;
mod status;
mod type_meta;
mod unstructured;

pub use group_version::{
    GroupKind, GroupResource, GroupVersion, GroupVersionKind, GroupVersionResource,
    ParseGroupVersionError,
};
pub use kind::{Kind, Scope};
pub use list::List;
pub use object::{KnownScope, Object, Resource};
pub use object_key::{ObjectKey, ParseObjectKeyError};
pub use options::{
    CreateOptions, DeleteOptions, GetOptions, ListOptions, PatchOptions, Preconditions,
    PropagationPolicy, ReplaceOptions, ResourceVersionMatch, WatchOptions,
};
pub use patch::{Patch, PatchType};
pub use selector::{FieldSelector, Selector, SelectorError};
pub use status::{Reason, StatusError};
pub use type_meta::TypeMeta;
pub use unstructured::Unstructured;

pub use k8s_openapi;
pub use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta, OwnerReference};
