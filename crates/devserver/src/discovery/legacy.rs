//! The discovery documents of old, one for each path: what clients of all ages understand.

use serde::Serialize;

use super::entry::{self, SubresourceEntry};
use super::groups::{Group, Groups, Version};
use super::health;
use crate::kinds::ResourceKind;

/// The paths a server has.
#[derive(Serialize)]
pub(super) struct RootPaths {
    paths: Vec<String>,
}

/// The versions of the legacy group.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ApiVersions<'a> {
    kind: &'static str,
    versions: Vec<&'a str>,
    #[serde(rename = "serverAddressByClientCIDRs")]
    server_addresses: Vec<ServerAddress<'a>>,
}

#[derive(Serialize)]
struct ServerAddress<'a> {
    #[serde(rename = "clientCIDR")]
    client_cidr: &'static str,
    #[serde(rename = "serverAddress")]
    server_address: &'a str,
}

/// The groups with names.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ApiGroupList<'a> {
    kind: &'static str,
    api_version: &'static str,
    groups: Vec<ApiGroup<'a>>,
}

/// One of them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ApiGroup<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    api_version: Option<&'static str>,
    name: &'a str,
    versions: Vec<GroupVersion<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preferred_version: Option<GroupVersion<'a>>,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct GroupVersion<'a> {
    group_version: String,
    version: &'a str,
}

/// The resources of a group in a version.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ApiResourceList<'a> {
    kind: &'static str,
    /// The legacy group's list has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    api_version: Option<&'static str>,
    group_version: String,
    resources: Vec<ApiResource<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ApiResource<'a> {
    name: String,
    /// Empty for subresources.
    singular_name: &'a str,
    namespaced: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'static str>,
    kind: String,
    verbs: Vec<&'static str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    short_names: &'a [crate::kinds::Text],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    categories: &'a [crate::kinds::Text],
}

pub(super) fn root(groups: &Groups<'_>) -> RootPaths {
    let fixed = ["/api", "/apis", "/apis/", "/openapi/v3", "/openapi/v3/", "/version"];
    let mut paths: Vec<String> = fixed.map(str::to_owned).into();
    paths.extend(health::PATHS.iter().map(|path| (*path).to_owned()));
    for group in groups.iter() {
        if !group.name.is_empty() {
            paths.push(format!("/apis/{}", group.name));
        }
        paths.extend(group.versions.iter().map(|version| format!("/{}", group.path(version))));
    }
    paths.sort();
    RootPaths { paths }
}

pub(super) fn core<'a>(groups: &'a Groups<'a>, address: Option<&'a str>) -> ApiVersions<'a> {
    let everywhere = |server_address| ServerAddress { client_cidr: "0.0.0.0/0", server_address };
    let versions = groups.core().iter().flat_map(|group| &group.versions);
    ApiVersions {
        kind: "APIVersions",
        versions: versions.map(|version| version.name).collect(),
        server_addresses: address.map(everywhere).into_iter().collect(),
    }
}

pub(super) fn groups<'a>(groups: &'a Groups<'a>) -> ApiGroupList<'a> {
    // A list's items do not repeat the type.
    let item = |group| ApiGroup { kind: None, api_version: None, ..self::group(group) };
    ApiGroupList {
        kind: "APIGroupList",
        api_version: "v1",
        groups: groups.others().iter().map(item).collect(),
    }
}

pub(super) fn group<'a>(group: &'a Group<'a>) -> ApiGroup<'a> {
    let version = |version: &'a Version<'a>| GroupVersion {
        group_version: group.group_version(version),
        version: version.name,
    };
    let versions: Vec<_> = group.versions.iter().map(version).collect();
    ApiGroup {
        kind: Some("APIGroup"),
        api_version: Some("v1"),
        name: group.name,
        preferred_version: versions.first().cloned(),
        versions,
    }
}

pub(super) fn resources<'a>(group: &Group<'a>, version: &Version<'a>) -> ApiResourceList<'a> {
    ApiResourceList {
        kind: "APIResourceList",
        api_version: Some("v1").filter(|_| !group.name.is_empty()),
        group_version: group.group_version(version),
        resources: version.kinds.iter().flat_map(|kind| entries(kind)).collect(),
    }
}

fn entries(kind: &ResourceKind) -> Vec<ApiResource<'_>> {
    let itself = ApiResource {
        name: kind.plural.to_string(),
        singular_name: &kind.singular,
        namespaced: kind.is_namespaced(),
        group: None,
        version: None,
        kind: kind.kind.to_string(),
        verbs: kind.verbs(),
        short_names: &kind.short_names,
        categories: &kind.categories,
    };
    let subresource = |entry: SubresourceEntry<'_>| ApiResource {
        name: format!("{}/{}", kind.plural, entry.name),
        singular_name: "",
        namespaced: kind.is_namespaced(),
        group: entry.other_version.map(|(group, _)| group),
        version: entry.other_version.map(|(_, version)| version),
        kind: entry.kind.into_owned(),
        verbs: entry.verbs.to_vec(),
        short_names: &[],
        categories: &[],
    };
    std::iter::once(itself).chain(entry::subresources(kind).into_iter().map(subresource)).collect()
}
