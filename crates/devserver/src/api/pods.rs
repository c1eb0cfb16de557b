//! What pods alone have: `/binding` gives one to a node, `/eviction` asks for its end.

use http::{Response, StatusCode};
use kubewright_meta::{Object, Unstructured};
use serde_json::{Value, json};

use super::delete::delete_one;
use super::delete_options::DeleteOptions;
use super::write_options::WriteOptions;
use super::{Call, replace};
use crate::failure::{self, Result};
use crate::protocol::{self, Body};

/// Sets `spec.nodeName`, once.
pub(super) fn bind(call: &Call<'_>) -> Result<Response<Body>> {
    let options = WriteOptions::read(call.query, "CreateOptions")?;
    let binding = read(call, "Binding")?;
    let node =
        binding.field(&["target", "name"]).and_then(Value::as_str).unwrap_or_default().to_owned();
    let target_kind =
        binding.field(&["target", "kind"]).and_then(Value::as_str).unwrap_or_default();
    if node.is_empty() || !["", "Node"].contains(&target_kind) {
        return Err(failure::bad_request("a Binding needs a target of kind Node with a name"));
    }
    let kind = call.kind();
    let mut state = call.server.store.lock();
    let Some(held) = state.get(kind, &call.key()) else {
        return Err(failure::not_found(kind, call.name()));
    };
    let mut pod = held.decode()?;
    check_preconditions(call, &binding, &pod)?;
    let assigned = pod.field(&["spec", "nodeName"]).and_then(Value::as_str).unwrap_or_default();
    let refused = if pod.metadata.deletion_timestamp.is_some() {
        Some(format!("pod {} is being deleted, cannot be assigned to a host", pod.name()))
    } else if !assigned.is_empty() {
        Some(format!("pod {} is already assigned to node {assigned:?}", pod.name()))
    } else {
        let gates = pod.field(&["spec", "schedulingGates"]).and_then(Value::as_array);
        let gated = gates.is_some_and(|gates| !gates.is_empty());
        gated.then(|| format!("pod {} has non-empty .spec.schedulingGates", pod.name()))
    };
    if let Some(why) = refused {
        return Err(failure::conflict_on(kind, "binding", call.name(), &why));
    }
    pod.set_field(&["spec", "nodeName"], node);
    for (name, value) in binding.metadata.annotations.into_iter().flatten() {
        pod.metadata.annotations.get_or_insert_default().insert(name, value);
    }
    for (name, value) in binding.metadata.labels.into_iter().flatten() {
        pod.metadata.labels.get_or_insert_default().insert(name, value);
    }
    mark_scheduled(&mut pod, &json!(call.server.clock.timestamp()));
    if !options.dry_run {
        state.put(kind, pod)?;
    }
    Ok(protocol::success(StatusCode::CREATED))
}

/// Deletes the pod with the options in the body. There are no disruption budgets to ask.
pub(super) fn evict(call: &Call<'_>) -> Result<Response<Body>> {
    let options = WriteOptions::read(call.query, "CreateOptions")?;
    let eviction = read(call, "Eviction")?;
    let given = eviction.fields.get("deleteOptions").filter(|given| !given.is_null());
    let mut delete = given.cloned().map(DeleteOptions::from_value).transpose()?.unwrap_or_default();
    delete.dry_run |= options.dry_run;
    let mut state = call.server.store.lock();
    delete_one(&mut state, &call.server.clock, call.kind(), &call.key(), call.name(), &delete)?;
    Ok(protocol::success(StatusCode::CREATED))
}

/// Reads the body, which names the pod of the path or nothing.
fn read(call: &Call<'_>, kind: &str) -> Result<Unstructured> {
    let body: Unstructured = serde_json::from_slice(&call.body).map_err(|error| {
        failure::bad_request(format!("the object provided is not a {kind}: {error}"))
    })?;
    if !body.types.kind.is_empty() && body.types.kind != kind {
        let (given, version) = (&body.types.kind, &body.types.api_version);
        return Err(failure::bad_request(format!(
            "{given} in version {version:?} cannot be handled as a {kind}"
        )));
    }
    if !body.name().is_empty() {
        replace::check_name(call.name(), &body)?;
    }
    Ok(body)
}

fn check_preconditions(call: &Call<'_>, binding: &Unstructured, pod: &Unstructured) -> Result<()> {
    let pairs = [
        ("UID", binding.uid(), pod.uid()),
        ("ResourceVersion", binding.resource_version(), pod.resource_version()),
    ];
    for (name, wanted, held) in pairs {
        if !wanted.is_empty() && wanted != held {
            let why = format!(
                "Precondition failed: {name} in precondition: {wanted}, {name} in object meta: {held}"
            );
            return Err(failure::conflict(call.kind(), call.name(), &why));
        }
    }
    Ok(())
}

fn mark_scheduled(pod: &mut Unstructured, now: &Value) {
    let condition = json!({"type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": now});
    let held = pod.field(&["status", "conditions"]).and_then(Value::as_array);
    let others =
        held.into_iter().flatten().filter(|held| held.get("type") != condition.get("type"));
    let conditions: Vec<Value> = others.cloned().chain([condition.clone()]).collect();
    pod.set_field(&["status", "conditions"], conditions);
}
