//! Which pods go first when there are too many.
//!
//! The order is that of Kubernetes' own controller: a pod whose loss costs least goes first. Each rule only
//! speaks where all the rules before it were even.

use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kubewright::meta::Object;

use super::pod::{is_ready, phase, ready_since, restarts};

/// The annotation by which a user says what a pod's loss costs: an integer, 0 where absent.
pub const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// Chooses `count` of `pods` to delete. `related` are the pods of every ReplicaSet of the same owner, `pods`
/// included: they count for how crowded a node is, so that a rolling update spreads well.
pub fn choose<'a>(
    pods: &[&'a Pod],
    related: &[&Pod],
    count: usize,
    now: Timestamp,
) -> Vec<&'a Pod> {
    if count >= pods.len() {
        return pods.to_vec();
    }
    let mut per_node: HashMap<&str, usize> = HashMap::new();
    for pod in related.iter().filter(|pod| super::pod::is_active(pod)) {
        *per_node.entry(node(pod)).or_default() += 1;
    }
    let mut ranked: Vec<(&Pod, usize)> =
        pods.iter().map(|pod| (*pod, per_node.get(node(pod)).copied().unwrap_or(0))).collect();
    ranked.sort_by(|(a, crowd_a), (b, crowd_b)| compare(a, *crowd_a, b, *crowd_b, now));
    ranked.into_iter().take(count).map(|(pod, _)| pod).collect()
}

/// `Less` where `a` should go before `b`.
fn compare(a: &Pod, crowd_a: usize, b: &Pod, crowd_b: usize, now: Timestamp) -> Ordering {
    is_assigned(a)
        .cmp(&is_assigned(b))
        .then_with(|| phase_rank(a).cmp(&phase_rank(b)))
        .then_with(|| is_ready(a).cmp(&is_ready(b)))
        .then_with(|| deletion_cost(a).cmp(&deletion_cost(b)))
        .then_with(|| crowd_b.cmp(&crowd_a))
        .then_with(|| {
            if is_ready(a) && is_ready(b) {
                age_rank(ready_since(a), now).cmp(&age_rank(ready_since(b), now))
            } else {
                Ordering::Equal
            }
        })
        .then_with(|| Reverse(restarts(a)).cmp(&Reverse(restarts(b))))
        .then_with(|| age_rank(created(a), now).cmp(&age_rank(created(b), now)))
}

/// Time in doublings of seconds, so that pods of nearly the same age count as even; a pod that does not say
/// since when counts as youngest.
fn age_rank(since: Option<Timestamp>, now: Timestamp) -> u32 {
    let seconds = since.map_or(0, |since| now.duration_since(since).as_secs().max(0));
    u64::try_from(seconds).unwrap_or(0).checked_ilog2().map_or(0, |rank| rank + 1)
}

fn node(pod: &Pod) -> &str {
    pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).unwrap_or_default()
}

fn is_assigned(pod: &Pod) -> bool {
    !node(pod).is_empty()
}

fn phase_rank(pod: &Pod) -> u8 {
    match phase(pod) {
        "Pending" => 0,
        "Running" => 2,
        _ => 1,
    }
}

/// A cost that is no integer counts as none, as the API server would refuse it anyway.
fn deletion_cost(pod: &Pod) -> i32 {
    pod.annotations().get(DELETION_COST).and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn created(pod: &Pod) -> Option<Timestamp> {
    pod.metadata.creation_timestamp.as_ref().map(|time| time.0)
}
