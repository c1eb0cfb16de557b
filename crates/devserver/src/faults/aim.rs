//! What a fault is aimed at. One that no request can ever meet would make a test pass for no reason, so it is refused.

use std::collections::{BTreeMap, BTreeSet};

use crate::Error;
use crate::kinds::{Registry, ResourceKind, Subresource};

pub(super) const ANY: &str = "*";

/// The verbs of each resource and subresource that is served, by its full name.
struct Served(BTreeMap<String, Entry>);

#[derive(Default)]
struct Entry {
    /// Without the group.
    short: String,
    verbs: BTreeSet<&'static str>,
}

/// The full name of `resource`, or why no request with this verb will ever ask for it.
pub(super) fn resolve(registry: &Registry, verb: &str, resource: &str) -> Result<String, Error> {
    let served = Served::of(registry);
    let name = served.name(resource)?;
    let verbs = served.verbs(&name);
    if verb == ANY || verbs.contains(verb) {
        return Ok(name);
    }
    let verbs = listed(verbs);
    Err(Error::invalid_fault(match name.as_str() {
        ANY => format!("{verb:?} is no verb; there are {verbs}, and {ANY} for any"),
        name => format!("{verb:?} is no verb of {name}, which has {verbs}; {ANY} stands for any"),
    }))
}

impl Served {
    fn of(registry: &Registry) -> Self {
        let mut served = Self(BTreeMap::new());
        for kind in registry.iter() {
            served.add(kind, "", kind.verbs());
            for subresource in Subresource::ALL {
                if kind.has(subresource) {
                    let suffix = format!("/{}", subresource.as_str());
                    served.add(kind, &suffix, subresource.verbs().iter().copied());
                }
            }
        }
        served
    }

    fn add(
        &mut self,
        kind: &ResourceKind,
        suffix: &str,
        verbs: impl IntoIterator<Item = &'static str>,
    ) {
        let name = format!("{}{suffix}", kind.qualified_resource());
        let entry = self.0.entry(name).or_default();
        entry.short = format!("{}{suffix}", kind.plural);
        entry.verbs.extend(verbs);
    }

    fn name(&self, given: &str) -> Result<String, Error> {
        if given == ANY || self.0.contains_key(given) {
            return Ok(given.to_owned());
        }
        let with_groups: Vec<&str> = self
            .0
            .iter()
            .filter(|(_, entry)| entry.short == given)
            .map(|(name, _)| name.as_str())
            .collect();
        match with_groups.as_slice() {
            [one] => Ok((*one).to_owned()),
            [] => Err(Error::invalid_fault(self.unknown(given))),
            several => Err(Error::invalid_fault(format!(
                "{given:?} may be any of {}",
                listed(several.iter().copied())
            ))),
        }
    }

    fn unknown(&self, given: &str) -> String {
        let alike = |name: &&String| name.contains('/') == given.contains('/');
        format!(
            "the resource {given:?} is not served; there are {}, and {ANY} for any (custom kinds are registered first)",
            listed(self.0.keys().filter(alike).map(String::as_str))
        )
    }

    fn verbs(&self, name: &str) -> BTreeSet<&'static str> {
        self.0
            .iter()
            .filter(|(served, _)| name == ANY || *served == name)
            .flat_map(|(_, entry)| entry.verbs.iter().copied())
            .collect()
    }
}

fn listed<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    texts.into_iter().collect::<Vec<_>>().join(", ")
}
