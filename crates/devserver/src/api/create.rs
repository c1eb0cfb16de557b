//! `create`.

use http::{Response, StatusCode};
use kubewright_meta::{Object, Unstructured};

use super::write_options::WriteOptions;
use super::{Call, admission};
use crate::clock::Clock;
use crate::failure::{self, Result};
use crate::kinds::{GenerationRule, ResourceKind};
use crate::object;
use crate::protocol::{self, Body};
use crate::store::{State, key_of};
use crate::validation::{self, FieldErrors};

/// Kubernetes' letters for generated names: no vowels, nothing that looks like another.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
const SUFFIX: usize = 5;
const BASE_MAX: usize = 63 - SUFFIX;
const ATTEMPTS: usize = 8;

pub(super) fn create(call: &Call<'_>) -> Result<Response<Body>> {
    let options = WriteOptions::read(call.query, "CreateOptions")?;
    let object = object::decode(call.kind(), &call.body)?;
    let mut state = call.server.store.lock();
    insert(call, &mut state, object, options)
}

/// Creates an object given in its served form.
pub(super) fn insert(
    call: &Call<'_>,
    state: &mut State,
    mut object: Unstructured,
    options: WriteOptions,
) -> Result<Response<Body>> {
    let kind = call.kind();
    check_namespace(call, &mut object)?;
    let metadata = &mut object.metadata;
    if metadata.resource_version.is_some() {
        return Err(failure::bad_request(
            "resourceVersion should not be set on objects to be created",
        ));
    }
    let base = metadata.generate_name.clone().filter(|_| metadata.name.is_none());
    if let Some(base) = &base {
        metadata.name = Some(free_name(state, call, base));
    }
    let name = object.name().to_owned();
    admission::check_create(state, &call.server.registry(), kind, call.namespace(), &name)?;

    let mut object = object::to_stored(kind, object);
    complete_new(&call.server.clock, kind, &mut object);
    let mut errors = FieldErrors::default();
    (kind.rules.allocate)(state, kind, &mut object, None, &mut errors);
    validation::check_created(kind, &object.metadata, &mut errors);
    (kind.rules.validate)(&object, None, &mut errors);
    if !errors.is_empty() {
        return Err(failure::invalid_object(kind, &name, &errors));
    }
    if let Some(held) = state.get(kind, &key_of(call.namespace(), &name)) {
        return Err(match (base, held.decode()?.metadata.deletion_timestamp) {
            (Some(_), _) => failure::no_generated_name(kind, &name),
            (None, Some(_)) => failure::object_being_deleted_exists(kind, &name),
            (None, None) => failure::already_exists(kind, &name),
        });
    }
    if options.dry_run {
        return Ok(protocol::json(StatusCode::CREATED, protocol::unstored_bytes(kind, object)?));
    }
    let stored = state.put(kind, object)?;
    protocol::object(StatusCode::CREATED, kind, &stored)
}

/// Puts the request's namespace into the object; one that says otherwise is refused.
pub(super) fn check_namespace(call: &Call<'_>, object: &mut Unstructured) -> Result<()> {
    let asked = call.namespace();
    match object.namespace() {
        Some(given) if asked.is_some_and(|asked| asked != given) => Err(failure::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        )),
        _ => {
            object.metadata.namespace = asked.map(str::to_owned);
            Ok(())
        }
    }
}

/// Sets what the server decides on a new object, in its stored form.
pub(crate) fn complete_new(clock: &Clock, kind: &ResourceKind, object: &mut Unstructured) {
    let metadata = &mut object.metadata;
    metadata.uid = Some(uuid::Uuid::new_v4().to_string());
    metadata.creation_timestamp = Some(clock.timestamp());
    metadata.deletion_timestamp = None;
    metadata.deletion_grace_period_seconds = None;
    metadata.resource_version = None;
    // Kinds that do not count generations keep what they are given.
    if kind.rules.generation != GenerationRule::None {
        metadata.generation = Some(1);
    }
    if kind.status && !kind.rules.keeps_status {
        object.fields.remove("status");
    }
    (kind.rules.defaults)(object);
    (kind.rules.on_create)(object);
}

fn free_name(state: &State, call: &Call<'_>, base: &str) -> String {
    let mut name = String::new();
    for _ in 0..ATTEMPTS {
        name = generated_name(base);
        if state.get(call.kind(), &key_of(call.namespace(), &name)).is_none() {
            break;
        }
    }
    name
}

fn generated_name(base: &str) -> String {
    let end =
        (0..=base.len().min(BASE_MAX)).rev().find(|end| base.is_char_boundary(*end)).unwrap_or(0);
    let suffix = (0..SUFFIX).map(|_| char::from(ALPHABET[fastrand::usize(..ALPHABET.len())]));
    base[..end].chars().chain(suffix).collect()
}
