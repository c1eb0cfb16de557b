//! Several kubeconfigs as one. The first file that says something wins: for an entry the whole entry, never single
//! fields of it.

use std::collections::BTreeMap;

use super::types::Kubeconfig;

impl Kubeconfig {
    /// Adds what `later` has and this one lacks: entries by their name, `current-context` if none is set here.
    pub fn merge(&mut self, later: Self) {
        add_missing(&mut self.clusters, later.clusters);
        add_missing(&mut self.users, later.users);
        add_missing(&mut self.contexts, later.contexts);
        add_missing(&mut self.extensions, later.extensions.0);
        add_missing(&mut self.preferences.extensions, later.preferences.extensions.0);
        self.preferences.colors |= later.preferences.colors;
        if self.current_context.is_none() {
            self.current_context = later.current_context;
            self.current_context_file = later.current_context_file;
        }
    }
}

fn add_missing<T>(ours: &mut BTreeMap<String, T>, theirs: BTreeMap<String, T>) {
    for (name, value) in theirs {
        ours.entry(name).or_insert(value);
    }
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
