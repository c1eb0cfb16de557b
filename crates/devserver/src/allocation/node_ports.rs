//! Ports that are open on every node for one service.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use serde_json::{Value, json};

use super::{service_type, text};
use crate::kinds::ResourceKind;
use crate::store::State;
use crate::validation::FieldErrors;

const RANGE: RangeInclusive<u16> = 30_000..=32_767;

/// Completes the ports of a service whose type has them on the nodes.
pub(super) fn allocate(
    state: &State,
    kind: &ResourceKind,
    spec: &mut Value,
    old: Option<&Value>,
    errors: &mut FieldErrors,
) {
    let wants = spec.get("allocateLoadBalancerNodePorts") != Some(&json!(false));
    let is_asked = match service_type(spec) {
        "NodePort" => true,
        "LoadBalancer" => wants,
        _ => false,
    };
    let has_health_check =
        service_type(spec) == "LoadBalancer" && text(spec, "externalTrafficPolicy") == "Local";
    if !is_asked && !has_health_check {
        return;
    }
    let own: Vec<(Value, Value, Option<u64>)> = ports(old).map(identity).collect();
    let mut held: BTreeSet<u64> = own.iter().filter_map(|(_, _, number)| *number).collect();
    let others = taken(state, kind);
    if is_asked {
        let mut given: Vec<(Value, Value, Option<u64>)> = Vec::new();
        let list = spec.get_mut("ports").and_then(Value::as_array_mut);
        let list = list.into_iter().flatten().enumerate();
        for (index, port) in list.filter(|(_, port)| port.is_object()) {
            let (number, protocol, asked) = identity(port);
            let at = format!("spec.ports[{index}].nodePort");
            let chosen = match asked {
                Some(asked) => {
                    if !held.contains(&asked) && !shares(&given, asked, &protocol) {
                        check(asked, &others, &at, errors);
                    }
                    Some(asked)
                }
                None => kept(&own, &number, &protocol)
                    .or_else(|| shared(&given, &number, &protocol))
                    .or_else(|| free(&others, &held)),
            };
            match chosen {
                Some(chosen) => {
                    port["nodePort"] = chosen.into();
                    held.insert(chosen);
                    given.push((number, protocol, Some(chosen)));
                }
                None => errors.internal(at, "failed to allocate a nodePort: range is full"),
            }
        }
    }
    if has_health_check && number_at(spec, "healthCheckNodePort").is_none() {
        let before = old.and_then(|old| number_at(old, "healthCheckNodePort"));
        match before.or_else(|| free(&others, &held)) {
            Some(port) => spec["healthCheckNodePort"] = port.into(),
            None => errors.internal("spec.healthCheckNodePort", "range is full"),
        }
    }
}

/// Takes away the ports that were allocated for the old type, unless the client chose others.
pub(super) fn drop_kept(spec: &mut Value, old: &Value) {
    let before: BTreeSet<u64> =
        ports(Some(old)).filter_map(|port| number_at(port, "nodePort")).collect();
    let list = spec.get_mut("ports").and_then(Value::as_array_mut);
    for port in list.into_iter().flatten() {
        if number_at(port, "nodePort").is_some_and(|port| before.contains(&port))
            && let Some(fields) = port.as_object_mut()
        {
            fields.remove("nodePort");
        }
    }
}

fn ports(spec: Option<&Value>) -> impl Iterator<Item = &Value> {
    spec.and_then(|spec| spec.get("ports")).and_then(Value::as_array).into_iter().flatten()
}

/// Port, protocol and node port.
fn identity(port: &Value) -> (Value, Value, Option<u64>) {
    let member = |name: &str| port.get(name).cloned().unwrap_or_default();
    (member("port"), member("protocol"), number_at(port, "nodePort"))
}

/// A number that is set; zero is as good as none.
fn number_at(value: &Value, name: &str) -> Option<u64> {
    value.get(name).and_then(Value::as_u64).filter(|number| *number != 0)
}

type Given = [(Value, Value, Option<u64>)];

/// The node port that the same port has had.
fn kept(own: &Given, number: &Value, protocol: &Value) -> Option<u64> {
    let same = own.iter().find(|own| own.0 == *number && own.1 == *protocol);
    same.and_then(|own| own.2)
}

/// One port for two protocols has one node port.
fn shared(given: &Given, number: &Value, protocol: &Value) -> Option<u64> {
    let candidates = given.iter().filter(|given| given.0 == *number);
    candidates.filter_map(|given| given.2).find(|candidate| shares(given, *candidate, protocol))
}

/// Whether a node port of this service can be used for one more protocol.
fn shares(given: &Given, candidate: u64, protocol: &Value) -> bool {
    let mut users = given.iter().filter(|given| given.2 == Some(candidate)).peekable();
    users.peek().is_some() && users.all(|user| user.1 != *protocol)
}

fn check(asked: u64, others: &BTreeSet<u64>, at: &str, errors: &mut FieldErrors) {
    let is_in_range = u16::try_from(asked).is_ok_and(|asked| RANGE.contains(&asked));
    if !is_in_range {
        let (first, last) = (RANGE.start(), RANGE.end());
        let why = format!(
            "provided port is not in the valid range. The range of valid ports is {first}-{last}"
        );
        errors.invalid(at, asked, &why);
    } else if others.contains(&asked) {
        errors.invalid(at, asked, "provided port is already allocated");
    }
}

/// All node ports of all services.
fn taken(state: &State, kind: &ResourceKind) -> BTreeSet<u64> {
    let services = state.snapshot(kind);
    let with_ports = services.values().filter(|stored| {
        let kind = stored.selectable(kind, "spec.type");
        matches!(kind, Some("NodePort" | "LoadBalancer"))
    });
    let mut taken = BTreeSet::new();
    for service in with_ports.filter_map(|stored| stored.decode().ok()) {
        let spec = service.fields.get("spec");
        taken.extend(ports(spec).filter_map(|port| number_at(port, "nodePort")));
        taken.extend(spec.and_then(|spec| number_at(spec, "healthCheckNodePort")));
    }
    taken
}

fn free(others: &BTreeSet<u64>, held: &BTreeSet<u64>) -> Option<u64> {
    let (first, last) = (u64::from(*RANGE.start()), u64::from(*RANGE.end()));
    let start = fastrand::u64(first..=last);
    (start..=last).chain(first..start).find(|port| !others.contains(port) && !held.contains(port))
}
