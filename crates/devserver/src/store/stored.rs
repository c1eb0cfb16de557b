//! One version of an object, encoded, with what selectors ask of it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use bytes::Bytes;
use kubewright_meta::{FieldSelector, Selector, Unstructured};
use serde_json::Value;

use super::ChangeKind;
use crate::failure::{self, Result};
use crate::kinds::{FieldSource, ResourceKind};
use crate::object;

pub(crate) struct Stored {
    pub(crate) revision: u64,
    /// The line of a watch that announces this version.
    frame: Bytes,
    /// The part of `frame` that is the object.
    object: Bytes,
    labels: BTreeMap<String, String>,
    /// In the order of the kind's fields.
    fields: Box<[Box<str>]>,
}

impl Stored {
    /// Encodes an object, whose resourceVersion is already `revision`.
    pub(crate) fn new(
        kind: &ResourceKind,
        change: ChangeKind,
        revision: u64,
        mut object: Unstructured,
    ) -> Result<Self> {
        let mut frame = Vec::with_capacity(512);
        frame.extend_from_slice(change.frame_start().as_bytes());
        let start = frame.len();
        object::encode_into(kind, &object, &mut frame)?;
        let end = frame.len();
        frame.extend_from_slice(FRAME_END.as_bytes());
        let frame = Bytes::from(frame);
        Ok(Self {
            revision,
            object: frame.slice(start..end),
            frame,
            fields: kind.fields.iter().map(|field| read(&field.source, &object).into()).collect(),
            labels: object.metadata.labels.take().unwrap_or_default(),
        })
    }

    /// The object as JSON, in its stored form.
    pub(crate) fn bytes(&self) -> &Bytes {
        &self.object
    }

    /// The watch frame of the change that made this version.
    pub(crate) fn frame(&self) -> &Bytes {
        &self.frame
    }

    pub(crate) fn decode(&self) -> Result<Unstructured> {
        let mut object: Unstructured =
            serde_json::from_slice(&self.object).map_err(failure::internal)?;
        // An absent map and an empty one are the same; only one of them is written.
        object.metadata.labels.take_if(|labels| labels.is_empty());
        Ok(object)
    }

    pub(crate) fn matches_labels(&self, selector: &Selector) -> bool {
        selector.matches(&self.labels)
    }

    /// What field selectors see under `label`.
    pub(crate) fn selectable(&self, kind: &ResourceKind, label: &str) -> Option<&str> {
        let at = kind.fields.iter().position(|field| field.label == label)?;
        // Not there if the kind was registered with this field after the object was written.
        self.fields.get(at).map(AsRef::as_ref)
    }

    /// Whether the fields match, as `kind` names them. `key` is the object's in the store.
    pub(crate) fn matches_fields(
        &self,
        kind: &ResourceKind,
        key: &str,
        selector: &FieldSelector,
    ) -> bool {
        selector.is_everything()
            || selector.matches(|label| {
                let (namespace, name) = key.split_once('/').unwrap_or(("", key));
                Some(Cow::Borrowed(match label {
                    "metadata.name" => name,
                    "metadata.namespace" => namespace,
                    label => self.selectable(kind, label)?,
                }))
            })
    }
}

pub(crate) const FRAME_END: &str = "}\n";

fn read(source: &FieldSource, object: &Unstructured) -> String {
    let text = |path: &str| match object::at_path(object, path) {
        Some(Value::String(text)) => Some(text.clone()),
        Some(value @ (Value::Bool(_) | Value::Number(_))) => Some(value.to_string()),
        _ => None,
    };
    match source {
        FieldSource::Path(path, missing) => text(path).unwrap_or_else(|| (*missing).to_owned()),
        FieldSource::EventSource => {
            text("source.component").or_else(|| text("reportingComponent")).unwrap_or_default()
        }
    }
}
