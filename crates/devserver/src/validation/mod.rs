//! What makes an object invalid, and how a server says it.

mod configs;
mod errors;
mod events;
mod metadata;
mod workloads;

pub(crate) use configs::{config_map, secret};
pub(crate) use errors::FieldErrors;
pub(crate) use events::{core_event, new_event};
pub(crate) use metadata::{check_created, check_standard_finalizers, check_updated};
pub(crate) use workloads::{deployment, pod, replica_set};
