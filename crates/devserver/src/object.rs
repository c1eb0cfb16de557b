//! Objects between the wire and the store: decoding, tidying and encoding.

use bytes::Bytes;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_meta::Unstructured;
use serde_json::Value;

use crate::failure::{self, Result};
use crate::kinds::ResourceKind;

/// Levels of nesting that a body may have: what is stored must stay readable by parsers that count them,
/// also inside a watch event.
pub(crate) const MAX_DEPTH: usize = 100;
const SHOWN_BYTES: usize = 30;

/// Reads the body of a create or replace as an object of `kind`, in its served form.
pub(crate) fn decode(kind: &ResourceKind, body: &Bytes) -> Result<Unstructured> {
    let object: Unstructured = serde_json::from_slice(body).map_err(|error| {
        failure::bad_request(format!(
            "the object provided is unrecognized (must be of type {}): {error} ({})",
            kind.kind,
            summary(body)
        ))
    })?;
    if kind.custom && object.types.kind.is_empty() {
        return Err(failure::bad_request(format!(
            "the object provided is unrecognized (must be of type {}): Object 'Kind' is missing in '{}'",
            kind.kind,
            summary(body)
        )));
    }
    tidy(kind, object)
}

/// Checks type and nesting, and removes what means nothing, so that equal objects compare equal.
pub(crate) fn tidy(kind: &ResourceKind, mut object: Unstructured) -> Result<Unstructured> {
    let types = &mut object.types;
    if types.kind.is_empty() {
        types.kind = kind.kind.to_string();
    }
    if types.api_version.is_empty() && !kind.custom {
        types.api_version = kind.api_version();
    }
    if types.kind != kind.kind {
        return Err(failure::bad_request(format!(
            "{} in version {:?} cannot be handled as a {}: the kind of the object is not that of the resource",
            types.kind, types.api_version, kind.kind
        )));
    }
    if types.api_version != kind.api_version() {
        return Err(failure::bad_request(format!(
            "the API version in the data ({}) does not match the expected API version ({})",
            types.api_version,
            kind.api_version()
        )));
    }
    if object.fields.values().any(|value| !is_shallower(value, MAX_DEPTH)) {
        return Err(failure::bad_request(format!(
            "the object is nested more than {MAX_DEPTH} levels deep, the limit of the development server"
        )));
    }
    tidy_metadata(&mut object.metadata);
    if !kind.custom {
        object.fields.retain(|_, value| !value.is_null());
        if kind.is("", "configmaps") || kind.is("", "secrets") {
            tidy_texts(kind, &mut object)?;
        }
        object.fields.values_mut().for_each(drop_nulls);
    }
    Ok(object)
}

/// The maps of texts in ConfigMaps and Secrets: in Go a null in one is an empty text, and no map is an empty one.
fn tidy_texts(kind: &ResourceKind, object: &mut Unstructured) -> Result<()> {
    for name in ["data", "binaryData", "stringData"] {
        let Some(field) = object.fields.get_mut(name) else {
            continue;
        };
        let texts = field
            .as_object_mut()
            .filter(|entries| entries.values().all(|entry| entry.is_string() || entry.is_null()));
        let Some(texts) = texts else {
            return Err(failure::bad_request(format!(
                "{} in version {:?} cannot be handled as a {}: {name} must be a map of texts",
                kind.kind,
                kind.api_version(),
                kind.kind
            )));
        };
        for entry in texts.values_mut().filter(|entry| entry.is_null()) {
            *entry = Value::from("");
        }
        if texts.is_empty() {
            object.fields.remove(name);
        }
    }
    Ok(())
}

fn tidy_metadata(metadata: &mut ObjectMeta) {
    metadata.managed_fields = None;
    metadata.self_link = None;
    let texts = [
        &mut metadata.name,
        &mut metadata.generate_name,
        &mut metadata.namespace,
        &mut metadata.uid,
        &mut metadata.resource_version,
    ];
    for text in texts {
        text.take_if(|text| text.is_empty());
    }
    metadata.labels.take_if(|labels| labels.is_empty());
    metadata.annotations.take_if(|annotations| annotations.is_empty());
    metadata.finalizers.take_if(|finalizers| finalizers.is_empty());
    metadata.owner_references.take_if(|owners| owners.is_empty());
}

/// Typed servers never keep a null member; elements of lists are left alone.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

pub(crate) fn is_shallower(value: &Value, levels: usize) -> bool {
    match value {
        Value::Object(fields) => {
            levels > 0 && fields.values().all(|value| is_shallower(value, levels - 1))
        }
        Value::Array(items) => {
            levels > 0 && items.iter().all(|value| is_shallower(value, levels - 1))
        }
        _ => true,
    }
}

/// What every encoded object of a kind starts with; the part that items of a list leave out.
pub(crate) fn type_prefix(kind: &ResourceKind) -> String {
    // Through the encoder, should a registered name ever need escapes.
    format!(
        "{{\"kind\":{},\"apiVersion\":{},",
        json_text(&kind.kind),
        json_text(&kind.api_version())
    )
}

fn json_text(text: &str) -> String {
    Value::from(text).to_string()
}

/// Appends the object in the order a real server writes it: type, metadata, the rest.
pub(crate) fn encode_into(
    kind: &ResourceKind,
    object: &Unstructured,
    out: &mut Vec<u8>,
) -> Result<()> {
    out.extend_from_slice(type_prefix(kind).as_bytes());
    out.extend_from_slice(b"\"metadata\":");
    serde_json::to_writer(&mut *out, &object.metadata).map_err(failure::internal)?;
    for (name, value) in &object.fields {
        out.push(b',');
        serde_json::to_writer(&mut *out, name).map_err(failure::internal)?;
        out.push(b':');
        serde_json::to_writer(&mut *out, value).map_err(failure::internal)?;
    }
    out.push(b'}');
    Ok(())
}

pub(crate) fn encode(kind: &ResourceKind, object: &Unstructured) -> Result<Bytes> {
    let mut out = Vec::with_capacity(512);
    encode_into(kind, object, &mut out)?;
    Ok(out.into())
}

/// From the stored form to the one `kind` is served in.
pub(crate) fn to_served(kind: &ResourceKind, object: Unstructured) -> Unstructured {
    match kind.conversion {
        Some(conversion) => conversion.to_served(object, kind.api_version()),
        None => Unstructured {
            types: kubewright_meta::TypeMeta {
                api_version: kind.api_version(),
                kind: kind.kind.to_string(),
            },
            ..object
        },
    }
}

pub(crate) fn to_stored(kind: &ResourceKind, object: Unstructured) -> Unstructured {
    match kind.conversion {
        Some(conversion) => conversion.to_stored(object),
        None => object,
    }
}

/// The value at a dotted path, metadata excepted.
pub(crate) fn at_path<'a>(object: &'a Unstructured, path: &str) -> Option<&'a Value> {
    let path: Vec<&str> = path.trim_start_matches('.').split('.').collect();
    object.field(&path).filter(|value| !value.is_null())
}

pub(crate) fn set_path(object: &mut Unstructured, path: &str, value: Value) {
    let path: Vec<&str> = path.trim_start_matches('.').split('.').collect();
    object.set_field(&path, value);
}

fn summary(body: &Bytes) -> String {
    if body.is_empty() {
        return "<empty>".into();
    }
    let shown = String::from_utf8_lossy(&body[..body.len().min(SHOWN_BYTES)]);
    if body.len() > SHOWN_BYTES { format!("{shown} ...") } else { shown.into_owned() }
}
