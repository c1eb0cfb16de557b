//! Subresources: status, scale, and posting to any other.

use k8s_openapi::api::autoscaling::v1::Scale;
use kubewright_meta::{CreateOptions, GetOptions, Object, Patch, PatchOptions, ReplaceOptions};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Api;
use crate::error::Error;
use crate::rest::RestClient;

const STATUS: &str = "status";
const SCALE: &str = "scale";

impl<K: Object> Api<K> {
    /// Reads the object by its subresource `status`; for clients that may read only that.
    ///
    /// # Errors
    /// As any call; [`Error::is_not_found`] also where the kind has no such subresource.
    pub async fn get_status(&self, name: &str, options: &GetOptions) -> Result<K, Error> {
        self.object(name, RestClient::get)
            .subresource(STATUS)
            .params(options.params())
            .send()
            .await?
            .decode_object()
    }

    /// Replaces the object's status; all but status and, for built-in kinds, metadata is ignored.
    ///
    /// # Errors
    /// As [`replace`](Self::replace).
    pub async fn replace_status(&self, object: &K, options: &ReplaceOptions) -> Result<K, Error> {
        self.replace_request(object, options).subresource(STATUS).send().await?.decode_object()
    }

    /// Changes part of the object's status.
    ///
    /// # Errors
    /// As [`patch`](Self::patch).
    pub async fn patch_status(
        &self,
        name: &str,
        patch: &Patch,
        options: &PatchOptions,
    ) -> Result<K, Error> {
        self.patch_request(name, patch, options).subresource(STATUS).send().await?.decode_object()
    }

    /// Reads how many replicas the object wants and has.
    ///
    /// # Errors
    /// As any call; [`Error::is_not_found`] also where the kind cannot be scaled.
    pub async fn get_scale(&self, name: &str, options: &GetOptions) -> Result<Scale, Error> {
        self.object(name, RestClient::get)
            .subresource(SCALE)
            .params(options.params())
            .send()
            .await?
            .decode_object()
    }

    /// Sets how many replicas the object wants.
    ///
    /// # Errors
    /// As [`replace`](Self::replace).
    pub async fn replace_scale(
        &self,
        name: &str,
        scale: &Scale,
        options: &ReplaceOptions,
    ) -> Result<Scale, Error> {
        self.object(name, RestClient::put)
            .subresource(SCALE)
            .params(options.params())
            .json(scale)
            .send()
            .await?
            .decode_object()
    }

    /// Changes how many replicas the object wants, say by `{"spec": {"replicas": 3}}`.
    ///
    /// # Errors
    /// As [`patch`](Self::patch).
    pub async fn patch_scale(
        &self,
        name: &str,
        patch: &Patch,
        options: &PatchOptions,
    ) -> Result<Scale, Error> {
        self.patch_request(name, patch, options).subresource(SCALE).send().await?.decode_object()
    }

    /// Posts to a subresource of an object: `binding` or `eviction` of a pod, `token` of a service account. The answer is
    /// what the subresource says, often a `Status`.
    ///
    /// # Errors
    /// As any call; an eviction that a disruption budget forbids is [`Error::is_too_many_requests`].
    pub async fn create_subresource<B: Serialize, R: DeserializeOwned>(
        &self,
        name: &str,
        subresource: &str,
        body: &B,
        options: &CreateOptions,
    ) -> Result<R, Error> {
        self.object(name, RestClient::post)
            .subresource(subresource)
            .params(options.params())
            .json(body)
            .send()
            .await?
            .decode()
    }
}
