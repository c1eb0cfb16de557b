//! Finds the resource a path names.

use std::collections::HashMap;
use std::sync::Arc;

use super::{ResourceKind, builtin};

/// All that is served. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Registry {
    by_path: HashMap<String, Arc<ResourceKind>>,
    in_order: Vec<Arc<ResourceKind>>,
    collections: Vec<Arc<ResourceKind>>,
}

impl Registry {
    pub(crate) fn builtin() -> Self {
        let mut registry = Self::default();
        for kind in builtin::table() {
            registry.add(kind);
        }
        registry
    }

    /// Adds a resource, in place of one with the same group, version and plural name. Versions that share a
    /// group and a plural name, and those that share a conversion, share their objects.
    pub(crate) fn add(&mut self, mut kind: ResourceKind) -> Arc<ResourceKind> {
        let shares = |held: &&Arc<ResourceKind>| {
            held.is(&kind.group, &kind.plural)
                || kind.conversion.is_some_and(|conversion| {
                    held.is(conversion.stored_group, conversion.stored_plural)
                })
        };
        kind.collection = match self.in_order.iter().find(shares) {
            Some(held) => held.collection,
            None => self.collections.len(),
        };
        let path = path_of(&kind.group, &kind.version, &kind.plural);
        let stored = self.collections.get(kind.collection);
        kind.stored_elsewhere = stored.is_some_and(|stored| {
            stored.api_version() != kind.api_version() || stored.kind != kind.kind
        });
        let kind = Arc::new(kind);
        match self.collections.get_mut(kind.collection) {
            None => self.collections.push(kind.clone()),
            Some(stored) if !kind.stored_elsewhere => *stored = kind.clone(),
            Some(_) => {}
        }
        self.in_order.retain(|held| path_of(&held.group, &held.version, &held.plural) != path);
        self.in_order.push(kind.clone());
        self.by_path.insert(path, kind.clone());
        kind
    }

    pub(crate) fn find(
        &self,
        group: &str,
        version: &str,
        plural: &str,
    ) -> Option<&Arc<ResourceKind>> {
        self.by_path.get(&path_of(group, version, plural))
    }

    /// All resources, in the order they were added: for discovery.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<ResourceKind>> {
        self.in_order.iter()
    }

    /// The stored form of each collection.
    pub(crate) fn collections(&self) -> &[Arc<ResourceKind>] {
        &self.collections
    }
}

fn path_of(group: &str, version: &str, plural: &str) -> String {
    format!("{group}/{version}/{plural}")
}
