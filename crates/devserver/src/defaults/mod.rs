//! The values a server fills in: so much of the typed API as people see on the objects they first write.
//!
//! What runs on every write is named after the kind, what runs once after the new object. A real server
//! decodes into Go types, which makes some zero values appear and others vanish; where users see it, this is
//! done here too.

mod nodes;
mod pods;
mod qos;
mod services;
mod workloads;

use base64::Engine;
use kubewright_meta::{Object, Unstructured};
use serde_json::{Map, Value, json};

pub(crate) use nodes::node;
pub(crate) use pods::{new_pod, pod};
pub(crate) use services::{new_service, service};
pub(crate) use workloads::{deployment, new_deployment, new_replica_set, replica_set};

/// Every namespace carries its name as a label, and has a phase.
pub(crate) fn namespace(namespace: &mut Unstructured) {
    let name = namespace.name().to_owned();
    let labels = namespace.metadata.labels.get_or_insert_default();
    labels.insert("kubernetes.io/metadata.name".into(), name);
    let phase = namespace.field(&["status", "phase"]).and_then(Value::as_str);
    if phase.unwrap_or_default().is_empty() {
        namespace.set_field(&["status", "phase"], "Active");
    }
}

pub(crate) fn new_namespace(namespace: &mut Unstructured) {
    namespace.set_field(&["spec", "finalizers"], json!(["kubernetes"]));
    namespace.fields.insert("status".into(), json!({"phase": "Active"}));
}

/// `stringData` is only a way to write `data`.
pub(crate) fn secret(secret: &mut Unstructured) {
    secret.fields.entry("type").or_insert_with(|| "Opaque".into());
    let Some(Value::Object(texts)) = secret.fields.remove("stringData") else {
        return;
    };
    let data = secret.fields.entry("data").or_insert_with(|| Value::Object(Map::new()));
    if let Some(data) = data.as_object_mut() {
        for (name, text) in texts {
            let encoded =
                base64::prelude::BASE64_STANDARD.encode(text.as_str().unwrap_or_default());
            data.insert(name, encoded.into());
        }
    }
}

/// In its stored form. Core's type writes these even when they say nothing.
pub(crate) fn event(event: &mut Unstructured) {
    let zero = json!({
        "eventTime": null, "firstTimestamp": null, "lastTimestamp": null, "source": {},
        "reportingComponent": "", "reportingInstance": "",
    });
    if let Value::Object(zero) = zero {
        for (name, value) in zero {
            event.fields.entry(name).or_insert(value);
        }
    }
}

/// The elements of a list member; none if there is no such list.
fn items<'a>(value: &'a mut Value, list: &str) -> impl Iterator<Item = &'a mut Value> {
    value.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten()
}

/// Adds those members that are not there.
fn fill(value: &mut Value, defaults: Value) {
    if let (Value::Object(fields), Value::Object(defaults)) = (value, defaults) {
        for (name, default) in defaults {
            fields.entry(name).or_insert(default);
        }
    }
}

/// Removes members that hold their type's zero value, which typed servers do not write.
fn drop_zero(value: &mut Value, names: &[&str]) {
    if let Value::Object(fields) = value {
        for name in names {
            if fields.get(*name).is_some_and(is_zero) {
                fields.remove(*name);
            }
        }
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) => false,
    }
}
