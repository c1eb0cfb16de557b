//! Writing: create, replace, patch, delete.

use kubewright_meta::{
    CreateOptions, DeleteOptions, ListOptions, Object, Patch, PatchOptions, PatchType,
    ReplaceOptions,
};

use super::encode::encode;
use super::{Api, Deleted, RawList};
use crate::error::Error;
use crate::rest::{Request, RestClient};
use crate::transport::Lane;

impl<K: Object> Api<K> {
    /// Creates an object, and returns it as it was stored. It needs a name or `metadata.generateName`.
    ///
    /// `apiVersion` and `kind` are filled in where the type of the object does not write them.
    ///
    /// # Errors
    /// As any call; [`Error::is_already_exists`] where the name is taken.
    pub async fn create(&self, object: &K, options: &CreateOptions) -> Result<K, Error> {
        self.own_collection(RestClient::post)
            .check(|| self.check_object_namespace(object))
            .check(|| check_named(object))
            .params(options.params())
            .body_of(|| encode(&self.kind, object))
            .send()
            .await?
            .decode_object()
    }

    /// Replaces an object by this one of the same name (`update` in client-go), and returns it as it was stored. With a
    /// `resourceVersion` only if it has not changed since then.
    ///
    /// `apiVersion` and `kind` are filled in where the type of the object does not write them.
    ///
    /// # Errors
    /// As any call; [`Error::is_conflict`] where it has changed.
    pub async fn replace(&self, object: &K, options: &ReplaceOptions) -> Result<K, Error> {
        self.replace_request(object, options).send().await?.decode_object()
    }

    pub(super) fn replace_request(&self, object: &K, options: &ReplaceOptions) -> Request {
        self.object(object.name(), RestClient::put)
            .check(|| self.check_object_namespace(object))
            .params(options.params())
            .body_of(|| encode(&self.kind, object))
    }

    /// Changes part of an object, and returns it as it was stored.
    ///
    /// Server-side apply ([`Patch::apply`]) also creates it, and needs [`PatchOptions::field_manager`].
    ///
    /// # Errors
    /// As any call; [`Error::is_conflict`] where another manager owns a field that is applied.
    pub async fn patch(
        &self,
        name: &str,
        patch: &Patch,
        options: &PatchOptions,
    ) -> Result<K, Error> {
        self.patch_request(name, patch, options).send().await?.decode_object()
    }

    pub(super) fn patch_request(
        &self,
        name: &str,
        patch: &Patch,
        options: &PatchOptions,
    ) -> Request {
        self.object(name, |rest| rest.patch(patch.patch_type()))
            .check(|| check_apply(patch, options))
            .params(options.params())
            .json(patch.body())
    }

    /// Deletes an object.
    ///
    /// # Errors
    /// As any call; [`Error::is_not_found`] where it does not exist, [`Error::is_conflict`] where a precondition
    /// does not hold.
    pub async fn delete(&self, name: &str, options: &DeleteOptions) -> Result<Deleted<K>, Error> {
        let response = self.object(name, RestClient::delete).json(&options.body()).send().await?;
        match response.status_object() {
            Some(status) if status.status.as_deref() == Some("Success") => {
                Ok(Deleted::Status(Box::new(status)))
            }
            // A failure becomes an error here.
            _ => response.decode_object().map(|object| Deleted::Object(Box::new(object))),
        }
    }

    /// Deletes all objects of the namespace, or of the cluster, that the list options select: *all* of them if these are
    /// the default. Each is deleted as [`delete`](Self::delete) would.
    ///
    /// # Errors
    /// As any call.
    pub async fn delete_collection(
        &self,
        options: &DeleteOptions,
        which: &ListOptions,
    ) -> Result<(), Error> {
        let mut request =
            self.own_collection(RestClient::delete).params(which.params()).json(&options.body());
        if let Some(timeout) = which.timeout {
            request = request.timeout(timeout);
        }
        // The answer is a list of what was deleted, which may be long, or a Status.
        let mut list = RawList::new(request.lane(Lane::Call).stream().await?);
        while let Some(item) = list.next().await {
            item?;
        }
        match list.end() {
            Err(error) if error.status().is_some_and(is_success) => Ok(()),
            Err(error) => Err(error),
            Ok(_) => Ok(()),
        }
    }
}

fn is_success(status: &kubewright_meta::StatusError) -> bool {
    status.status().status.as_deref() == Some("Success")
}

fn check_named<K: Object>(object: &K) -> Result<(), Error> {
    let generated = object.metadata().generate_name.as_deref().unwrap_or_default();
    match object.name() {
        "" if generated.is_empty() => {
            Err(Error::invalid("the object has no name and no generateName"))
        }
        "" => Ok(()),
        // Servers refuse it as well, but the object could never be read again.
        name => crate::rest::check_segment("name", name),
    }
}

fn check_apply(patch: &Patch, options: &PatchOptions) -> Result<(), Error> {
    if patch.patch_type() != PatchType::Apply {
        return match options.force {
            true => Err(Error::invalid("force is for server-side apply only")),
            false => Ok(()),
        };
    }
    if options.field_manager.as_deref().unwrap_or_default().is_empty() {
        return Err(Error::invalid("server-side apply needs a field_manager in the options"));
    }
    let managed = patch.body().get("metadata").and_then(|metadata| metadata.get("managedFields"));
    match managed.is_some_and(|managed| !managed.is_null()) {
        true => Err(Error::invalid("an applied object may not carry metadata.managedFields")),
        false => Ok(()),
    }
}
