//! ConfigMaps and Secrets: what their keys may be, how much they may hold, and what `immutable` means.

use kubewright_meta::Unstructured;
use serde_json::{Map, Value, json};

use super::FieldErrors;

const BYTES_MAX: usize = 1 << 20;
const KEY_MAX: usize = 253;
const FROZEN: &str = "field is immutable when `immutable` is set";

pub(crate) fn config_map(new: &Unstructured, old: Option<&Unstructured>, errors: &mut FieldErrors) {
    check_frozen(new, old, &["data", "binaryData"], errors);
    let (data, binary) = (map(new, "data"), map(new, "binaryData"));
    for (field, entries, other) in [("data", data, binary), ("binaryData", binary, data)] {
        for key in keys(entries) {
            check_key(field, key, errors);
            if other.is_some_and(|other| other.contains_key(key)) {
                let other = if field == "data" { "binaryData" } else { "data" };
                let why = format!("duplicate of key present in {other}");
                errors.invalid(format!("{field}[{key}]"), key.as_str(), &why);
            }
        }
    }
    if size(data, str::len) + size(binary, decoded) > BYTES_MAX {
        errors.too_long("", BYTES_MAX);
    }
}

pub(crate) fn secret(new: &Unstructured, old: Option<&Unstructured>, errors: &mut FieldErrors) {
    if let Some(old) = old
        && new.fields.get("type") != old.fields.get("type")
    {
        errors.invalid("type", json!(new.fields.get("type")), "field is immutable");
    }
    check_frozen(new, old, &["data"], errors);
    let data = map(new, "data");
    keys(data).for_each(|key| check_key("data", key, errors));
    if size(data, decoded) > BYTES_MAX {
        errors.too_long("data", BYTES_MAX);
    }
}

fn check_frozen(
    new: &Unstructured,
    old: Option<&Unstructured>,
    content: &[&str],
    errors: &mut FieldErrors,
) {
    let is_frozen = |object: &Unstructured| object.fields.get("immutable") == Some(&json!(true));
    let Some(old) = old.filter(|old| is_frozen(old)) else {
        return;
    };
    if !is_frozen(new) {
        errors.forbidden("immutable", FROZEN);
    }
    for field in content {
        if new.fields.get(*field) != old.fields.get(*field) {
            errors.forbidden(*field, FROZEN);
        }
    }
}

fn check_key(field: &str, key: &str, errors: &mut FieldErrors) {
    let at = format!("{field}[{key}]");
    if key.len() > KEY_MAX {
        let why = format!("must be no more than {KEY_MAX} characters");
        errors.invalid(at.as_str(), key, &why);
    }
    let fits = |char: char| char.is_ascii_alphanumeric() || ['-', '_', '.'].contains(&char);
    if key.is_empty() || !key.chars().all(fits) {
        let why = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  \
                   or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
        errors.invalid(at.as_str(), key, why);
    }
    match key {
        "." | ".." => errors.invalid(at, key, &format!("must not be '{key}'")),
        _ if key.starts_with("..") => errors.invalid(at, key, "must not start with '..'"),
        _ => {}
    }
}

fn map<'a>(object: &'a Unstructured, field: &str) -> Option<&'a Map<String, Value>> {
    object.fields.get(field).and_then(Value::as_object)
}

fn keys(entries: Option<&Map<String, Value>>) -> impl Iterator<Item = &String> {
    entries.into_iter().flat_map(Map::keys)
}

fn size(entries: Option<&Map<String, Value>>, of_text: fn(&str) -> usize) -> usize {
    let values = entries.into_iter().flat_map(Map::values);
    values.filter_map(Value::as_str).map(of_text).sum()
}

/// How many bytes base64 text stands for.
fn decoded(text: &str) -> usize {
    text.trim_end_matches('=').len() / 4 * 3 + text.trim_end_matches('=').len() % 4 * 3 / 4
}
