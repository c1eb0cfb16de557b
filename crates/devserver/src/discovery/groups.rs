//! The served kinds, arranged as discovery documents show them: by group, version and name.

use std::cmp::Reverse;

use crate::kinds::{Registry, ResourceKind};

/// Built-in groups come in the order in which a real server prefers them, and before all others.
const PREFERENCE: [&str; 18] = [
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "resource.k8s.io",
];

/// All groups that have a kind; the legacy group without a name is first.
pub(super) struct Groups<'a>(Vec<Group<'a>>);

pub(super) struct Group<'a> {
    /// Empty for the legacy group.
    pub(super) name: &'a str,
    /// The preferred one first.
    pub(super) versions: Vec<Version<'a>>,
}

pub(super) struct Version<'a> {
    pub(super) name: &'a str,
    /// By name.
    pub(super) kinds: Vec<&'a ResourceKind>,
}

impl<'a> Groups<'a> {
    pub(super) fn of(registry: &'a Registry) -> Self {
        let mut kinds: Vec<&ResourceKind> = registry.iter().map(|kind| &**kind).collect();
        kinds.sort_by_key(|kind| {
            (rank(&kind.group), Reverse(maturity(&kind.version)), &kind.version, &kind.plural)
        });
        let mut groups: Vec<Group<'a>> = Vec::new();
        for kind in kinds {
            if groups.last().is_none_or(|group| group.name != kind.group) {
                groups.push(Group { name: &kind.group, versions: Vec::new() });
            }
            let Some(group) = groups.last_mut() else {
                continue;
            };
            if group.versions.last().is_none_or(|version| version.name != kind.version) {
                group.versions.push(Version { name: &kind.version, kinds: Vec::new() });
            }
            if let Some(version) = group.versions.last_mut() {
                version.kinds.push(kind);
            }
        }
        Self(groups)
    }

    /// The legacy group: none or one.
    pub(super) fn core(&self) -> &[Group<'a>] {
        self.split().0
    }

    /// The groups with names.
    pub(super) fn others(&self) -> &[Group<'a>] {
        self.split().1
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Group<'a>> {
        self.0.iter()
    }

    pub(super) fn get(&self, name: &str) -> Option<&Group<'a>> {
        self.0.iter().find(|group| group.name == name)
    }

    /// One that is found below `/apis`.
    pub(super) fn named(&self, name: &str) -> Option<&Group<'a>> {
        self.others().iter().find(|group| group.name == name)
    }

    fn split(&self) -> (&[Group<'a>], &[Group<'a>]) {
        let legacy = self.0.iter().take_while(|group| group.name.is_empty()).count();
        self.0.split_at(legacy)
    }
}

impl<'a> Group<'a> {
    pub(super) fn version(&self, name: &str) -> Option<&Version<'a>> {
        self.versions.iter().find(|version| version.name == name)
    }

    /// Whether all its kinds are custom resources.
    pub(super) fn is_custom(&self) -> bool {
        self.versions.iter().flat_map(|version| &version.kinds).all(|kind| kind.custom)
    }

    /// `v1`, or `apps/v1`.
    pub(super) fn group_version(&self, version: &Version<'_>) -> String {
        match self.name {
            "" => version.name.to_owned(),
            name => format!("{name}/{}", version.name),
        }
    }

    /// The path of a version's document without its first slash: `api/v1`, or `apis/apps/v1`.
    pub(super) fn path(&self, version: &Version<'_>) -> String {
        match self.name {
            "" => format!("api/{}", version.name),
            name => format!("apis/{name}/{}", version.name),
        }
    }
}

fn rank(group: &str) -> (usize, &str) {
    let place = PREFERENCE.iter().position(|preferred| *preferred == group);
    let place = if group.is_empty() { 0 } else { place.map_or(usize::MAX, |place| place + 1) };
    (place, group)
}

/// Kubernetes' order of versions, the higher the better: stable before beta before alpha, later before
/// earlier, and names of another form last.
fn maturity(version: &str) -> Option<(u8, u64, u64)> {
    let number = |digits: &str| {
        let canonical =
            !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse::<u64>().ok().filter(|_| canonical)
    };
    let version = version.strip_prefix('v')?;
    for (stage, word) in [(1, "beta"), (0, "alpha")] {
        if let Some((major, minor)) = version.split_once(word) {
            return Some((stage, number(major)?, number(minor)?));
        }
    }
    Some((2, number(version)?, 0))
}

#[cfg(test)]
mod tests {
    use super::maturity;

    #[test]
    fn versions_are_ordered_as_kubernetes_prefers_them() {
        let wanted = [
            "v10",
            "v2",
            "v1",
            "v11beta2",
            "v10beta3",
            "v3beta1",
            "v12alpha1",
            "v11alpha2",
            "foo1",
        ];
        let mut versions = wanted;
        versions.reverse();
        versions.sort_by_key(|version| std::cmp::Reverse(maturity(version)));
        assert_eq!(versions, wanted);
        for odd in ["1", "v", "v01", "vbeta1", "v1beta", "v1rc1", "v+1", "v99999999999999999999"] {
            assert_eq!(maturity(odd), None, "{odd}");
        }
    }
}
