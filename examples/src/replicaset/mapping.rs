//! From events to the sets they concern, and what they settle of what was expected.

use k8s_openapi::api::apps::v1::ReplicaSet;
use k8s_openapi::api::core::v1::Pod;
use kubewright::cache::{CachedObject, Event};
use kubewright::controller::controller_of;
use kubewright::meta::{ObjectKey, Selector};

use super::{ReplicaSets, selector_of};

impl ReplicaSets {
    /// Handles what a set's own event does besides enqueueing it: a set that was deleted and created again
    /// under its name starts with no expectations.
    pub(super) fn set_changed(&self, event: &Event<ReplicaSet>) -> Vec<ObjectKey> {
        match event {
            Event::Updated { old, new } if old.uid() != new.uid() => {
                self.expectations.delete(old.key());
            }
            Event::Deleted { object, .. } => self.expectations.delete(object.key()),
            _ => {}
        }
        Vec::new()
    }

    /// The sets that a pod's event concerns; what was expected and is now seen is noted.
    pub(super) fn pod_changed(&self, event: &Event<Pod>) -> Vec<ObjectKey> {
        match event {
            Event::Added { object, .. } => self.pod_comes(object),
            // One pod has gone and another come under its name, both expected for themselves.
            Event::Updated { old, new } if old.uid() != new.uid() => {
                let mut keys = self.pod_goes(old);
                keys.extend(self.pod_comes(new));
                keys
            }
            Event::Updated { new, .. } if new.deletion_timestamp().is_some() => self.pod_goes(new),
            Event::Updated { old, new } => {
                let (before, after) = (self.set_of(old), self.set_of(new));
                let mut keys = Vec::new();
                if before != after {
                    keys.extend(before);
                }
                match after {
                    Some(set) => keys.push(set),
                    None => keys.extend(self.sets_that_could_adopt(new)),
                }
                keys
            }
            Event::Deleted { object, .. } => self.pod_goes(object),
        }
    }

    fn pod_comes(&self, pod: &CachedObject<Pod>) -> Vec<ObjectKey> {
        if pod.deletion_timestamp().is_some() {
            return self.pod_goes(pod);
        }
        match self.set_of(pod) {
            Some(set) => {
                self.expectations.creation_observed(&set);
                vec![set]
            }
            None => self.sets_that_could_adopt(pod),
        }
    }

    fn pod_goes(&self, pod: &CachedObject<Pod>) -> Vec<ObjectKey> {
        let set = self.set_of(pod);
        if let Some(set) = &set {
            self.expectations.deletion_observed(set, pod.key());
        }
        set.into_iter().collect()
    }

    /// The set that controls the pod, if it is still the one with that uid.
    fn set_of(&self, pod: &CachedObject<Pod>) -> Option<ObjectKey> {
        let owners = pod.owner_references();
        let owner = controller_of(&owners)?;
        if owner.kind != "ReplicaSet" || !owner.api_version.starts_with("apps/") {
            return None;
        }
        let key = ObjectKey::new(pod.namespace(), &owner.name);
        self.sets.lister().get(&key).filter(|set| set.uid() == owner.uid).map(|_| key)
    }

    fn sets_that_could_adopt(&self, pod: &CachedObject<Pod>) -> Vec<ObjectKey> {
        if controller_of(&pod.owner_references()).is_some() {
            return Vec::new();
        }
        let sets = self.sets.lister();
        let sets = sets.in_namespace(pod.namespace().unwrap_or_default());
        sets.list(&Selector::everything())
            .into_iter()
            .filter(|set| {
                let selector = set.get().ok().and_then(|set| selector_of(&set).ok());
                selector.is_some_and(|selector| selector.matches(pod.raw()))
            })
            .map(|set| set.key().clone())
            .collect()
    }
}
