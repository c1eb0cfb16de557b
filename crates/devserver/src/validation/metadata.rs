//! The rules of `metadata` that hold for every kind.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kubewright_meta::GroupVersion;
use kubewright_meta::selector::validation::{
    Violations, check_dns_1035_label, check_dns_label, check_dns_subdomain, check_label_key,
    check_label_value, check_path_segment,
};
use serde_json::{Value, json};

use super::FieldErrors;
use crate::kinds::{NameRule, ResourceKind};

const ANNOTATIONS_MAX: usize = 256 << 10;
const IMMUTABLE: &str = "field is immutable";
const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// The metadata of an object about to be created, its name already generated.
pub(crate) fn check_created(kind: &ResourceKind, meta: &ObjectMeta, errors: &mut FieldErrors) {
    let rule = match kind.rules.name {
        NameRule::Subdomain => check_dns_subdomain,
        NameRule::Label => check_dns_label,
        NameRule::Label1035 => check_dns_1035_label,
        NameRule::PathSegment => check_path_segment,
    };
    if let Some(base) = meta.generate_name.as_deref() {
        // The last character need not be fit to be one, as more follow.
        let verdict = match base.strip_suffix('-') {
            Some(start) => rule(&format!("{start}a")),
            None => rule(base),
        };
        report(verdict, "metadata.generateName", base, errors);
    }
    match meta.name.as_deref().unwrap_or_default() {
        "" => errors.required("metadata.name", "name or generateName is required"),
        name => report(rule(name), "metadata.name", name, errors),
    }
    if !kind.custom {
        let finalizers = meta.finalizers.as_deref().unwrap_or_default();
        check_standard_finalizers("metadata.finalizers", finalizers, errors);
    }
    check_common(meta, errors);
}

/// The metadata of an update, after what clients cannot change was put back.
pub(crate) fn check_updated(
    kind: &ResourceKind,
    new: &ObjectMeta,
    old: &ObjectMeta,
    errors: &mut FieldErrors,
) {
    check_common(new, errors);
    if !kind.custom {
        let finalizers = new.finalizers.as_deref().unwrap_or_default();
        check_standard_finalizers("metadata.finalizers", finalizers, errors);
    }
    if old.deletion_timestamp.is_some() {
        let held = old.finalizers.as_deref().unwrap_or_default();
        let mut added: Vec<&String> =
            new.finalizers.iter().flatten().filter(|finalizer| !held.contains(finalizer)).collect();
        added.sort();
        if !added.is_empty() {
            let list: Vec<String> =
                added.iter().map(|finalizer| format!("{finalizer:?}")).collect();
            errors.forbidden(
                "metadata.finalizers",
                &format!(
                    "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                    list.join(", ")
                ),
            );
        }
    }
    if new.uid != old.uid {
        errors.invalid("metadata.uid", json!(new.uid), IMMUTABLE);
    }
    if new.deletion_timestamp != old.deletion_timestamp {
        errors.invalid("metadata.deletionTimestamp", json!(new.deletion_timestamp), IMMUTABLE);
    }
    if new.deletion_grace_period_seconds != old.deletion_grace_period_seconds {
        let value = json!(new.deletion_grace_period_seconds);
        errors.invalid("metadata.deletionGracePeriodSeconds", value, IMMUTABLE);
    }
}

fn check_common(meta: &ObjectMeta, errors: &mut FieldErrors) {
    for (key, value) in meta.labels.iter().flatten() {
        report(check_label_key(key), "metadata.labels", key, errors);
        report(check_label_value(value), "metadata.labels", value, errors);
    }
    let mut size = 0;
    for (key, value) in meta.annotations.iter().flatten() {
        size += key.len() + value.len();
        report(check_label_key(&key.to_lowercase()), "metadata.annotations", key, errors);
    }
    if size > ANNOTATIONS_MAX {
        errors.too_long("metadata.annotations", ANNOTATIONS_MAX);
    }
    check_owners(meta.owner_references.as_deref().unwrap_or_default(), errors);
    check_finalizers(meta.finalizers.as_deref().unwrap_or_default(), errors);
}

fn check_owners(owners: &[OwnerReference], errors: &mut FieldErrors) {
    let all = "metadata.ownerReferences";
    let mut controller: Option<&OwnerReference> = None;
    let mut is_told = false;
    for (index, owner) in owners.iter().enumerate() {
        let at = |field: &str| format!("{all}[{index}].{field}");
        let version = owner.api_version.as_str();
        if !version.is_empty() && version.parse::<GroupVersion>().is_err() {
            let why = "must be <group>/<version> or <version>";
            errors.invalid(at("apiVersion"), version, why);
        }
        let (kind, name, uid) = (&owner.kind, &owner.name, &owner.uid);
        for (field, value) in
            [("apiVersion", version), ("kind", kind), ("name", name), ("uid", uid)]
        {
            if value.is_empty() {
                errors.required(at(field), "must not be empty");
            }
        }
        if version == "v1" && owner.kind == "Event" {
            let why = "/v1, Kind=Event is disallowed from being an owner";
            errors.invalid(format!("{all}[{index}]"), json!(owner), why);
        }
        if owner.controller == Some(true) {
            // Said once, as it comes with the whole list: for thousands of them it would fill the memory.
            if let Some(first) = controller.filter(|_| !is_told) {
                is_told = true;
                let why = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {}/{} and {}/{}",
                    first.kind, first.name, owner.kind, owner.name
                );
                errors.invalid(all, json!(owners), &why);
            }
            controller = controller.or(Some(owner));
        }
    }
}

/// Built-in kinds take only their own short finalizer names, and so does the `spec.finalizers` of a namespace.
pub(crate) fn check_standard_finalizers(
    field: &str,
    finalizers: &[String],
    errors: &mut FieldErrors,
) {
    for (index, finalizer) in finalizers.iter().enumerate() {
        if !finalizer.contains('/') && !["kubernetes", ORPHAN, FOREGROUND].contains(&&**finalizer) {
            let why = "name is neither a standard finalizer name nor is it fully qualified";
            errors.invalid(format!("{field}[{index}]"), finalizer.as_str(), why);
        }
    }
}

fn check_finalizers(finalizers: &[String], errors: &mut FieldErrors) {
    for finalizer in finalizers {
        report(check_label_key(finalizer), "metadata.finalizers", finalizer, errors);
    }
    let has = |wanted: &str| finalizers.iter().any(|finalizer| finalizer == wanted);
    if has(ORPHAN) && has(FOREGROUND) {
        let why = format!("finalizer {ORPHAN} and {FOREGROUND} cannot be both set");
        errors.invalid("metadata.finalizers", Value::from(finalizers.to_vec()), &why);
    }
}

fn report(verdict: Result<(), Violations>, field: &str, value: &str, errors: &mut FieldErrors) {
    if let Err(violations) = verdict {
        for message in violations.messages() {
            errors.invalid(field, value, message);
        }
    }
}
