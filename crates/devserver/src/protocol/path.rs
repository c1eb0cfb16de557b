//! What a path names.

use std::sync::Arc;

use kubewright_meta::StatusError;
use kubewright_meta::selector::validation::check_path_segment;
use percent_encoding::percent_decode_str;

use crate::failure::{self, Result};
use crate::kinds::{Registry, ResourceKind, Subresource};

/// A resource, an object of it, or a subresource of that.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) kind: Arc<ResourceKind>,
    pub(crate) namespace: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) subresource: Option<Subresource>,
}

impl Target {
    /// `pods`, `pods/status`, `replicasets.apps`.
    pub(crate) fn resource(&self) -> String {
        let mut text = self.kind.qualified_resource();
        if let Some(subresource) = self.subresource {
            text.push('/');
            text.push_str(subresource.as_str());
        }
        text
    }
}

pub(crate) enum Route {
    Resource(Target),
    /// Discovery, health and whatever else is no resource.
    Other,
}

/// Reads the path of a request.
///
/// A trailing slash makes no difference, as on a real server: `DELETE .../pods/` is a request about the
/// collection, never about an object without a name. Segments are decoded after they are cut, so that an
/// encoded slash never becomes a separator.
pub(crate) fn route(path: &str, registry: &Registry) -> Result<Route> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    let segments: Vec<String> = path.split('/').map(decode).collect::<Result<_>>()?;
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    let (group, version, rest) = match segments.as_slice() {
        ["api", version, rest @ ..] if !rest.is_empty() => ("", *version, rest),
        ["apis", group, version, rest @ ..] if !rest.is_empty() => (*group, *version, rest),
        _ => return Ok(Route::Other),
    };
    if rest.iter().any(|segment| segment.is_empty() || segment.contains('/')) {
        return Err(failure::no_such_path());
    }
    let find = |plural: &str| {
        registry.find(group, version, plural).cloned().ok_or_else(failure::no_such_path)
    };
    let (namespace, rest) = match rest {
        ["watch", ..] if registry.find(group, version, "watch").is_none() => {
            return Err(legacy_watch());
        }
        ["namespaces", namespace, plural, rest @ ..]
            if !group.is_empty()
                || Subresource::parse(plural).is_none_or(|sub| !is_of_namespaces(sub)) =>
        {
            (Some((*namespace).to_owned()), [&[*plural], rest].concat())
        }
        rest => (None, rest.to_vec()),
    };
    let kind = find(rest[0])?;
    let fits = match (&namespace, kind.is_namespaced()) {
        (Some(_), namespaced) => namespaced,
        // Across all namespaces there is only the collection.
        (None, true) => rest.len() == 1,
        (None, false) => true,
    };
    let subresource = match rest.get(2) {
        None => None,
        Some(text) => match Subresource::parse(text).filter(|subresource| kind.has(*subresource)) {
            None => return Err(no_such_subresource(&kind, text)),
            found => found,
        },
    };
    if !fits || rest.len() > 3 {
        return Err(failure::no_such_path());
    }
    let name = rest.get(1).map(|name| (*name).to_owned());
    if let Some(name) = &name {
        check_path_segment(name).map_err(|violations| {
            let why = violations.messages().join(", ");
            failure::bad_request(format!("Name parameter invalid: {name:?}: {why}"))
        })?;
    }
    Ok(Route::Resource(Target { kind, namespace, name, subresource }))
}

/// What a kubelet would do is not pretended, and said, as people try it.
fn no_such_subresource(kind: &ResourceKind, subresource: &str) -> StatusError {
    let missing = match subresource {
        "log" => "there are no logs",
        "exec" | "attach" => "there is nothing to run a command in or to attach to",
        "portforward" | "proxy" => "nothing listens on the ports of its pods",
        _ => return failure::no_such_path(),
    };
    match kind.is("", "pods") {
        true => failure::not_implemented(format!(
            "the development server runs no containers, so {missing}"
        )),
        false => failure::no_such_path(),
    }
}

fn is_of_namespaces(subresource: Subresource) -> bool {
    matches!(subresource, Subresource::Status | Subresource::Finalize)
}

fn decode(segment: &str) -> Result<String> {
    match percent_decode_str(segment).decode_utf8() {
        Ok(text) => Ok(text.into_owned()),
        Err(_) => Err(failure::bad_request("the path of the request is not UTF-8")),
    }
}

fn legacy_watch() -> StatusError {
    let message = "the server could not find the requested resource: the old /watch/ paths are not served, \
                   use the resource's own path with ?watch=true";
    StatusError::of(kubewright_meta::Reason::NotFound, message)
}
