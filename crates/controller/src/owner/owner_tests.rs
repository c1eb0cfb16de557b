use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::ReplicaSet;
use kubewright_meta::{ObjectMeta, Selector};
use serde_json::json;

use super::claim::{Child, Claimant, Decision};
use super::*;

fn reference(uid: &str, controller: Option<bool>) -> OwnerReference {
    OwnerReference {
        api_version: "apps/v1".into(),
        kind: "ReplicaSet".into(),
        name: format!("name-of-{uid}"),
        uid: uid.into(),
        controller,
        block_owner_deletion: controller,
    }
}

fn claimant() -> Claimant {
    Claimant {
        reference: reference("us", Some(true)),
        namespace: Some("shop".into()),
        being_deleted: false,
    }
}

fn child(owners: &[OwnerReference]) -> Child<'_> {
    Child {
        uid: "pod-uid",
        resource_version: "7",
        namespace: Some("shop"),
        owners,
        being_deleted: false,
    }
}

fn labels(app: &str) -> BTreeMap<String, String> {
    [("app".to_owned(), app.to_owned())].into()
}

fn decide(claimant: &Claimant, child: &Child<'_>, app: &str) -> Decision {
    let selector: Selector = "app=web".parse().unwrap();
    claimant.decide(child, &labels(app), &selector)
}

#[test]
fn the_controller_is_the_owner_that_says_so() {
    let owners = [reference("a", None), reference("b", Some(false)), reference("c", Some(true))];
    assert_eq!(controller_of(&owners).unwrap().uid, "c");
    assert!(controller_of(&owners[..2]).is_none());
    assert!(is_controlled_by(&owners, "c"));
    assert!(!is_controlled_by(&owners, "a"));
    // An owner that was never created has no uid, and controls nothing.
    assert!(!is_controlled_by(&[reference("", Some(true))], ""));
}

#[test]
fn a_reference_names_the_owner() {
    let owner = ReplicaSet {
        metadata: ObjectMeta {
            name: Some("web".into()),
            uid: Some("u1".into()),
            ..ObjectMeta::default()
        },
        ..ReplicaSet::default()
    };
    let made = owner_reference_of(&owner, &Kind::of());
    assert_eq!(
        serde_json::to_value(&made).unwrap(),
        json!({
            "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u1",
            "controller": true, "blockOwnerDeletion": true,
        })
    );
    assert_eq!(group_of(&made), "apps");
    assert_eq!(group_of(&OwnerReference { api_version: "v1".into(), ..made }), "");
}

#[test]
fn children_are_claimed_by_owner_then_by_label() {
    let (ours, theirs, plain) =
        ([reference("us", Some(true))], [reference("them", Some(true))], [reference("them", None)]);
    assert_eq!(decide(&claimant(), &child(&ours), "web"), Decision::Keep);
    assert_eq!(decide(&claimant(), &child(&ours), "db"), Decision::Release);
    assert_eq!(decide(&claimant(), &child(&theirs), "web"), Decision::Ignore);
    assert_eq!(decide(&claimant(), &child(&[]), "web"), Decision::Adopt);
    assert_eq!(decide(&claimant(), &child(&[]), "db"), Decision::Ignore);
    // An owner that is no controller leaves the place free.
    assert_eq!(decide(&claimant(), &child(&plain), "web"), Decision::Adopt);
}

#[test]
fn an_owner_being_deleted_neither_adopts_nor_releases() {
    let going = Claimant { being_deleted: true, ..claimant() };
    let ours = [reference("us", Some(true))];
    assert_eq!(decide(&going, &child(&ours), "web"), Decision::Keep);
    assert_eq!(decide(&going, &child(&ours), "db"), Decision::Ignore);
    assert_eq!(decide(&going, &child(&[]), "web"), Decision::Ignore);
}

#[test]
fn orphans_that_go_or_live_elsewhere_are_left_alone() {
    let going = Child { being_deleted: true, ..child(&[]) };
    assert_eq!(decide(&claimant(), &going, "web"), Decision::Ignore);
    let elsewhere = Child { namespace: Some("other"), ..child(&[]) };
    assert_eq!(decide(&claimant(), &elsewhere, "web"), Decision::Ignore);
    // A cluster-wide owner may have children in any namespace.
    let cluster_wide = Claimant { namespace: None, ..claimant() };
    assert_eq!(decide(&cluster_wide, &elsewhere, "web"), Decision::Adopt);
}

#[test]
fn patches_carry_identity_version_and_every_other_owner() {
    let owners = [reference("them", None), reference("us", None)];
    assert_eq!(
        claimant().adoption(&child(&owners)),
        json!({"metadata": {
            "uid": "pod-uid", "resourceVersion": "7",
            "ownerReferences": [reference("them", None), reference("us", Some(true))],
        }})
    );
    let owners = [reference("us", Some(true)), reference("them", None)];
    assert_eq!(
        claimant().release(&child(&owners)),
        json!({"metadata": {
            "uid": "pod-uid", "resourceVersion": "7",
            "ownerReferences": [reference("them", None)],
        }})
    );
    assert_eq!(
        claimant().release(&child(&owners[..1])),
        json!({"metadata": {"uid": "pod-uid", "resourceVersion": "7", "ownerReferences": null}})
    );
}
