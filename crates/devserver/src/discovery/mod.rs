//! Everything that is no resource: discovery documents, version, OpenAPI, health.
//!
//! Clients build their view of a server from these documents before they touch an object, so they are made
//! from the table of kinds on each request and can neither lag behind it nor promise what is not served.
//! Forms, orders and status codes are those of a real server, quirks included (an unknown group is a plain
//! text 404, an unknown version of a known group a `Status`).

mod aggregated;
mod caching;
mod entry;
mod groups;
mod health;
mod legacy;
mod negotiate;
mod openapi;
mod version;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Method, Response, StatusCode};
use serde::Serialize;

use crate::failure;
use crate::kinds::Registry;
use crate::protocol::{self, Body};
use groups::Groups;
use negotiate::{Form, Offer};

/// The answer to a request whose path names no resource; `None` for an unknown path, which becomes 404.
pub(crate) fn answer(registry: &Registry, parts: &Parts) -> Option<Response<Body>> {
    let path = parts.uri.path();
    // As a real server has it: `/apis/apps/` is `/apis/apps`, and `//` is a segment without a name.
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    let segments: Vec<&str> = path.split('/').collect();
    if let Some(answer) = health::answer(&segments, parts.uri.query().unwrap_or_default()) {
        return Some(answer);
    }
    let groups = Groups::of(registry);
    let document = Document::find(&segments, &groups);
    match document {
        Document::Unknown => None,
        Document::UnknownText => Some(not_found_text()),
        _ if parts.method != Method::GET => Some(protocol::failure(&failure::method_not_allowed())),
        document => Some(document.write(&groups, parts)),
    }
}

/// What a path asks for.
enum Document<'a> {
    Root,
    Version,
    Core,
    Groups,
    Group(&'a groups::Group<'a>),
    Resources(&'a groups::Group<'a>, &'a groups::Version<'a>),
    OpenApiV2,
    OpenApiIndex,
    OpenApi(&'a groups::Group<'a>, &'a groups::Version<'a>),
    /// No such document, in the words of the API: a `Status`.
    Unknown,
    /// No such document, in the words of the server that the API is mounted in.
    UnknownText,
}

impl<'a> Document<'a> {
    fn find(segments: &[&str], groups: &'a Groups<'a>) -> Self {
        match segments {
            [""] => Self::Root,
            ["version"] => Self::Version,
            ["api"] => Self::Core,
            ["apis"] => Self::Groups,
            ["api", version] => Self::resources(groups, "", version),
            ["apis", group] => groups.named(group).map_or(Self::UnknownText, Self::Group),
            ["apis", group, version] => Self::resources(groups, group, version),
            ["openapi", "v2"] => Self::OpenApiV2,
            ["openapi", "v3"] => Self::OpenApiIndex,
            ["openapi", "v3", "api", version] => Self::open_api(groups, "", version),
            ["openapi", "v3", "apis", group, version] => Self::open_api(groups, group, version),
            ["api" | "apis", ..] => Self::Unknown,
            _ => Self::UnknownText,
        }
    }

    fn resources(groups: &'a Groups<'a>, group: &str, version: &str) -> Self {
        let Some(group) = groups.get(group) else {
            return Self::UnknownText;
        };
        match group.version(version) {
            Some(version) => Self::Resources(group, version),
            // A group of custom resources has no handler of its own that could know better.
            None if group.is_custom() => Self::UnknownText,
            None => Self::Unknown,
        }
    }

    fn open_api(groups: &'a Groups<'a>, group: &str, version: &str) -> Self {
        let found = groups.get(group).and_then(|group| Some((group, group.version(version)?)));
        found.map_or(Self::UnknownText, |(group, version)| Self::OpenApi(group, version))
    }

    fn write(self, groups: &Groups<'_>, parts: &Parts) -> Response<Body> {
        if let Self::OpenApiV2 = self {
            return openapi::v2::answer(&parts.headers);
        }
        let offer = match self {
            Self::Core | Self::Groups => Offer::JsonOrAggregated,
            _ => Offer::Json,
        };
        let Some(form) = negotiate::form(&parts.headers, offer) else {
            return protocol::failure(&negotiate::refusal(offer));
        };
        match (self, form) {
            (Self::Core, Form::Aggregated) => aggregated::answer(groups.core(), &parts.headers),
            (Self::Groups, Form::Aggregated) => aggregated::answer(groups.others(), &parts.headers),
            (Self::Core, Form::Json) => json(&legacy::core(groups, address(parts))),
            (Self::Groups, Form::Json) => json(&legacy::groups(groups)),
            (Self::Group(group), _) => json(&legacy::group(group)),
            (Self::Resources(group, version), _) => json(&legacy::resources(group, version)),
            (Self::Root, _) => json(&legacy::root(groups)),
            (Self::Version, _) => json(&version::info()),
            (Self::OpenApiIndex, _) => json(&openapi::index(groups)),
            (Self::OpenApi(group, version), _) => openapi::answer(group, version, parts),
            (Self::OpenApiV2 | Self::Unknown | Self::UnknownText, _) => not_found_text(),
        }
    }
}

/// Where the client believes the server to be: all that is known without sockets.
fn address(parts: &Parts) -> Option<&str> {
    let host = || parts.headers.get(HOST).and_then(|host| host.to_str().ok());
    parts.uri.authority().map(|authority| authority.as_str()).or_else(host)
}

fn json<T: Serialize>(document: &T) -> Response<Body> {
    match serde_json::to_vec(document) {
        Ok(bytes) => protocol::json(StatusCode::OK, bytes.into()),
        Err(error) => protocol::failure(&failure::internal(error)),
    }
}

fn text(code: StatusCode, text: impl Into<Bytes>) -> Response<Body> {
    let mut answer = Response::new(Body::whole(text));
    *answer.status_mut() = code;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(
        HeaderName::from_static("x-content-type-options"),
        HeaderValue::from_static("nosniff"),
    );
    answer
}

fn not_found_text() -> Response<Body> {
    text(StatusCode::NOT_FOUND, "404 page not found\n")
}

#[cfg(test)]
#[path = "discovery_tests.rs"]
mod tests;
