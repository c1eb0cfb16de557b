//! Namespaces decide what may be created in them, and three cannot be deleted.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::StatusCause;
use serde_json::Value;

use crate::failure::{self, Result};
use crate::kinds::{Registry, ResourceKind};
use crate::store::State;

const IMMORTAL: [&str; 3] = ["default", "kube-public", "kube-system"];

/// Whether an object of `kind` may be created in `namespace`: it must exist and not be ending.
pub(super) fn check_create(
    state: &State,
    registry: &Registry,
    kind: &ResourceKind,
    namespace: Option<&str>,
    name: &str,
) -> Result<()> {
    let (Some(namespace), Some(namespaces)) = (namespace, registry.find("", "v1", "namespaces"))
    else {
        return Ok(());
    };
    let Some(held) = state.get(namespaces, namespace) else {
        return Err(failure::not_found(namespaces, namespace));
    };
    let held = held.decode()?;
    if held.field(&["status", "phase"]).and_then(Value::as_str) != Some("Terminating") {
        return Ok(());
    }
    let cause = StatusCause {
        reason: Some("NamespaceTerminating".into()),
        message: Some(format!("namespace {namespace} is being terminated")),
        field: Some("metadata.namespace".into()),
    };
    let why = format!(
        "unable to create new content in namespace {namespace} because it is being terminated"
    );
    Err(failure::forbidden(kind, name, &why, vec![cause]))
}

pub(super) fn check_delete(kind: &ResourceKind, name: &str) -> Result<()> {
    if kind.is_namespace() && IMMORTAL.contains(&name) {
        return Err(failure::forbidden(
            kind,
            name,
            "this namespace may not be deleted",
            Vec::new(),
        ));
    }
    Ok(())
}
