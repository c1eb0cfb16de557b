//! The rules of events: lenient through core v1, strict through events.k8s.io/v1.
//!
//! Both see the stored form, so the messages use core's field names, as a real server's do.

use kubewright_meta::selector::validation::check_label_key;
use kubewright_meta::{Object, Unstructured};
use serde_json::{Value, json};

use super::FieldErrors;

const OLD_NAMES: [&str; 4] = ["source", "firstTimestamp", "lastTimestamp", "count"];
const FIXED: [&str; 8] = [
    "involvedObject",
    "reason",
    "message",
    "type",
    "eventTime",
    "action",
    "related",
    "reportingInstance",
];

pub(crate) fn core_event(
    new: &Unstructured,
    _old: Option<&Unstructured>,
    errors: &mut FieldErrors,
) {
    legacy(new, "reportingComponent", errors);
}

pub(crate) fn new_event(new: &Unstructured, old: Option<&Unstructured>, errors: &mut FieldErrors) {
    legacy(new, "reportingController", errors);
    match old {
        None => {
            check_series(new, errors);
            if !is_set(new, "eventTime") {
                errors.required("eventTime", "");
            }
            let event_type = text(new, &["type"]);
            if !["Normal", "Warning"].contains(&event_type) {
                errors.invalid("type", "", &format!("has invalid value: {event_type}"));
            }
            for name in OLD_NAMES.iter().filter(|name| is_set(new, name)) {
                errors.invalid(*name, "", "needs to be unset");
            }
        }
        Some(old) => {
            if new.fields.get("series") != old.fields.get("series") {
                check_series(new, errors);
            }
            for name in FIXED.iter().chain(&OLD_NAMES).chain(&["reportingComponent"]) {
                if new.fields.get(*name) != old.fields.get(*name) {
                    errors.invalid(*name, json!(new.fields.get(*name)), "field is immutable");
                }
            }
        }
    }
}

fn legacy(event: &Unstructured, controller_field: &str, errors: &mut FieldErrors) {
    let namespace = event.namespace().unwrap_or_default();
    let involved = text(event, &["involvedObject", "namespace"]);
    let mismatch = "does not match event.namespace";
    if !is_set(event, "eventTime") {
        let fits = if involved.is_empty() { namespace == "default" } else { namespace == involved };
        if !fits {
            errors.invalid("involvedObject.namespace", involved, mismatch);
        }
    } else {
        if involved.is_empty() && !["default", "kube-system"].contains(&namespace) {
            errors.invalid("involvedObject.namespace", involved, mismatch);
        }
        match text(event, &["reportingComponent"]) {
            "" => errors.required(controller_field, ""),
            name => {
                if let Err(violations) = check_label_key(name) {
                    violations
                        .messages()
                        .iter()
                        .for_each(|why| errors.invalid(controller_field, name, why));
                }
            }
        }
        for name in ["reportingInstance", "action", "reason"] {
            match text(event, &[name]) {
                "" => errors.required(name, ""),
                value if value.len() > 128 => {
                    errors.invalid(name, "", "can have at most 128 characters")
                }
                _ => {}
            }
        }
        if text(event, &["message"]).len() > 1024 {
            errors.invalid("message", "", "can have at most 1024 characters");
        }
    }
}

fn check_series(event: &Unstructured, errors: &mut FieldErrors) {
    let Some(series) = event.fields.get("series").filter(|series| !series.is_null()) else {
        return;
    };
    if series.get("count").and_then(Value::as_i64).unwrap_or(0) < 2 {
        errors.invalid("series.count", "", "should be at least 2");
    }
    if series.get("lastObservedTime").is_none_or(Value::is_null) {
        errors.required("series.lastObservedTime", "");
    }
}

fn text<'a>(event: &'a Unstructured, path: &[&str]) -> &'a str {
    event.field(path).and_then(Value::as_str).unwrap_or_default()
}

fn is_set(event: &Unstructured, name: &str) -> bool {
    match event.fields.get(name) {
        None | Some(Value::Null) => false,
        Some(Value::Object(fields)) => !fields.is_empty(),
        Some(Value::Number(number)) => number.as_i64() != Some(0),
        Some(_) => true,
    }
}
