//! A whole answer.

use std::fmt;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use kubewright_meta::Object;
use kubewright_wire::RawObject;
use serde::de::DeserializeOwned;

use super::status;
use crate::error::{CallName, Error, Kind};
use kubewright_meta::StatusError;

/// The answer to a call that the server has carried out.
pub struct Response {
    call: CallName,
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Response {
    /// The largest body that is collected: 64 MiB. Single objects are at most a few MiB; lists are better read by
    /// [`Api::list`](crate::Api::list) or [`Request::stream`](crate::Request::stream), which never hold a whole body.
    pub const MAX_BYTES: usize = 64 << 20;

    pub(super) fn new(call: CallName, status: StatusCode, headers: HeaderMap, body: Bytes) -> Self {
        Self { call, status, headers, body }
    }

    /// The code, 2xx.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The body.
    pub fn bytes(&self) -> &Bytes {
        &self.body
    }

    /// The body, by value.
    pub fn into_bytes(self) -> Bytes {
        self.body
    }

    /// Decodes the body as JSON.
    ///
    /// # Errors
    /// A `v1` `Status` that is a failure comes back as that refusal, whatever the code was. Otherwise
    /// [`Error::is_decode`], for a body that is empty or does not fit; the error does not show it.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, Error> {
        self.refuse_failure()?;
        serde_json::from_slice(&self.body).map_err(|error| {
            let what = match error.classify() {
                serde_json::error::Category::Data => "it does not fit the wanted type",
                _ => "it is not JSON",
            };
            let (line, column) = (error.line(), error.column());
            self.undecodable(format!("{what} (line {line}, column {column})"))
        })
    }

    /// Decodes an object; the error names it and the field.
    pub(crate) fn decode_object<K: Object>(&self) -> Result<K, Error> {
        self.refuse_failure()?;
        if let Some(status) = self.status_object() {
            let message = status.message.unwrap_or_default();
            return Err(self.undecodable(format!("an object was wanted, a Status came: {message}")));
        }
        serde_json::from_slice(&self.body).map_err(|_| {
            // Once more, slowly, to say where it is.
            match RawObject::from_json(&self.body).and_then(|object| object.decode::<K>()) {
                Err(error) => Error::wire(error).at(&self.call),
                Ok(_) => self.undecodable("it does not fit the wanted type"),
            }
        })
    }

    /// The body as a `v1` `Status`, if it is one.
    pub(crate) fn status_object(
        &self,
    ) -> Option<k8s_openapi::apimachinery::pkg::apis::meta::v1::Status> {
        status::read(&self.body)
    }

    fn refuse_failure(&self) -> Result<(), Error> {
        if self.body.is_empty() {
            let kind = self.headers.get(http::header::CONTENT_TYPE);
            let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or("none");
            let code = self.status.as_u16();
            return Err(self.undecodable(format!("it is empty (code {code}, content type {kind})")));
        }
        match self.status_object() {
            Some(status) if status.status.as_deref() != Some("Success") => {
                Err(Error::from(Kind::Status(StatusError::new(status))).at(&self.call))
            }
            _ => Ok(()),
        }
    }

    fn undecodable(&self, what: impl Into<String>) -> Error {
        Error::from(Kind::Decode { what: what.into(), source: None }).at(&self.call)
    }
}

/// The body stays out: it can be a secret.
impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("call", &self.call.to_string())
            .field("status", &self.status)
            .field("bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}
