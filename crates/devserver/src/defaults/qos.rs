//! The quality-of-service class that follows from what a pod requests and limits.

use std::collections::BTreeMap;

use serde_json::Value;

/// Only these count.
const RESOURCES: [&str; 2] = ["cpu", "memory"];
const CONTAINERS: [&str; 2] = ["containers", "initContainers"];

type Sums = BTreeMap<&'static str, i128>;

/// `Guaranteed`, `Burstable` or `BestEffort`, from a pod's spec.
pub(super) fn class(spec: &Value) -> &'static str {
    let pod_level = spec
        .get("resources")
        .filter(|resources| resources.get("requests").or(resources.get("limits")).is_some());
    let all: Vec<&Value> = match pod_level {
        Some(resources) => vec![resources],
        None => CONTAINERS
            .iter()
            .filter_map(|list| spec.get(list).and_then(Value::as_array))
            .flatten()
            .map(|container| container.get("resources").unwrap_or(&Value::Null))
            .collect(),
    };
    let (mut requests, mut limits) = (Sums::new(), Sums::new());
    let mut all_limited = true;
    for resources in all {
        add(resources.get("requests"), &mut requests);
        let limited = add(resources.get("limits"), &mut limits);
        all_limited &= limited == RESOURCES.len();
    }
    if requests.is_empty() && limits.is_empty() {
        "BestEffort"
    } else if all_limited && requests == limits {
        "Guaranteed"
    } else {
        "Burstable"
    }
}

/// Adds amounts above zero, and tells how many there were.
fn add(amounts: Option<&Value>, sums: &mut Sums) -> usize {
    let mut count = 0;
    for resource in RESOURCES {
        let amount = amounts.and_then(|amounts| amounts.get(resource));
        if let Some(amount) = amount.and_then(nanos).filter(|amount| *amount > 0) {
            let sum = sums.entry(resource).or_default();
            *sum = sum.saturating_add(amount);
            count += 1;
        }
    }
    count
}

/// A Kubernetes quantity in billionths; what is none counts for nothing.
fn nanos(value: &Value) -> Option<i128> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let end = text
        .find(|char: char| !char.is_ascii_digit() && !['+', '-', '.'].contains(&char))
        .unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let factor = match suffix {
        "n" => 1,
        "u" => 1_000,
        "m" => 1_000_000,
        "" => power(10, 9)?,
        "k" => power(10, 12)?,
        "M" => power(10, 15)?,
        "G" => power(10, 18)?,
        "T" => power(10, 21)?,
        "P" => power(10, 24)?,
        "E" => power(10, 27)?,
        "Ki" => power(1024, 1)? * power(10, 9)?,
        "Mi" => power(1024, 2)? * power(10, 9)?,
        "Gi" => power(1024, 3)? * power(10, 9)?,
        "Ti" => power(1024, 4)? * power(10, 9)?,
        "Pi" => power(1024, 5)? * power(10, 9)?,
        "Ei" => power(1024, 6)? * power(10, 9)?,
        exponent => {
            let exponent: i32 = exponent.strip_prefix(['e', 'E'])?.parse().ok()?;
            power(10, u32::try_from(exponent.checked_add(9)?).ok()?)?
        }
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    let scale = power(10, u32::try_from(fraction.len()).ok()?)?;
    Some(digits.checked_mul(factor)? / scale)
}

fn power(base: i128, exponent: u32) -> Option<i128> {
    base.checked_pow(exponent)
}

#[cfg(test)]
#[path = "qos_tests.rs"]
mod tests;
