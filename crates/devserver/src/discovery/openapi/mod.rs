//! OpenAPI v3: which operations there are and which parameters they take.
//!
//! Clients such as `kubectl` look here whether an operation knows `fieldValidation` and `dryRun` before they
//! use them. Objects are described as any server would have to accept them, by their type and metadata: the
//! full schemas of built-in kinds are not served, and custom kinds registered by hand have none.

mod operations;
mod schemas;
pub(super) mod v2;

use std::collections::BTreeMap;

use http::header::{CACHE_CONTROL, HeaderValue, LOCATION, VARY};
use http::request::Parts;
use http::{Response, StatusCode};
use serde_json::{Map, Value, json};

use super::groups::{Group, Groups, Version};
use super::{caching, json as json_answer};
use crate::failure;
use crate::protocol::{self, Body};

const VERSION: &str = concat!("kubewright ", env!("CARGO_PKG_VERSION"));

/// Where each group's document is, named by its content.
pub(super) fn index(groups: &Groups<'_>) -> Value {
    let versions =
        groups.iter().flat_map(|group| group.versions.iter().map(move |one| (group, one)));
    let entry = |(group, version): (&Group<'_>, &Version<'_>)| {
        let tag = caching::hash(&document(group, version));
        (group.path(version), json!({"serverRelativeURL": url(group, version, &tag)}))
    };
    let paths: Map<String, Value> = versions.map(entry).collect();
    json!({ "paths": paths })
}

/// The document of one version, which clients may keep for ever if they ask for it by its content.
pub(super) fn answer(group: &Group<'_>, version: &Version<'_>, parts: &Parts) -> Response<Body> {
    let document = document(group, version);
    let tag = caching::hash(&document);
    let query = parts.uri.query().unwrap_or_default();
    let asked = form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == "hash");
    let is_named = match asked {
        Some((_, asked)) if asked != tag => return moved(&url(group, version, &tag)),
        asked => asked.is_some(),
    };
    let mut answer = match caching::not_modified(&parts.headers, &tag) {
        Some(unchanged) => unchanged,
        None => {
            let mut answer = json_answer(&document);
            caching::set_tag(&mut answer, &tag);
            answer
        }
    };
    answer.headers_mut().insert(VARY, HeaderValue::from_static("Accept"));
    if is_named {
        answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("public, immutable"));
    }
    answer
}

fn url(group: &Group<'_>, version: &Version<'_>, tag: &str) -> String {
    format!("/openapi/v3/{}?hash={tag}", group.path(version))
}

fn moved(url: &str) -> Response<Body> {
    let location = match HeaderValue::try_from(url) {
        Ok(location) => location,
        Err(error) => return protocol::failure(&failure::internal(error)),
    };
    let mut answer = Response::new(Body::whole(""));
    *answer.status_mut() = StatusCode::MOVED_PERMANENTLY;
    answer.headers_mut().insert(LOCATION, location);
    answer
}

fn document(group: &Group<'_>, version: &Version<'_>) -> Value {
    let mut paths = BTreeMap::new();
    let mut schemas = schemas::shared();
    for kind in &version.kinds {
        operations::add(&mut paths, &group.path(version), kind);
        schemas::add(&mut schemas, kind);
    }
    json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": VERSION},
        "paths": paths,
        "components": {"schemas": schemas},
    })
}
