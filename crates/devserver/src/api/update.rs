//! What every change of a stored object goes through, whether it came as a replacement or as a patch.

use bytes::Bytes;
use kubewright_meta::{Object, Unstructured};
use serde_json::{Value, json};

use super::Call;
use crate::failure::{self, Result};
use crate::kinds::{GenerationRule, ResourceKind, StatusWrite, Subresource};
use crate::protocol;
use crate::store::{State, Stored};
use crate::validation::{self, FieldErrors};

/// The part of an object that a request may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Main,
    Status,
    /// `spec.finalizers` of a namespace.
    Finalize,
}

impl Part {
    pub(super) fn of(subresource: Option<Subresource>) -> Self {
        match subresource {
            Some(Subresource::Status) => Self::Status,
            Some(Subresource::Finalize) => Self::Finalize,
            _ => Self::Main,
        }
    }
}

pub(super) struct Update<'a> {
    pub(super) call: &'a Call<'a>,
    pub(super) part: Part,
    pub(super) dry_run: bool,
}

impl Update<'_> {
    /// Carries the change from `old` to `new` out, both in their stored form, and gives the result as it is
    /// served. Without a difference nothing happens, not even a new version.
    pub(super) fn apply(
        &self,
        state: &mut State,
        held: &Stored,
        old: Unstructured,
        mut new: Unstructured,
    ) -> Result<Bytes> {
        let kind = self.call.kind();
        check_version(kind, &old, &mut new)?;
        self.put_back(&old, &mut new);
        (kind.rules.defaults)(&mut new);
        let mut errors = FieldErrors::default();
        if self.part == Part::Main {
            (kind.rules.allocate)(state, kind, &mut new, Some(&old), &mut errors);
        }
        raise_generation(kind, &old, &mut new);
        validation::check_updated(kind, &new.metadata, &old.metadata, &mut errors);
        match self.part {
            Part::Main => (kind.rules.validate)(&new, Some(&old), &mut errors),
            Part::Finalize => check_spec_finalizers(&new, &mut errors),
            Part::Status if kind.is_namespace() => check_phase(&old, &new, &mut errors),
            Part::Status => {}
        }
        if !errors.is_empty() {
            return Err(failure::invalid_object(kind, old.name(), &errors));
        }
        if ends_deletion(kind, &old, &new) {
            if !self.dry_run {
                state.remove(kind, &self.call.key())?;
            }
            return protocol::unstored_bytes(kind, new);
        }
        if self.dry_run {
            return protocol::unstored_bytes(kind, new);
        }
        if new.metadata == old.metadata && new.fields == old.fields {
            return protocol::served_bytes(kind, held);
        }
        let stored = state.put(kind, new)?;
        protocol::served_bytes(kind, &stored)
    }

    /// What this request cannot change gets its old value.
    fn put_back(&self, old: &Unstructured, new: &mut Unstructured) {
        let kind = self.call.kind();
        match self.part {
            Part::Main => {
                if kind.status {
                    keep_field("status", old, new);
                }
                if kind.is_namespace() {
                    let finalizers = old.field(&["spec", "finalizers"]).cloned();
                    set_or_remove(new, "finalizers", finalizers);
                }
            }
            Part::Status => {
                let status = new.fields.remove("status");
                new.fields.clone_from(&old.fields);
                set_field(new, "status", status);
                match kind.rules.status_write {
                    StatusWrite::All => {}
                    StatusWrite::AllButLabels => {
                        new.metadata.labels.clone_from(&old.metadata.labels)
                    }
                    StatusWrite::AllButOwners => {
                        new.metadata.owner_references.clone_from(&old.metadata.owner_references);
                        new.metadata.deletion_timestamp = None;
                    }
                    StatusWrite::Nothing => new.metadata.clone_from(&old.metadata),
                }
            }
            Part::Finalize => {
                let finalizers = new.field(&["spec", "finalizers"]).cloned();
                let finalizers = finalizers.filter(|list| *list != json!([]));
                new.fields.clone_from(&old.fields);
                set_or_remove(new, "finalizers", finalizers);
            }
        }
        let (new, old) = (&mut new.metadata, &old.metadata);
        new.name.clone_from(&old.name);
        new.namespace.clone_from(&old.namespace);
        new.generation = old.generation;
        if new.uid.is_none() {
            new.uid.clone_from(&old.uid);
        }
        new.creation_timestamp.clone_from(&old.creation_timestamp);
        if old.deletion_timestamp.is_some() {
            new.deletion_timestamp.clone_from(&old.deletion_timestamp);
        }
        if new.deletion_grace_period_seconds.is_none() {
            new.deletion_grace_period_seconds = old.deletion_grace_period_seconds;
        }
    }
}

/// Optimistic concurrency: a version that is given must be the newest; whether it may be left out depends on
/// the kind.
fn check_version(kind: &ResourceKind, old: &Unstructured, new: &mut Unstructured) -> Result<()> {
    match new.metadata.resource_version.as_deref().filter(|version| *version != "0") {
        Some(given) if given == old.resource_version() => Ok(()),
        Some(given) if given.parse::<u64>().is_err() => {
            let mut errors = FieldErrors::default();
            errors.invalid("metadata.resourceVersion", given, "must be an unsigned integer");
            Err(failure::invalid_object(kind, old.name(), &errors))
        }
        Some(_) => Err(failure::modified(kind, old.name())),
        None if kind.rules.unconditional_update => {
            new.metadata.resource_version.clone_from(&old.metadata.resource_version);
            Ok(())
        }
        None => {
            let mut errors = FieldErrors::default();
            errors.invalid("metadata.resourceVersion", 0, "must be specified for an update");
            // A real server names the resource here, not the kind.
            Err(failure::invalid(&kind.group, &kind.plural, old.name(), &errors))
        }
    }
}

fn raise_generation(kind: &ResourceKind, old: &Unstructured, new: &mut Unstructured) {
    let spec_changed = || new.fields.get("spec") != old.fields.get("spec");
    let changed = match kind.rules.generation {
        GenerationRule::None => false,
        GenerationRule::Spec => spec_changed(),
        GenerationRule::SpecAndAnnotations => {
            spec_changed() || new.metadata.annotations != old.metadata.annotations
        }
        GenerationRule::AllButStatus => {
            let content = |object: &Unstructured| {
                let counts = |name: &str| !(kind.status && name == "status");
                let fields = object.fields.iter().filter(|(name, _)| counts(name));
                fields
                    .map(|(name, value)| (name.clone(), value.clone()))
                    .collect::<Vec<(String, Value)>>()
            };
            content(new) != content(old)
        }
    };
    if changed {
        new.metadata.generation = Some(old.metadata.generation.unwrap_or(0).saturating_add(1));
    }
}

/// A namespace that is ending says so: otherwise new objects could come into it behind its deletion.
fn check_phase(old: &Unstructured, new: &Unstructured, errors: &mut FieldErrors) {
    let (wanted, empty) = match old.metadata.deletion_timestamp {
        Some(_) => ("Terminating", "not empty"),
        None => ("Active", "empty"),
    };
    let phase = new.field(&["status", "phase"]);
    if phase.and_then(Value::as_str) != Some(wanted) {
        let why = format!("may only be '{wanted}' if `deletionTimestamp` is {empty}");
        errors.invalid("status.Phase", json!(phase), &why);
    }
}

fn check_spec_finalizers(namespace: &Unstructured, errors: &mut FieldErrors) {
    let list = namespace.field(&["spec", "finalizers"]).and_then(Value::as_array);
    let names: Vec<String> = list
        .into_iter()
        .flatten()
        .map(|name| name.as_str().unwrap_or_default().to_owned())
        .collect();
    validation::check_standard_finalizers("spec.finalizers", &names, errors);
}

/// Whether this update takes the last obstacle to a deletion away.
fn ends_deletion(kind: &ResourceKind, old: &Unstructured, new: &Unstructured) -> bool {
    let held_by_spec = || {
        new.field(&["spec", "finalizers"])
            .and_then(Value::as_array)
            .is_some_and(|held| !held.is_empty())
    };
    old.metadata.deletion_timestamp.is_some()
        && new.finalizers().is_empty()
        && old.metadata.deletion_grace_period_seconds.unwrap_or(0) == 0
        && !(kind.is_namespace() && held_by_spec())
}

fn keep_field(name: &str, old: &Unstructured, new: &mut Unstructured) {
    set_field(new, name, old.fields.get(name).cloned());
}

fn set_field(object: &mut Unstructured, name: &str, value: Option<Value>) {
    match value {
        Some(value) => object.fields.insert(name.to_owned(), value),
        None => object.fields.remove(name),
    };
}

/// Sets or removes a field of `spec`.
fn set_or_remove(object: &mut Unstructured, name: &str, value: Option<Value>) {
    let spec = object.fields.entry("spec").or_insert_with(|| json!({}));
    if let Some(spec) = spec.as_object_mut() {
        match value {
            Some(value) => spec.insert(name.to_owned(), value),
            None => spec.remove(name),
        };
    }
}
