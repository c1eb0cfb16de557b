//! Finalizers: names on an object that keep it from vanishing until their controllers have cleaned up.

use kubewright_client::Api;
use kubewright_meta::{Object, Patch, PatchOptions};
use serde_json::json;

use crate::Error;

/// Puts a finalizer on an object unless it is there; returns the object as it is now.
///
/// `name` is qualified, such as `example.com/cleanup`. Do this before making anything that has to be cleaned up.
///
/// The change is a merge patch of the whole list, taken by the server only for the version of `object`: work on a
/// stale cache gives a Conflict rather than losing another controller's finalizer.
///
/// # Errors
/// [`is_conflict`](Error::is_conflict) when the object has changed meanwhile, or another failure of the call.
pub async fn add_finalizer<K: Object>(api: &Api<K>, object: &K, name: &str) -> Result<K, Error> {
    let present = object.finalizers();
    if present.iter().any(|finalizer| finalizer == name) {
        return Ok(object.clone());
    }
    let wanted = present.iter().map(String::as_str).chain([name]).collect();
    set_finalizers(api, object, "add", name, wanted).await
}

/// Takes a finalizer off an object if it is there; returns the object as it is now.
///
/// The object of a key that is being deleted may vanish with it. `Ok(None)` means that it was gone already.
///
/// # Errors
/// As [`add_finalizer`].
pub async fn remove_finalizer<K: Object>(
    api: &Api<K>,
    object: &K,
    name: &str,
) -> Result<Option<K>, Error> {
    let present = object.finalizers();
    if !present.iter().any(|finalizer| finalizer == name) {
        return Ok(Some(object.clone()));
    }
    let wanted =
        present.iter().map(String::as_str).filter(|finalizer| *finalizer != name).collect();
    match set_finalizers(api, object, "remove", name, wanted).await {
        Ok(object) => Ok(Some(object)),
        Err(error) if error.client_error().is_some_and(|error| error.is_not_found()) => Ok(None),
        Err(error) => Err(error),
    }
}

async fn set_finalizers<K: Object>(
    api: &Api<K>,
    object: &K,
    verb: &str,
    name: &str,
    wanted: Vec<&str>,
) -> Result<K, Error> {
    let attempt = || format!("{verb} finalizer {name:?} of {} {}", api.kind(), object.key());
    let document = json!({
        "metadata": {
            "uid": object.uid(),
            "resourceVersion": object.resource_version(),
            "finalizers": if wanted.is_empty() { None } else { Some(wanted) },
        }
    });
    let patch = Patch::merge(document).map_err(|error| Error::patch(attempt(), error))?;
    let api = match object.namespace() {
        Some(namespace) => api.in_namespace(namespace),
        None => api.clone(),
    };
    api.patch(object.name(), &patch, &PatchOptions::default())
        .await
        .map_err(|error| Error::call(attempt(), error))
}
