//! Who owns what: owner references, and claiming children by label.
//!
//! An object has any number of owners, for garbage collection, and at most one *controller* among them: the one
//! owner that manages it.

mod claim;
mod manager;

#[cfg(test)]
#[path = "owner_tests.rs"]
mod tests;

use kubewright_meta::{Kind, Object, OwnerReference};

pub use manager::ControllerRefManager;

/// The reference to the controller among an object's owners (client-go's `GetControllerOf`).
///
/// Works on what decoded and cached objects give alike:
///
/// ```
/// # use k8s_openapi::api::core::v1::Pod;
/// use kubewright_controller::controller_of;
/// use kubewright_meta::Object;
/// # let pod = Pod::default();
/// let controller = controller_of(pod.owner_references());
/// # assert!(controller.is_none());
/// ```
pub fn controller_of(references: &[OwnerReference]) -> Option<&OwnerReference> {
    references.iter().find(|reference| reference.controller == Some(true))
}

/// Whether the controller among these owners has this uid (client-go's `IsControlledBy`).
///
/// Uids, not names: an owner created again under the same name is another owner.
pub fn is_controlled_by(references: &[OwnerReference], uid: &str) -> bool {
    !uid.is_empty() && controller_of(references).is_some_and(|controller| controller.uid == uid)
}

/// The reference that makes `owner` the controller of a child (client-go's `NewControllerRef`).
///
/// The child goes when the owner does, and while it exists it holds up a foreground deletion of the owner
/// (`blockOwnerDeletion`). The owner must have been read from the API server: the reference carries its uid.
///
/// ```
/// # use k8s_openapi::api::{apps::v1::ReplicaSet, core::v1::Pod};
/// use kubewright_controller::owner_reference_of;
/// use kubewright_meta::Kind;
/// # let (owner, mut pod) = (ReplicaSet::default(), Pod::default());
/// pod.metadata.owner_references = Some(vec![owner_reference_of(&owner, &Kind::of())]);
/// ```
pub fn owner_reference_of<K: Object>(owner: &K, kind: &Kind<K>) -> OwnerReference {
    OwnerReference {
        api_version: kind.api_version().into_owned(),
        kind: kind.kind().to_owned(),
        name: owner.name().to_owned(),
        uid: owner.uid().to_owned(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    }
}

/// The group of a reference: that of its `apiVersion`, empty for the core group.
pub(crate) fn group_of(reference: &OwnerReference) -> &str {
    reference.api_version.split_once('/').map_or("", |(group, _)| group)
}
