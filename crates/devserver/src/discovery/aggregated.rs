//! The discovery document that tells of all groups at once.

use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, VARY};
use http::{HeaderMap, Response};
use serde::Serialize;

use super::entry::{self, SubresourceEntry};
use super::groups::{Group, Version};
use super::{caching, json};
use crate::kinds::{ResourceKind, Text};
use crate::protocol::Body;

/// Parameters in the one order that old clients compare for.
const MEDIA_TYPE: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GroupDiscoveryList<'a> {
    kind: &'static str,
    api_version: &'static str,
    metadata: Metadata<'a>,
    items: Vec<GroupDiscovery<'a>>,
}

#[derive(Serialize)]
struct GroupDiscovery<'a> {
    metadata: Metadata<'a>,
    versions: Vec<VersionDiscovery<'a>>,
}

#[derive(Serialize)]
struct Metadata<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
}

#[derive(Serialize)]
struct VersionDiscovery<'a> {
    version: &'a str,
    resources: Vec<ResourceDiscovery<'a>>,
    freshness: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceDiscovery<'a> {
    resource: &'a str,
    response_kind: ResponseKind,
    scope: &'static str,
    singular_resource: &'a str,
    verbs: Vec<&'static str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    short_names: &'a [Text],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    categories: &'a [Text],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    subresources: Vec<SubresourceDiscovery>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SubresourceDiscovery {
    subresource: &'static str,
    response_kind: ResponseKind,
    verbs: &'static [&'static str],
}

/// Never left out: there are clients that crash without it.
#[derive(Serialize)]
struct ResponseKind {
    group: String,
    version: String,
    kind: String,
}

/// The document about `groups`, or 304 if the client has it already.
pub(super) fn answer(groups: &[Group<'_>], headers: &HeaderMap) -> Response<Body> {
    let list = GroupDiscoveryList {
        kind: "APIGroupDiscoveryList",
        api_version: "apidiscovery.k8s.io/v2",
        metadata: Metadata { name: "" },
        items: groups.iter().map(group).collect(),
    };
    let tag = caching::hash(&list);
    let mut answer = match caching::not_modified(headers, &tag) {
        Some(unchanged) => unchanged,
        None => {
            let mut answer = json(&list);
            answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
            caching::set_tag(&mut answer, &tag);
            answer
        }
    };
    answer.headers_mut().insert(VARY, HeaderValue::from_static("Accept"));
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("public"));
    answer
}

fn group<'a>(group: &'a Group<'a>) -> GroupDiscovery<'a> {
    GroupDiscovery {
        metadata: Metadata { name: group.name },
        versions: group.versions.iter().map(version).collect(),
    }
}

fn version<'a>(version: &'a Version<'a>) -> VersionDiscovery<'a> {
    VersionDiscovery {
        version: version.name,
        resources: version.kinds.iter().map(|kind| resource(kind)).collect(),
        freshness: "Current",
    }
}

fn resource(kind: &ResourceKind) -> ResourceDiscovery<'_> {
    ResourceDiscovery {
        resource: &kind.plural,
        response_kind: response_kind(kind, None, kind.kind.to_string()),
        scope: if kind.is_namespaced() { "Namespaced" } else { "Cluster" },
        singular_resource: &kind.singular,
        verbs: kind.verbs(),
        short_names: &kind.short_names,
        categories: &kind.categories,
        subresources: entry::subresources(kind)
            .into_iter()
            .map(|one| subresource(kind, one))
            .collect(),
    }
}

fn subresource(parent: &ResourceKind, entry: SubresourceEntry<'_>) -> SubresourceDiscovery {
    SubresourceDiscovery {
        subresource: entry.name,
        response_kind: response_kind(parent, entry.other_version, entry.kind.into_owned()),
        verbs: entry.verbs,
    }
}

/// Empty group and version stand for those of the entry: built-in kinds leave them out, custom ones do not.
fn response_kind(of: &ResourceKind, other: Option<(&str, &str)>, kind: String) -> ResponseKind {
    let (group, version) = match other {
        Some(other) => other,
        None if of.custom => (of.group.as_ref(), of.version.as_ref()),
        None => ("", ""),
    };
    ResponseKind { group: group.to_owned(), version: version.to_owned(), kind }
}
