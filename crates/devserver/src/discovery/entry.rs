//! What a kind can do, in the words both forms of discovery share.

use std::borrow::Cow;

use crate::kinds::{ResourceKind, Subresource};

/// A subresource, with the kind of what it reads and writes.
pub(super) struct SubresourceEntry<'a> {
    pub(super) name: &'static str,
    /// Group and version where they are not the parent's.
    pub(super) other_version: Option<(&'static str, &'static str)>,
    pub(super) kind: Cow<'a, str>,
    pub(super) verbs: &'static [&'static str],
}

/// By name; those of custom resources in the order in which a real server lists them.
pub(super) fn subresources(kind: &ResourceKind) -> Vec<SubresourceEntry<'_>> {
    use Subresource::{Binding, Eviction, Finalize, Scale, Status};
    let mut all = vec![Status, Scale, Binding, Eviction, Finalize];
    if !kind.custom {
        all.sort_by_key(|subresource| subresource.as_str());
    }
    all.into_iter()
        .filter(|subresource| kind.has(*subresource))
        .map(|one| entry(kind, one))
        .collect()
}

fn entry(kind: &ResourceKind, subresource: Subresource) -> SubresourceEntry<'_> {
    let own = Cow::Borrowed(kind.kind.as_ref());
    let (other_version, response) = match subresource {
        Subresource::Status | Subresource::Finalize => (None, own),
        Subresource::Scale => (Some(("autoscaling", "v1")), "Scale".into()),
        Subresource::Binding => (None, "Binding".into()),
        Subresource::Eviction => (Some(("policy", "v1")), "Eviction".into()),
    };
    SubresourceEntry {
        name: subresource.as_str(),
        other_version,
        kind: response,
        verbs: subresource.verbs(),
    }
}
