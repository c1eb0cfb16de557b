//! `patch`: JSON patch (RFC 6902) and JSON merge patch (RFC 7386).

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Response, StatusCode};
use json_patch::{AddOperation, PatchOperation, ReplaceOperation};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::StatusDetails;
use kubewright_meta::{PatchType, Reason, StatusError, Unstructured};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::update::{Part, Update};
use super::write_options::WriteOptions;
use super::{Call, create, replace};
use crate::failure::{self, Result};
use crate::object::{self, MAX_DEPTH, is_shallower};
use crate::protocol::{self, Body};
use crate::validation::FieldErrors;

const ACCEPTED: &str = "application/json-patch+json, application/merge-patch+json";
const OPERATIONS_MAX: usize = 10_000;
/// Bytes that the `copy` operations of one patch may copy, about.
const COPIED_MAX: usize = 3 << 20;

pub(super) fn patch(call: &Call<'_>) -> Result<Response<Body>> {
    let kind = call.kind();
    let document = Document::read(call.headers, &call.body)?;
    let options = WriteOptions::read(call.query, "PatchOptions")?;
    let mut state = call.server.store.lock();
    let Some(held) = state.get(kind, &call.key()) else {
        return Err(failure::not_found(kind, call.name()));
    };
    let old = held.decode()?;
    let served =
        serde_json::to_value(object::to_served(kind, old.clone())).map_err(failure::internal)?;
    let result = document.apply(served)?;
    let patched = Unstructured::deserialize(&result)
        .map_err(|error| not_of_the_kind(&result, &error.to_string()))?;
    let mut new = object::tidy(kind, patched)
        .map_err(|refusal| not_of_the_kind(&result, refusal.message()))?;
    replace::check_name(call.name(), &new)?;
    create::check_namespace(call, &mut new)?;
    let update = Update { call, part: Part::of(call.target.subresource), dry_run: options.dry_run };
    let bytes = update.apply(&mut state, &held, old, object::to_stored(kind, new))?;
    Ok(protocol::json(StatusCode::OK, bytes))
}

/// A patch, read and checked.
pub(super) enum Document {
    Json(Vec<PatchOperation>),
    Merge(Value),
}

impl Document {
    pub(super) fn read(headers: &HeaderMap, body: &Bytes) -> Result<Self> {
        let content_type =
            headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        match PatchType::from_content_type(content_type) {
            Some(PatchType::Json) => {
                let operations: Vec<Map<String, Value>> =
                    serde_json::from_slice(body).map_err(undecodable)?;
                let count = operations.len();
                if count > OPERATIONS_MAX {
                    return Err(failure::too_large(&format!(
                        "The allowed maximum operations in a JSON patch is {OPERATIONS_MAX}, got {count}"
                    )));
                }
                // What is no operation is a fault of the content, not of the form.
                let read = |(index, operation)| {
                    serde_json::from_value::<PatchOperation>(Value::Object(operation))
                        .map_err(|error| unprocessable(&format!("operation {index}: {error}")))
                };
                let operations = operations.into_iter().enumerate().map(read);
                Ok(Self::Json(operations.collect::<Result<_>>()?))
            }
            Some(PatchType::Merge) => match serde_json::from_slice(body).map_err(undecodable)? {
                document @ Value::Object(_) => Ok(Self::Merge(document)),
                _ => Err(failure::bad_request(
                    "error decoding patch: a merge patch must be a JSON object",
                )),
            },
            Some(PatchType::Strategic | PatchType::Apply) => {
                Err(failure::unsupported_media_type(&format!(
                    "{ACCEPTED}; the development server does not support {}",
                    content_type.split(';').next().unwrap_or_default().trim()
                )))
            }
            None => Err(failure::unsupported_media_type(ACCEPTED)),
        }
    }

    pub(super) fn apply(&self, mut target: Value) -> Result<Value> {
        match self {
            Self::Merge(document) => json_patch::merge(&mut target, document),
            Self::Json(operations) => {
                let mut copied = 0;
                for (index, operation) in operations.iter().enumerate() {
                    step(&mut target, operation, &mut copied).map_err(|error| {
                        match error.code() {
                            422 => {
                                unprocessable(&format!("operation {index}: {}", error.message()))
                            }
                            _ => error,
                        }
                    })?;
                }
            }
        }
        Ok(target)
    }
}

fn step(target: &mut Value, operation: &PatchOperation, copied: &mut usize) -> Result<()> {
    let depth = operation.path().tokens().count();
    let fits = |value: Option<&Value>| {
        value.is_none_or(|value| depth <= MAX_DEPTH && is_shallower(value, MAX_DEPTH - depth))
    };
    let shallow = match operation {
        // As the server's own library has it: what is not there equals null.
        PatchOperation::Test(test) if test.value.is_null() => {
            return match target.pointer(test.path.as_str()) {
                None | Some(Value::Null) => Ok(()),
                Some(_) => Err(step_failed("testing value failed")),
            };
        }
        PatchOperation::Add(add) => fits(Some(&add.value)),
        PatchOperation::Replace(replace) => fits(Some(&replace.value)),
        PatchOperation::Move(from) => fits(target.pointer(from.from.as_str())),
        PatchOperation::Copy(copy) => {
            let source = target.pointer(copy.from.as_str());
            *copied += source.map_or(0, size);
            if *copied > COPIED_MAX {
                return Err(failure::too_large(&format!(
                    "the patch copies more than {COPIED_MAX} bytes"
                )));
            }
            fits(source)
        }
        _ => true,
    };
    if !shallow {
        return Err(step_failed(&format!(
            "the result would be nested more than {MAX_DEPTH} levels deep"
        )));
    }
    // Also as that library has it: replacing a member that is not there adds it.
    let added = match operation {
        PatchOperation::Replace(ReplaceOperation { path, value })
            if target.pointer(path.as_str()).is_none() =>
        {
            let value = value.clone();
            Some(PatchOperation::Add(AddOperation { path: path.clone(), value }))
        }
        _ => None,
    };
    json_patch::patch(target, std::slice::from_ref(added.as_ref().unwrap_or(operation)))
        .map_err(|error| step_failed(&format!("{} at {:?}", error.kind, error.path.as_str())))
}

/// About how many bytes a value takes as JSON.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 2 + items.iter().map(|item| size(item) + 1).sum::<usize>(),
        Value::Object(fields) => {
            2 + fields.iter().map(|(name, value)| name.len() + 4 + size(value)).sum::<usize>()
        }
        _ => 8,
    }
}

fn undecodable(error: serde_json::Error) -> StatusError {
    failure::bad_request(format!("error decoding patch: {error}"))
}

fn step_failed(why: &str) -> StatusError {
    StatusError::of(Reason::Invalid, why)
}

/// A patch that could be carried out, whose result is no object of the kind.
fn not_of_the_kind(result: &Value, why: &str) -> StatusError {
    let mut errors = FieldErrors::default();
    errors.invalid("patch", result.to_string(), why);
    failure::invalid("", "", "", &errors)
}

/// The words of a real server, and the reason, which that keeps to itself.
pub(super) fn unprocessable(why: &str) -> StatusError {
    let message = "the server rejected our request due to an error in our request";
    StatusError::of(Reason::Invalid, format!("{message}: {why}"))
        .with_details(StatusDetails::default())
}
