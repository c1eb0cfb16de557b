//! One resource under two names: events, served by core v1 and by events.k8s.io/v1 over the same objects.

use kubewright_meta::Unstructured;
use serde_json::{Map, Value};

/// The served form has other names for some top-level fields than the stored one.
#[derive(Debug)]
pub(crate) struct Conversion {
    pub(crate) stored_group: &'static str,
    pub(crate) stored_plural: &'static str,
    pub(crate) stored_api_version: &'static str,
    /// Pairs of stored and served names.
    names: &'static [(&'static str, &'static str)],
    /// Stored fields that the served form leaves out when they are empty texts.
    optional: &'static [&'static str],
}

pub(super) static EVENTS: Conversion = Conversion {
    stored_group: "",
    stored_plural: "events",
    stored_api_version: "v1",
    names: &[
        ("involvedObject", "regarding"),
        ("message", "note"),
        ("source", "deprecatedSource"),
        ("firstTimestamp", "deprecatedFirstTimestamp"),
        ("lastTimestamp", "deprecatedLastTimestamp"),
        ("count", "deprecatedCount"),
        ("reportingComponent", "reportingController"),
    ],
    optional: &["reportingComponent", "reportingInstance"],
};

impl Conversion {
    pub(crate) fn to_stored(&self, mut object: Unstructured) -> Unstructured {
        object.types.api_version = self.stored_api_version.to_owned();
        object.fields = rename(object.fields, |name| {
            self.names.iter().find(|(_, served)| *served == name).map(|(stored, _)| *stored)
        });
        object
    }

    pub(crate) fn to_served(&self, mut object: Unstructured, api_version: String) -> Unstructured {
        object.types.api_version = api_version;
        object.fields.retain(|name, value| *value != "" || !self.optional.contains(&name.as_str()));
        object.fields = rename(object.fields, |name| {
            self.names.iter().find(|(stored, _)| *stored == name).map(|(_, served)| *served)
        });
        object
    }
}

fn rename(
    fields: Map<String, Value>,
    new_name: impl Fn(&str) -> Option<&'static str>,
) -> Map<String, Value> {
    fields
        .into_iter()
        .map(|(name, value)| (new_name(&name).map_or(name, str::to_owned), value))
        .collect()
}
