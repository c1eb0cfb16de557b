//! The status of a ReplicaSet, from its pods.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::apps::v1::{ReplicaSet, ReplicaSetCondition, ReplicaSetStatus};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kubewright::meta::Object;

use super::pod;

const FAILURE: &str = "ReplicaFailure";

/// Why the last round could not create or delete all it wanted.
pub struct Failure {
    /// `FailedCreate` or `FailedDelete`.
    pub reason: &'static str,
    /// What came back.
    pub message: String,
}

/// The status `set` should have, given the pods it has claimed. Timestamps of conditions that did not change
/// stay, so that an equal status compares equal and need not be written.
pub fn calculate(
    set: &ReplicaSet,
    claimed: &[&Pod],
    failure: Option<&Failure>,
    now: Timestamp,
) -> ReplicaSetStatus {
    let active: Vec<&Pod> = claimed.iter().copied().filter(|pod| pod::is_active(pod)).collect();
    let count = |test: &dyn Fn(&Pod) -> bool| to_i32(active.iter().filter(|pod| test(pod)).count());
    let min_ready = min_ready(set);
    let mut status = set.status.clone().unwrap_or_default();
    status.replicas = to_i32(active.len());
    status.fully_labeled_replicas = Some(count(&|pod| has_template_labels(set, pod)));
    status.ready_replicas = Some(count(&pod::is_ready));
    status.available_replicas =
        Some(count(&|pod| pod::available_in(pod, min_ready, now) == Some(Duration::ZERO)));
    status.observed_generation = set.metadata.generation;
    set_failure(&mut status, failure, now);
    status
}

/// Whether writing `wanted` over `current` would change anything; absent counts are zeros.
pub fn differs(current: Option<&ReplicaSetStatus>, wanted: &ReplicaSetStatus) -> bool {
    let empty = ReplicaSetStatus::default();
    let current = current.unwrap_or(&empty);
    let counts = |status: &ReplicaSetStatus| {
        [
            Some(status.replicas),
            status.fully_labeled_replicas,
            status.ready_replicas,
            status.available_replicas,
        ]
        .map(Option::unwrap_or_default)
    };
    let conditions = |status: &ReplicaSetStatus| status.conditions.clone().unwrap_or_default();
    counts(current) != counts(wanted)
        || current.observed_generation != wanted.observed_generation
        || conditions(current) != conditions(wanted)
}

/// `spec.minReadySeconds`.
pub fn min_ready(set: &ReplicaSet) -> Duration {
    let seconds = set.spec.min_ready_seconds.unwrap_or(0);
    Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
}

fn has_template_labels(set: &ReplicaSet, pod: &Pod) -> bool {
    let wanted =
        set.spec.template.as_ref().and_then(|template| template.metadata.as_ref()?.labels.as_ref());
    wanted
        .is_none_or(|wanted| wanted.iter().all(|(key, value)| pod.labels().get(key) == Some(value)))
}

fn set_failure(status: &mut ReplicaSetStatus, failure: Option<&Failure>, now: Timestamp) {
    let mut conditions = status.conditions.take().unwrap_or_default();
    let held = conditions.iter().position(is_failure);
    match (failure, held) {
        (Some(failure), held) => {
            let same =
                held.is_some_and(|at| conditions[at].reason.as_deref() == Some(failure.reason));
            if !same {
                conditions.retain(|condition| !is_failure(condition));
                conditions.push(ReplicaSetCondition {
                    type_: Some(FAILURE.to_owned()),
                    status: Some("True".to_owned()),
                    reason: Some(failure.reason.to_owned()),
                    message: Some(failure.message.clone()),
                    last_transition_time: Some(Time(now)),
                });
            }
        }
        (None, Some(at)) => {
            conditions.remove(at);
        }
        (None, None) => {}
    }
    status.conditions = Some(conditions).filter(|conditions| !conditions.is_empty());
}

fn is_failure(condition: &ReplicaSetCondition) -> bool {
    condition.type_.as_deref() == Some(FAILURE)
}

fn to_i32(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}
