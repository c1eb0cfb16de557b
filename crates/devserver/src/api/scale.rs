//! The `/scale` subresource: the number of replicas, in the same form for every kind that has one.

use http::{Response, StatusCode};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use kubewright_meta::{Object, Selector, TypeMeta, Unstructured};
use serde_json::{Value, json};

use super::patch::{Document, unprocessable};
use super::update::{Part, Update};
use super::write_options::WriteOptions;
use super::{Call, create, replace};
use crate::failure::{self, Result};
use crate::kinds::{ScalePaths, SelectorPath};
use crate::object;
use crate::protocol::{self, Body};
use crate::store::{State, Stored};
use crate::validation::FieldErrors;

const API_VERSION: &str = "autoscaling/v1";

pub(super) fn get(call: &Call<'_>) -> Result<Response<Body>> {
    let object = held(call, &call.server.store.lock())?.decode()?;
    check_replicas(call, &object)?;
    answer(call, &object)
}

pub(super) fn replace(call: &Call<'_>) -> Result<Response<Body>> {
    let options = WriteOptions::read(call.query, "UpdateOptions")?;
    let scale: Unstructured = serde_json::from_slice(&call.body).map_err(|error| {
        failure::bad_request(format!("the object provided is not a Scale: {error}"))
    })?;
    write(call, options, |_| Ok(scale))
}

pub(super) fn patch(call: &Call<'_>) -> Result<Response<Body>> {
    let document = Document::read(call.headers, &call.body)?;
    let options = WriteOptions::read(call.query, "PatchOptions")?;
    check_replicas(call, &held(call, &call.server.store.lock())?.decode()?)?;
    write(call, options, |scale| {
        let patched = document.apply(serde_json::to_value(scale).map_err(failure::internal)?)?;
        serde_json::from_value(patched)
            .map_err(|error| unprocessable(&format!("the patched object is not a Scale: {error}")))
    })
}

fn write(
    call: &Call<'_>,
    options: WriteOptions,
    change: impl FnOnce(Unstructured) -> Result<Unstructured>,
) -> Result<Response<Body>> {
    let mut state = call.server.store.lock();
    let held = held(call, &state)?;
    let old = held.decode()?;
    let mut scale = change(scale_of(paths(call)?, &old))?;
    check_type(&scale.types)?;
    replace::check_name(call.name(), &scale)?;
    create::check_namespace(call, &mut scale)?;
    if let Some(uid) =
        scale.metadata.uid.as_deref().filter(|uid| *uid != old.uid() && !uid.is_empty())
    {
        let why = format!(
            "Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
            old.uid()
        );
        return Err(failure::conflict(call.kind(), call.name(), &why));
    }
    let mut new = old.clone();
    object::set_path(&mut new, &paths(call)?.spec_replicas, wanted_replicas(call, &scale)?.into());
    // No version means no condition here, whatever the kind.
    if let Some(version) = scale.metadata.resource_version.filter(|version| !version.is_empty()) {
        new.metadata.resource_version = Some(version);
    }
    let update = Update { call, part: Part::Main, dry_run: options.dry_run };
    let bytes = update.apply(&mut state, &held, old, new)?;
    let written: Unstructured = serde_json::from_slice(&bytes).map_err(failure::internal)?;
    answer(call, &written)
}

fn held(call: &Call<'_>, state: &State) -> Result<std::sync::Arc<Stored>> {
    state.get(call.kind(), &call.key()).ok_or_else(|| failure::not_found(call.kind(), call.name()))
}

/// A custom resource without the field cannot be shown as a scale.
fn check_replicas(call: &Call<'_>, object: &Unstructured) -> Result<()> {
    let path = &paths(call)?.spec_replicas;
    match object::at_path(object, path) {
        Some(_) => Ok(()),
        None => Err(failure::internal(format_args!(
            "the spec replicas field \".{path}\" does not exist"
        ))),
    }
}

fn paths<'a>(call: &'a Call<'_>) -> Result<&'a ScalePaths> {
    call.kind().scale.as_ref().ok_or_else(failure::no_such_path)
}

fn check_type(types: &TypeMeta) -> Result<()> {
    let fits = |given: &str, wanted: &str| given.is_empty() || given == wanted;
    if fits(&types.kind, "Scale") && fits(&types.api_version, API_VERSION) {
        return Ok(());
    }
    Err(failure::bad_request(format!(
        "{} in version {:?} cannot be handled as a Scale of {API_VERSION}",
        types.kind, types.api_version
    )))
}

fn wanted_replicas(call: &Call<'_>, scale: &Unstructured) -> Result<i64> {
    let given = scale.field(&["spec", "replicas"]).filter(|replicas| !replicas.is_null());
    let why = match given.map(|given| given.as_i64()) {
        None => return Ok(0),
        Some(Some(replicas @ 0..=0x7fff_ffff)) => return Ok(replicas),
        Some(Some(..0)) => "must be greater than or equal to 0",
        Some(_) => "must be an integer of 32 bits",
    };
    let mut errors = FieldErrors::default();
    errors.invalid("spec.replicas", json!(given), why);
    Err(failure::invalid("autoscaling", "Scale", call.name(), &errors))
}

fn answer(call: &Call<'_>, object: &Unstructured) -> Result<Response<Body>> {
    let scale = scale_of(paths(call)?, object);
    let bytes = serde_json::to_vec(&scale).map_err(failure::internal)?;
    Ok(protocol::json(StatusCode::OK, bytes.into()))
}

fn scale_of(paths: &ScalePaths, object: &Unstructured) -> Unstructured {
    let number = |path: &str| object::at_path(object, path).and_then(Value::as_i64).unwrap_or(0);
    let from = &object.metadata;
    let mut scale = Unstructured {
        types: TypeMeta { api_version: API_VERSION.into(), kind: "Scale".into() },
        metadata: ObjectMeta {
            name: from.name.clone(),
            namespace: from.namespace.clone(),
            uid: from.uid.clone(),
            resource_version: from.resource_version.clone(),
            creation_timestamp: from.creation_timestamp.clone(),
            ..ObjectMeta::default()
        },
        ..Unstructured::default()
    };
    scale.set_field(&["spec", "replicas"], number(&paths.spec_replicas));
    scale.set_field(&["status", "replicas"], number(&paths.status_replicas));
    if let Some(selector) = paths.selector.as_ref().and_then(|path| selector_text(path, object)) {
        scale.set_field(&["status", "selector"], selector);
    }
    scale
}

fn selector_text(path: &SelectorPath, object: &Unstructured) -> Option<String> {
    match path {
        SelectorPath::Text(path) => object::at_path(object, path)?.as_str().map(str::to_owned),
        SelectorPath::Structured(path) => {
            let selector: LabelSelector =
                serde_json::from_value(object::at_path(object, path)?.clone()).ok()?;
            Some(Selector::try_from(&selector).ok()?.to_string())
        }
    }
}
