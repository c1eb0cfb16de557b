//! The options of delete, from the body or else from the query.

use kubewright_meta::{PropagationPolicy, StatusError};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::Call;
use super::write_options::check_dry_run;
use crate::failure::{self, Result};
use crate::validation::FieldErrors;

#[derive(Clone, Debug, Default)]
pub(super) struct DeleteOptions {
    pub(super) grace_period: Option<i64>,
    pub(super) uid: Option<String>,
    pub(super) resource_version: Option<String>,
    pub(super) propagation: Option<PropagationPolicy>,
    /// The old way to say it asks for 202 when the object stays.
    pub(super) accepted_when_it_stays: bool,
    pub(super) dry_run: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Document {
    kind: Option<String>,
    grace_period_seconds: Option<i64>,
    #[serde(deserialize_with = "preconditions")]
    preconditions: Option<Preconditions>,
    orphan_dependents: Option<bool>,
    propagation_policy: Option<String>,
    dry_run: Option<Vec<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Preconditions {
    uid: Option<String>,
    resource_version: Option<String>,
}

impl DeleteOptions {
    pub(super) fn read(call: &Call<'_>) -> Result<Self> {
        if call.body.is_empty() {
            let query = call.query;
            return Self::check(Document {
                grace_period_seconds: query.number("gracePeriodSeconds")?,
                orphan_dependents: query.optional_flag("orphanDependents"),
                propagation_policy: query.text("propagationPolicy").map(str::to_owned),
                dry_run: Some(query.values("dryRun").map(str::to_owned).collect()),
                // The one precondition that a query can tell.
                preconditions: query
                    .text("uid")
                    .map(|uid| Preconditions { uid: Some(uid.to_owned()), resource_version: None }),
                ..Document::default()
            });
        }
        // Through a map, as a list in field order is no document.
        let document = serde_json::from_slice(&call.body).map_err(undecodable)?;
        Self::from_value(Value::Object(document))
    }

    /// From a part of another body, that of an eviction.
    pub(super) fn from_value(value: Value) -> Result<Self> {
        let document = serde_json::from_value(value).map_err(undecodable)?;
        Self::parse(document)
    }

    fn parse(document: Document) -> Result<Self> {
        match document.kind.as_deref() {
            None | Some("" | "DeleteOptions") => Self::check(document),
            Some(_) => {
                Err(failure::bad_request("decoded object cannot be converted to DeleteOptions"))
            }
        }
    }

    fn check(document: Document) -> Result<Self> {
        let mut errors = FieldErrors::default();
        let policy = document.propagation_policy.as_deref();
        if document.orphan_dependents.is_some() && policy.is_some() {
            let why = "orphanDependents and deletionPropagation cannot be both set";
            errors.invalid("propagationPolicy", policy, why);
        }
        let propagation = match (policy, document.orphan_dependents) {
            (None, None) => None,
            (None, Some(true)) | (Some("Orphan"), _) => Some(PropagationPolicy::Orphan),
            (None, Some(false)) | (Some("Background"), _) => Some(PropagationPolicy::Background),
            (Some("Foreground"), _) => Some(PropagationPolicy::Foreground),
            (Some(other), _) => {
                let known = ["Foreground", "Background", "Orphan", "nil"];
                errors.unsupported("propagationPolicy", other, &known);
                None
            }
        };
        let dry_run =
            check_dry_run(document.dry_run.iter().flatten().map(String::as_str), &mut errors);
        if !errors.is_empty() {
            return Err(failure::invalid_options("DeleteOptions", &errors));
        }
        let preconditions = document.preconditions.unwrap_or_default();
        Ok(Self {
            // A real server takes a negative period for a second.
            grace_period: document
                .grace_period_seconds
                .map(|period| if period < 0 { 1 } else { period }),
            uid: preconditions.uid,
            resource_version: preconditions.resource_version,
            propagation,
            accepted_when_it_stays: document.orphan_dependents == Some(false),
            dry_run,
        })
    }
}

/// Through a map too, for the same reason.
fn preconditions<'de, D: Deserializer<'de>>(
    from: D,
) -> std::result::Result<Option<Preconditions>, D::Error> {
    let document = Option::<Map<String, Value>>::deserialize(from)?;
    let read = |document| Preconditions::deserialize(Value::Object(document));
    document.map(read).transpose().map_err(D::Error::custom)
}

fn undecodable(error: serde_json::Error) -> StatusError {
    failure::bad_request(format!("couldn't decode the DeleteOptions: {error}"))
}
