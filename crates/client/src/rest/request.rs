//! Building one request, checked before anything is sent.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, COOKIE, HeaderName, HeaderValue, PROXY_AUTHORIZATION,
    USER_AGENT,
};
use http::uri::PathAndQuery;
use http::{HeaderMap, Method};
use kubewright_meta::GroupVersion;
use serde::Serialize;

use super::duration::go_duration;
use super::path::{check_segment, push, push_absolute};
use super::send::{Call, Subject};
use super::{ByteStream, Response};
use crate::calls::Verb;
use crate::client::Client;
use crate::error::{CallName, Error};
use crate::transport::Lane;

const JSON: &str = "application/json";
/// Headers that are credentials.
const SECRET: [HeaderName; 3] = [AUTHORIZATION, PROXY_AUTHORIZATION, COOKIE];
/// Headers that may not repeat.
const SINGLE: [HeaderName; 4] = [AUTHORIZATION, CONTENT_TYPE, PROXY_AUTHORIZATION, USER_AGENT];

/// A request being built.
///
/// Setters take names as they are and encode them exactly once. The first setter that is given something impossible
/// decides: the later ones do nothing, and sending gives its error without any IO. Setting namespace, resource, name
/// or subresource twice is such a mistake; parameters may repeat.
#[must_use = "a request does nothing until it is sent"]
pub struct Request {
    client: Client,
    method: Method,
    group_version: Option<GroupVersion>,
    absolute: Option<String>,
    namespace: Option<String>,
    resource: Option<String>,
    name: Option<String>,
    subresource: Option<String>,
    params: Vec<(String, String)>,
    headers: HeaderMap,
    body: Option<Bytes>,
    timeout: Option<Duration>,
    lane: Option<Lane>,
    error: Option<Error>,
}

impl Request {
    pub(super) fn new(client: Client, method: Method, group_version: Option<GroupVersion>) -> Self {
        Self {
            client,
            method,
            group_version,
            absolute: None,
            namespace: None,
            resource: None,
            name: None,
            subresource: None,
            params: Vec::new(),
            headers: HeaderMap::new(),
            body: None,
            timeout: None,
            lane: None,
            error: None,
        }
    }

    /// The namespace. Empty means all namespaces, which only list, watch and the deletion of a collection allow.
    pub fn namespace(self, namespace: &str) -> Self {
        self.set("namespace", namespace, true, |request| &mut request.namespace)
    }

    /// The plural name of the resource, such as `pods`; sent in lower case.
    pub fn resource(self, resource: &str) -> Self {
        self.set("resource", &resource.to_lowercase(), false, |request| &mut request.resource)
    }

    /// The object's name.
    pub fn name(self, name: &str) -> Self {
        self.set("name", name, false, |request| &mut request.name)
    }

    /// A subresource of the object, such as `status`.
    pub fn subresource(self, subresource: &str) -> Self {
        self.set("subresource", subresource, false, |request| &mut request.subresource)
    }

    /// A path from the server's root in place of that of the group version. The base path of the server's address stays
    /// in front of it. A slash at its end is kept.
    pub fn abs_path(self, path: &str) -> Self {
        self.build(|request| {
            let mut encoded = String::new();
            push_absolute(&mut encoded, path)?;
            request.absolute = Some(encoded);
            Ok(())
        })
    }

    /// Appends a query parameter; the same name may come several times.
    pub fn param(self, name: &str, value: &str) -> Self {
        self.build(|request| {
            request.params.push((name.to_owned(), value.to_owned()));
            Ok(())
        })
    }

    /// Appends query parameters, such as those of the option types.
    pub fn params<N: AsRef<str>, V: AsRef<str>>(
        self,
        params: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        params
            .into_iter()
            .fold(self, |request, (name, value)| request.param(name.as_ref(), value.as_ref()))
    }

    /// Adds a header. One set here wins over what the client would send, its credentials included. What can stand in a
    /// request only once (`Content-Type`, `Authorization`, `User-Agent`) replaces an earlier one.
    pub fn header(self, name: &str, value: &str) -> Self {
        self.build(|request| {
            let name = HeaderName::try_from(name)
                .map_err(|_| Error::invalid(format!("{name:?} is no name of an HTTP header")))?;
            // The value may be a credential.
            let mut value = HeaderValue::from_str(value).map_err(|_| {
                Error::invalid(format!("the value of the header {name} cannot stand in one"))
            })?;
            value.set_sensitive(SECRET.contains(&name));
            match SINGLE.contains(&name) {
                true => drop(request.headers.insert(name, value)),
                false => drop(request.headers.append(name, value)),
            }
            Ok(())
        })
    }

    pub(crate) fn content_type(mut self, content_type: &'static str) -> Self {
        self.headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        self
    }

    /// The body. It is JSON unless a `Content-Type` header says otherwise.
    pub fn body(self, body: impl Into<Bytes>) -> Self {
        self.build(|request| {
            request.body = Some(body.into());
            Ok(())
        })
    }

    /// The body, from a value.
    pub fn json(self, body: &impl Serialize) -> Self {
        self.body_of(|| {
            serde_json::to_vec(body)
                .map_err(|error| Error::invalid(format!("the body cannot be encoded: {error}")))
        })
    }

    /// The body, or why there is none.
    pub(crate) fn body_of(self, body: impl FnOnce() -> Result<Vec<u8>, Error>) -> Self {
        self.build(|request| {
            request.body = Some(body()?.into());
            Ok(())
        })
    }

    /// How long the call may take, in place of the client's timeout. The server is told too, by the parameter `timeout`.
    /// For a [`stream`](Self::stream), also that of a watch, it counts to the head of the answer; how long a watch then
    /// lasts is up to the parameter `timeoutSeconds`.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.build(|request| {
            request.timeout = Some(timeout);
            Ok(())
        })
    }

    pub(crate) fn lane(mut self, lane: Lane) -> Self {
        self.lane = Some(lane);
        self
    }

    /// Fails the request unless `check` passes.
    pub(crate) fn check(self, check: impl FnOnce() -> Result<(), Error>) -> Self {
        self.build(|_| check())
    }

    /// Sends it and collects the answer, of at most [`Response::MAX_BYTES`].
    ///
    /// # Errors
    /// [`Error::is_invalid_request`] for a request that was built wrong; the server's refusal
    /// ([`Error::status`]) for any code but 2xx; no answer in time; a connection that fails.
    pub async fn send(self) -> Result<Response, Error> {
        let client = self.client.clone();
        let call = self.finish()?;
        call.send(&client).await
    }

    /// Sends it and hands out the answer's body as it comes, however long it takes; the deadline counts to the
    /// first byte.
    ///
    /// # Errors
    /// As [`send`](Self::send), before the body begins.
    pub async fn stream(mut self) -> Result<ByteStream, Error> {
        if self.lane.is_none() && self.verb() != Verb::Watch {
            self.lane = Some(Lane::Held);
        }
        let client = self.client.clone();
        let call = self.finish()?;
        call.stream(&client).await
    }

    fn set(
        self,
        what: &'static str,
        value: &str,
        may_be_empty: bool,
        field: impl FnOnce(&mut Self) -> &mut Option<String>,
    ) -> Self {
        self.build(|request| {
            if !(may_be_empty && value.is_empty()) {
                check_segment(what, value)?;
            }
            match field(request).replace(value.to_owned()) {
                None => Ok(()),
                Some(earlier) => Err(Error::invalid(format!(
                    "the {what} is set twice, to {earlier:?} and {value:?}"
                ))),
            }
        })
    }

    fn build(mut self, step: impl FnOnce(&mut Self) -> Result<(), Error>) -> Self {
        if self.error.is_none() {
            self.error = step(&mut self).err();
        }
        self
    }

    /// The API verb this is.
    fn verb(&self) -> Verb {
        let watches = || self.params.iter().any(|(n, v)| n == "watch" && v != "false" && v != "0");
        match self.method {
            Method::POST => Verb::Create,
            Method::PUT => Verb::Replace,
            Method::PATCH => Verb::Patch,
            Method::DELETE if self.name.is_none() && self.resource.is_some() => {
                Verb::DeleteCollection
            }
            Method::DELETE => Verb::Delete,
            _ if self.resource.is_none() => Verb::Get,
            _ if watches() => Verb::Watch,
            _ if self.name.is_none() => Verb::List,
            _ => Verb::Get,
        }
    }

    pub(super) fn finish(mut self) -> Result<Call, Error> {
        let path = match (self.error.take(), self.path()) {
            (Some(error), path) => {
                return Err(error.at(&self.call_name(path.unwrap_or_default())));
            }
            (None, Err(error)) => return Err(error.at(&self.call_name(String::new()))),
            (None, Ok(path)) => path,
        };
        let name = self.call_name(path);
        let verb = self.verb();
        let lane = self.lane.unwrap_or(if verb == Verb::Watch { Lane::Watch } else { Lane::Call });
        if let Some(timeout) = self.timeout {
            self.params.push(("timeout".to_owned(), go_duration(timeout)));
        }
        let mut target = name.path.clone();
        if !self.params.is_empty() {
            target.push('?');
            target = form_urlencoded::Serializer::for_suffix(target.clone(), target.len())
                .extend_pairs(&self.params)
                .finish();
        }
        let target = PathAndQuery::try_from(target).map_err(|error| {
            Error::invalid(format!("the path cannot be sent: {error}")).at(&name)
        })?;
        let headers = &mut self.headers;
        if !headers.contains_key(ACCEPT) {
            headers.insert(ACCEPT, HeaderValue::from_static("application/json, */*"));
        }
        if !headers.contains_key(USER_AGENT) {
            headers.insert(USER_AGENT, self.client.user_agent().clone());
        }
        match self.body {
            None => drop(headers.remove(CONTENT_TYPE)),
            Some(_) if headers.contains_key(CONTENT_TYPE) => {}
            Some(_) => drop(headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON))),
        }
        let deadline = match lane {
            Lane::Watch => self.timeout,
            Lane::Call | Lane::Held => self.timeout.or(self.client.timeout()),
        };
        Ok(Call {
            name,
            target,
            headers: self.headers,
            body: self.body,
            verb,
            lane,
            deadline,
            subject: Subject {
                group: self.group_version.map(|gv| gv.group.into_owned()).unwrap_or_default(),
                resource: self.resource.unwrap_or_default(),
                name: self.name.unwrap_or_default(),
            },
        })
    }

    fn call_name(&self, path: String) -> CallName {
        CallName { method: self.method.clone(), path }
    }

    fn path(&self) -> Result<String, Error> {
        self.preflight()?;
        let mut path = self.client.base_path().to_owned();
        match (&self.absolute, &self.group_version) {
            (Some(absolute), _) => path.push_str(match &self.resource {
                Some(_) => absolute.trim_end_matches('/'),
                None => absolute,
            }),
            (None, Some(group_version)) => {
                for segment in group_version.path().split('/') {
                    check_segment("group or version", segment)?;
                    push(&mut path, segment);
                }
            }
            (None, None) => {}
        }
        let namespace = self.namespace.as_deref().filter(|namespace| !namespace.is_empty());
        if let Some(namespace) = namespace {
            push(&mut path, "namespaces");
            push(&mut path, namespace);
        }
        for segment in [&self.resource, &self.name, &self.subresource].into_iter().flatten() {
            push(&mut path, segment);
        }
        if path.is_empty() {
            path.push('/');
        }
        Ok(path)
    }

    fn preflight(&self) -> Result<(), Error> {
        let no_namespace = self.namespace.as_deref() == Some("");
        if no_namespace && (self.method == Method::POST || self.name.is_some()) {
            return Err(Error::invalid(
                "a namespace is needed; all namespaces together can only be listed and watched",
            ));
        }
        if self.resource.is_none() && (self.name.is_some() || self.subresource.is_some()) {
            return Err(Error::invalid("a name is set, but no resource"));
        }
        if self.subresource.is_some() && self.name.is_none() {
            return Err(Error::invalid("a subresource is set, but no name"));
        }
        Ok(())
    }
}

/// The body and the values of parameters and headers stay out: they can be secrets.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path().unwrap_or_default();
        f.debug_struct("Request")
            .field("call", &self.call_name(path).to_string())
            .field("body", &self.body.as_ref().map(Bytes::len))
            .field("timeout", &self.timeout)
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}
