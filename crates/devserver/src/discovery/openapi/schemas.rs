//! What objects look like, as far as it is the same for all.

use serde_json::{Map, Value, json};

use crate::kinds::ResourceKind;

pub(super) const DELETE_OPTIONS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";
pub(super) const PATCH: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";
pub(super) const STATUS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";
const LIST_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";
const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// A pointer to a schema.
pub(super) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// The name of a kind's schema: `io.k8s.api.apps.v1.Deployment`, or `test.lab.v1.Widget`.
pub(super) fn name(kind: &ResourceKind) -> String {
    let package = if kind.custom {
        kind.group.split('.').rev().collect::<Vec<_>>().join(".")
    } else {
        let group = if kind.group.is_empty() { "core" } else { &kind.group };
        format!("io.k8s.api.{}", group.trim_end_matches(".k8s.io"))
    };
    format!("{package}.{}.{}", kind.version, kind.kind)
}

/// The name of the schema of what a subresource reads or writes, if that is not its object.
pub(super) fn foreign_name(group: &str, version: &str, kind: &str) -> String {
    format!("io.k8s.api.{group}.{version}.{kind}")
}

/// The types every version's document needs.
pub(super) fn shared() -> Map<String, Value> {
    let map = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let text = json!({"type": "string"});
    let number = json!({"type": "integer", "format": "int64"});
    let time = json!({"type": "string", "format": "date-time"});
    let any = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let object_meta = json!({
        "description": "The metadata all objects have.",
        "type": "object",
        "properties": {
            "annotations": map,
            "creationTimestamp": time,
            "deletionGracePeriodSeconds": number,
            "deletionTimestamp": time,
            "finalizers": {"type": "array", "items": text},
            "generateName": text,
            "generation": number,
            "labels": map,
            "managedFields": {"type": "array", "items": any},
            "name": text,
            "namespace": text,
            "ownerReferences": {"type": "array", "items": any},
            "resourceVersion": text,
            "selfLink": text,
            "uid": text,
        },
    });
    let list_meta = json!({
        "description": "The metadata all lists have.",
        "type": "object",
        "properties": {
            "continue": text,
            "remainingItemCount": number,
            "resourceVersion": text,
            "selfLink": text,
        },
    });
    [
        (OBJECT_META, object_meta),
        (LIST_META, list_meta),
        (DELETE_OPTIONS, any.clone()),
        (PATCH, any.clone()),
        (STATUS, any),
    ]
    .map(|(name, schema)| (name.to_owned(), schema))
    .into_iter()
    .collect()
}

/// The schemas of a kind, of its list, and of what its subresources read and write.
pub(super) fn add(schemas: &mut Map<String, Value>, kind: &ResourceKind) {
    let name = name(kind);
    schemas.insert(format!("{name}List"), list(kind, &name));
    schemas.insert(name.clone(), object(&kind.group, &kind.version, &kind.kind));
    for entry in super::super::entry::subresources(kind) {
        match entry.other_version {
            Some((group, version)) => {
                let schema = object(group, version, &entry.kind);
                schemas.insert(foreign_name(group, version, &entry.kind), schema);
            }
            None if entry.kind != kind.kind => {
                let schema = object(&kind.group, &kind.version, &entry.kind);
                schemas.insert(sibling_name(&name, &entry.kind), schema);
            }
            None => {}
        }
    }
}

/// The name of another kind of the same version.
pub(super) fn sibling_name(name: &str, kind: &str) -> String {
    match name.rsplit_once('.') {
        Some((package, _)) => format!("{package}.{kind}"),
        None => kind.to_owned(),
    }
}

fn object(group: &str, version: &str, kind: &str) -> Value {
    json!({
        "description": format!("{kind}: its fields are not described here, and unknown ones are kept."),
        "type": "object",
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": reference(OBJECT_META),
        },
        "x-kubernetes-group-version-kind": [{"group": group, "version": version, "kind": kind}],
        "x-kubernetes-preserve-unknown-fields": true,
    })
}

fn list(kind: &ResourceKind, name: &str) -> Value {
    let list = format!("{}List", kind.kind);
    json!({
        "description": format!("{list} is a list of {}.", kind.kind),
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": reference(LIST_META),
            "items": {"type": "array", "items": reference(name)},
        },
        "x-kubernetes-group-version-kind": [{"group": kind.group, "version": kind.version, "kind": list}],
    })
}
