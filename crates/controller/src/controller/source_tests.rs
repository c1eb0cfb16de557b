use k8s_openapi::api::apps::v1::ReplicaSet;
use k8s_openapi::api::core::v1::{Node, Pod};
use kubewright_cache::CachedObject;

use super::*;
use crate::controller::testing::key;

fn owned_by(kind: &str, api_version: &str, name: &str, controller: bool) -> OwnerReference {
    OwnerReference {
        api_version: api_version.into(),
        kind: kind.into(),
        name: name.into(),
        uid: format!("uid-of-{name}"),
        controller: Some(controller),
        block_owner_deletion: None,
    }
}

fn pod(owner: Option<OwnerReference>) -> CachedObject<Pod> {
    let mut pod = Pod::default();
    pod.metadata.namespace = Some("shop".into());
    pod.metadata.name = Some("web-1".into());
    pod.metadata.owner_references = owner.map(|owner| vec![owner]);
    CachedObject::from_object(&pod).unwrap()
}

#[test]
fn owned_objects_lead_to_their_controller() {
    let owners = OwnerKind::new(&Kind::<ReplicaSet>::of());
    let lead = |owner| owners.key(Some("shop"), &[owner]);
    assert_eq!(lead(owned_by("ReplicaSet", "apps/v1", "web", true)), Some(key("web")));
    // Another version of the same kind is the same kind.
    assert_eq!(lead(owned_by("ReplicaSet", "apps/v1beta2", "web", true)), Some(key("web")));
    assert_eq!(lead(owned_by("ReplicaSet", "apps/v1", "web", false)), None);
    assert_eq!(lead(owned_by("ReplicaSet", "other/v1", "web", true)), None);
    assert_eq!(lead(owned_by("StatefulSet", "apps/v1", "web", true)), None);
    assert_eq!(owners.key(Some("shop"), &[]), None);

    let nodes = OwnerKind::new(&Kind::<Node>::of());
    let owner = owned_by("Node", "v1", "node-1", true);
    assert_eq!(nodes.key(Some("shop"), &[owner]), Some(ObjectKey::cluster("node-1")));
}

#[test]
fn an_object_that_changes_hands_concerns_both() {
    let owners = OwnerKind::new(&Kind::<ReplicaSet>::of());
    let owner = |name| Some(owned_by("ReplicaSet", "apps/v1", name, true));
    let updated = |old, new| owners.keys(&Event::Updated { old: pod(old), new: pod(new) });
    assert_eq!(updated(owner("a"), owner("b")), [key("a"), key("b")]);
    assert_eq!(updated(owner("a"), None), [key("a")]);
    assert_eq!(updated(None, owner("b")), [key("b")]);
    assert_eq!(updated(owner("a"), owner("a")), [key("a")]);
    let added = Event::Added { object: pod(owner("a")), initial: false };
    assert_eq!(owners.keys(&added), [key("a")]);
    let deleted = Event::Deleted { object: pod(owner("a")), final_state_unknown: true };
    assert_eq!(owners.keys(&deleted), [key("a")]);
}
