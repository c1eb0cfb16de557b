//! What to do about one child: the decision apart from the calls that carry it out.

use kubewright_meta::selector::Labels;
use kubewright_meta::{OwnerReference, Selector};
use serde_json::{Value, json};

use super::controller_of;

/// The owner that claims.
#[derive(Debug)]
pub(crate) struct Claimant {
    pub(crate) reference: OwnerReference,
    pub(crate) namespace: Option<String>,
    pub(crate) being_deleted: bool,
}

/// What is known of a child without decoding it.
pub(crate) struct Child<'a> {
    pub(crate) uid: &'a str,
    pub(crate) resource_version: &'a str,
    pub(crate) namespace: Option<&'a str>,
    pub(crate) owners: &'a [OwnerReference],
    pub(crate) being_deleted: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Keep,
    Release,
    Adopt,
    Ignore,
}

impl Claimant {
    pub(crate) fn decide(
        &self,
        child: &Child<'_>,
        labels: &impl Labels,
        selector: &Selector,
    ) -> Decision {
        match controller_of(child.owners) {
            Some(controller) if controller.uid != self.reference.uid => Decision::Ignore,
            Some(_) if selector.matches(labels) => Decision::Keep,
            // The garbage collector sees to the children of an owner that goes.
            Some(_) if self.being_deleted => Decision::Ignore,
            Some(_) => Decision::Release,
            None if self.being_deleted || child.being_deleted => Decision::Ignore,
            None if self.namespace.is_some() && self.namespace.as_deref() != child.namespace => {
                Decision::Ignore
            }
            None if selector.matches(labels) => Decision::Adopt,
            None => Decision::Ignore,
        }
    }

    /// The change that makes the owner the controller of the child.
    pub(crate) fn adoption(&self, child: &Child<'_>) -> Value {
        let mut owners = self.others(child);
        owners.push(self.reference.clone());
        change(child, &owners)
    }

    /// The change that takes the owner's reference away.
    pub(crate) fn release(&self, child: &Child<'_>) -> Value {
        change(child, &self.others(child))
    }

    fn others(&self, child: &Child<'_>) -> Vec<OwnerReference> {
        child.owners.iter().filter(|owner| owner.uid != self.reference.uid).cloned().collect()
    }
}

/// A merge patch with the whole list of owners, which the server takes only for the very object and version that
/// the list was read from.
fn change(child: &Child<'_>, owners: &[OwnerReference]) -> Value {
    let owners = if owners.is_empty() { Value::Null } else { json!(owners) };
    json!({
        "metadata": {
            "uid": child.uid,
            "resourceVersion": child.resource_version,
            "ownerReferences": owners,
        }
    })
}
