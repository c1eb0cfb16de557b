//! What a server gives to services: cluster addresses and node ports, each to one service only.
//!
//! Nothing is remembered besides the services themselves; a free one is found by asking them.

mod node_ports;

use std::collections::HashSet;
use std::net::Ipv4Addr;

use kubewright_meta::Unstructured;
use serde_json::{Value, json};

use crate::kinds::ResourceKind;
use crate::store::State;
use crate::validation::FieldErrors;

/// `10.96.0.0/16`.
const RANGE: Ipv4Addr = Ipv4Addr::new(10, 96, 0, 0);
const RANGE_BITS: u8 = 16;
/// Addresses below this place in the range are only given to those who ask for them.
const FIRST_FREE: u32 = 256;
const LAST: u32 = (1 << (32 - RANGE_BITS)) - 2;
const HEADLESS: &str = "None";
/// As field selectors name it.
const CLUSTER_IP: &str = "spec.clusterIP";

/// Completes a service: what it keeps from its old version, its address, and its ports on the nodes.
pub(crate) fn service(
    state: &State,
    kind: &ResourceKind,
    new: &mut Unstructured,
    old: Option<&Unstructured>,
    errors: &mut FieldErrors,
) {
    let none = json!({});
    let old_spec = old.map(|old| old.fields.get("spec").unwrap_or(&none));
    let Some(spec) = new.fields.get_mut("spec").filter(|spec| spec.is_object()) else {
        return;
    };
    if let Some(old) = old_spec {
        drop_what_its_type_lacks(spec, old);
        keep_address(spec, old);
    }
    if service_type(spec) == "ExternalName" {
        return;
    }
    families(spec, errors);
    address(state, kind, spec, old_spec, errors);
    node_ports::allocate(state, kind, spec, old_spec, errors);
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn service_type(spec: &Value) -> &str {
    text(spec, "type")
}

fn remove(spec: &mut Value, names: &[&str]) {
    if let Some(fields) = spec.as_object_mut() {
        names.iter().for_each(|name| {
            fields.remove(*name);
        });
    }
}

/// A service that changes its type loses what the new type has no use for, unless the client changed it too.
fn drop_what_its_type_lacks(spec: &mut Value, old: &Value) {
    let (new_type, old_type) = (service_type(spec).to_owned(), service_type(old));
    if new_type == old_type {
        return;
    }
    let mut useless = Vec::new();
    if new_type == "ExternalName" {
        useless.extend([
            "clusterIP",
            "clusterIPs",
            "ipFamilies",
            "ipFamilyPolicy",
            "internalTrafficPolicy",
        ]);
    }
    if !["NodePort", "LoadBalancer"].contains(&&*new_type) {
        useless.push("externalTrafficPolicy");
        node_ports::drop_kept(spec, old);
    }
    if new_type != "LoadBalancer" {
        useless.extend([
            "allocateLoadBalancerNodePorts",
            "healthCheckNodePort",
            "loadBalancerClass",
        ]);
    }
    useless.retain(|name| spec.get(name) == old.get(*name));
    remove(spec, &useless);
}

/// An update that does not say otherwise keeps address and families.
fn keep_address(spec: &mut Value, old: &Value) {
    if [service_type(spec), service_type(old)].contains(&"ExternalName") {
        return;
    }
    let changed = |name: &str| spec.get(name) != old.get(name);
    if changed("clusterIP") && !changed("clusterIPs") && !text(spec, "clusterIP").is_empty() {
        remove(spec, &["clusterIPs"]);
    } else if text(spec, "clusterIP").is_empty() && spec.get("clusterIPs").is_none() {
        for name in ["clusterIP", "clusterIPs"] {
            if let Some(value) = old.get(name) {
                spec[name] = value.clone();
            }
        }
    }
    for name in ["ipFamilies", "ipFamilyPolicy"] {
        if let (None, Some(value)) = (spec.get(name), old.get(name)) {
            spec[name] = value.clone();
        }
    }
}

/// The server has IPv4 only; headless services without pods of their own may be anything.
fn families(spec: &mut Value, errors: &mut FieldErrors) {
    let selects = spec
        .get("selector")
        .and_then(Value::as_object)
        .is_some_and(|selector| !selector.is_empty());
    let free = text(spec, "clusterIP") == HEADLESS && !selects;
    if text(spec, "ipFamilyPolicy").is_empty() {
        let policy = if free { "RequireDualStack" } else { "SingleStack" };
        spec["ipFamilyPolicy"] = policy.into();
    }
    if !free && text(spec, "ipFamilyPolicy") == "RequireDualStack" {
        let why = "this cluster is not configured for dual-stack services";
        errors.invalid("spec.ipFamilyPolicy", "RequireDualStack", why);
    }
    let given = spec.get("ipFamilies").and_then(Value::as_array);
    if given.is_none_or(Vec::is_empty) {
        let both = free && text(spec, "ipFamilyPolicy") != "SingleStack";
        let families: &[&str] = if both { &["IPv4", "IPv6"] } else { &["IPv4"] };
        spec["ipFamilies"] = json!(families);
    }
}

fn address(
    state: &State,
    kind: &ResourceKind,
    spec: &mut Value,
    old: Option<&Value>,
    errors: &mut FieldErrors,
) {
    let given = text(spec, "clusterIP").to_owned();
    match spec.get("clusterIPs").and_then(Value::as_array) {
        Some(list) if !list.is_empty() => {
            let list = Value::from(list.clone());
            if given.is_empty() {
                let why = "must be empty when `clusterIP` is not specified";
                return errors.invalid("spec.clusterIPs", list, why);
            }
            if list[0] != given.as_str() {
                return errors.invalid("spec.clusterIPs[0]", list, "must match `clusterIP`");
            }
        }
        _ if !given.is_empty() => spec["clusterIPs"] = json!([given]),
        _ => {}
    }
    let before = old.map(|old| text(old, "clusterIP")).filter(|before| !before.is_empty());
    if let Some(before) = before {
        if before != given {
            let list = spec["clusterIPs"].clone();
            errors.invalid("spec.clusterIPs[0]", list, "may not change once set");
        }
        return;
    }
    if given == HEADLESS {
        return;
    }
    if given.is_empty() {
        match free_address(state, kind) {
            Some(address) => {
                spec["clusterIPs"] = json!([address]);
                spec["clusterIP"] = address.into();
            }
            None => {
                errors.internal("spec.clusterIPs", "failed to allocate a serviceIP: range is full")
            }
        }
        return;
    }
    let problem = match given.parse::<Ipv4Addr>() {
        Err(_) => {
            let why = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
            return errors.invalid("spec.clusterIPs[0]", given, why);
        }
        Ok(address) if (address.to_bits() ^ RANGE.to_bits()) >> (32 - RANGE_BITS) != 0 => {
            "the provided network does not match the current range".to_owned()
        }
        Ok(address) if !is_in_range(address) => format!(
            "the provided IP ({given}) is not in the valid range. The range of valid IPs is {RANGE}/{RANGE_BITS}"
        ),
        Ok(_) if is_taken(state, kind, &given) => "provided IP is already allocated".to_owned(),
        Ok(_) => return,
    };
    let list = spec["clusterIPs"].clone();
    let why = format!("failed to allocate IP {given}: {problem}");
    errors.invalid("spec.clusterIPs", list, &why);
}

fn is_in_range(address: Ipv4Addr) -> bool {
    let place = address.to_bits().wrapping_sub(RANGE.to_bits());
    (1..=LAST).contains(&place)
}

fn is_taken(state: &State, kind: &ResourceKind, address: &str) -> bool {
    let services = state.snapshot(kind);
    services.values().any(|stored| stored.selectable(kind, CLUSTER_IP) == Some(address))
}

/// A random one first, so that deleted services' addresses rest; the next free one if it is taken.
fn free_address(state: &State, kind: &ResourceKind) -> Option<String> {
    let services = state.snapshot(kind);
    let taken: HashSet<&str> =
        services.values().filter_map(|stored| stored.selectable(kind, CLUSTER_IP)).collect();
    let start = fastrand::u32(FIRST_FREE..=LAST);
    (start..=LAST)
        .chain(FIRST_FREE..start)
        .map(|place| Ipv4Addr::from_bits(RANGE.to_bits() + place).to_string())
        .find(|address| !taken.contains(address.as_str()))
}
