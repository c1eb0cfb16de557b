//! The rules of pods and of the kinds that make pods which their controllers rely on.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kubewright_meta::selector::validation::check_dns_label;
use kubewright_meta::{Selector, Unstructured};
use serde_json::{Value, json};

use super::FieldErrors;

const FROZEN_POD: &str = "pod updates may not change fields other than `spec.containers[*].image`,\
                          `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only \
                          additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be \
                          set to 1 if it was previously negative)";

pub(crate) fn pod(new: &Unstructured, old: Option<&Unstructured>, errors: &mut FieldErrors) {
    let spec = new.fields.get("spec").unwrap_or(&Value::Null);
    check_containers(spec, "spec", errors);
    if let Some(old) = old {
        let old = old.fields.get("spec").unwrap_or(&Value::Null);
        if without_changeable(spec) != without_changeable(old) {
            errors.forbidden("spec", FROZEN_POD);
        }
    }
}

pub(crate) fn replica_set(
    new: &Unstructured,
    old: Option<&Unstructured>,
    errors: &mut FieldErrors,
) {
    check_pod_owner(new, old, errors);
}

pub(crate) fn deployment(new: &Unstructured, old: Option<&Unstructured>, errors: &mut FieldErrors) {
    check_pod_owner(new, old, errors);
}

fn check_pod_owner(new: &Unstructured, old: Option<&Unstructured>, errors: &mut FieldErrors) {
    if let Some(replicas) = new.field(&["spec", "replicas"]) {
        match replicas.as_i64() {
            Some(0..) => {}
            Some(_) => {
                errors.invalid(
                    "spec.replicas",
                    replicas.clone(),
                    "must be greater than or equal to 0",
                );
            }
            None => errors.invalid("spec.replicas", replicas.clone(), "must be an integer"),
        }
    }
    let template = new.field(&["spec", "template"]).unwrap_or(&Value::Null);
    match new.field(&["spec", "selector"]).filter(|selector| !selector.is_null()) {
        None => {
            errors.required("spec.selector", "");
            check_labels(&Selector::nothing(), template, errors);
        }
        Some(selector) => check_selector(selector, template, errors),
    }
    let spec = template.get("spec").unwrap_or(&Value::Null);
    check_containers(spec, "spec.template.spec", errors);
    let policy = spec.get("restartPolicy").and_then(Value::as_str);
    if policy.is_some_and(|policy| policy != "Always") {
        errors.unsupported("spec.template.spec.restartPolicy", policy, &["Always"]);
    }
    if let Some(old) = old {
        let selector = new.field(&["spec", "selector"]);
        if selector != old.field(&["spec", "selector"]) {
            errors.invalid("spec.selector", json!(selector), "field is immutable");
        }
    }
}

fn check_selector(selector: &Value, template: &Value, errors: &mut FieldErrors) {
    let parsed =
        serde_json::from_value::<LabelSelector>(selector.clone()).map_err(|e| e.to_string());
    let parsed = parsed.and_then(|parsed| Selector::try_from(&parsed).map_err(|e| e.to_string()));
    match parsed {
        Err(why) => errors.invalid("spec.selector", selector.clone(), &why),
        Ok(parsed) if parsed.is_everything() => {
            errors.invalid(
                "spec.selector",
                selector.clone(),
                "empty selector is invalid for deployment",
            );
        }
        Ok(parsed) => check_labels(&parsed, template, errors),
    }
}

fn check_labels(selector: &Selector, template: &Value, errors: &mut FieldErrors) {
    let labels = template.pointer("/metadata/labels");
    if !selector.matches(&label_map(labels)) {
        let why = "`selector` does not match template `labels`";
        errors.invalid("spec.template.metadata.labels", json!(labels), why);
    }
}

fn label_map(labels: Option<&Value>) -> BTreeMap<String, String> {
    let labels = labels.and_then(Value::as_object).into_iter().flatten();
    labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

fn check_containers(spec: &Value, at: &str, errors: &mut FieldErrors) {
    let containers = spec.get("containers").and_then(Value::as_array);
    let Some(containers) = containers.filter(|containers| !containers.is_empty()) else {
        return errors.required(format!("{at}.containers"), "");
    };
    for (index, container) in containers.iter().enumerate() {
        let text = |field: &str| container.get(field).and_then(Value::as_str).unwrap_or_default();
        let at = |field: &str| format!("{at}.containers[{index}].{field}");
        match text("name") {
            "" => errors.required(at("name"), ""),
            name => {
                if let Err(violations) = check_dns_label(name) {
                    violations
                        .messages()
                        .iter()
                        .for_each(|why| errors.invalid(at("name"), name, why));
                }
            }
        }
        if text("image").is_empty() {
            errors.required(at("image"), "");
        }
    }
}

/// A pod's spec without what an update may change.
fn without_changeable(spec: &Value) -> Value {
    let mut spec = spec.clone();
    if let Some(fields) = spec.as_object_mut() {
        for name in ["activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds"] {
            fields.remove(name);
        }
        for list in ["containers", "initContainers"] {
            let containers = fields.get_mut(list).and_then(Value::as_array_mut);
            for container in containers.into_iter().flatten() {
                if let Some(container) = container.as_object_mut() {
                    container.remove("image");
                    // Derived from the image.
                    container.remove("imagePullPolicy");
                }
            }
        }
    }
    spec
}
