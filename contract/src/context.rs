//! What a check works with: a server, a namespace of its own, and requests in one line.

use std::fmt;
use std::future::{Future, poll_fn};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{HeaderMap, Method, Request};
use http_body_util::BodyExt;
use kubewright_client::{Body, CarrierService, Client};
use serde_json::{Value, json};
use tower_service::Service;

use crate::{Answer, Watch, path};

/// How long one answer may take, whatever the server.
const PATIENCE: Duration = Duration::from_secs(30);
/// The label on all that a run creates outside of its namespaces, and on those.
pub(crate) const RUN_LABEL: &str = "contract.kubewright.test/run";

/// The place of one check.
///
/// Paths are short: `pods/web` is that pod in the namespace of the check; what begins with a slash is taken as it is.
#[derive(Clone)]
pub struct Context {
    client: Client,
    // Below all that a client does with a request or an answer, so that checks see what the server does.
    carrier: CarrierService,
    namespace: String,
    run: String,
}

impl Context {
    pub(crate) fn new(client: Client, run: String, namespace: String) -> Self {
        let mut carrier = None;
        let _ = client.with_layer(|below| carrier.insert(below).clone());
        let carrier = carrier.expect("a client always asks its layer");
        Self { client, carrier, namespace, run }
    }

    /// The client of the server.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The namespace, which exists and is empty.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The name of an object outside of the namespace, which no other check uses.
    pub fn unique(&self, name: &str) -> String {
        format!("{}-{name}", self.namespace)
    }

    /// The labels of objects outside of the namespace, by which they are cleared away in the end.
    pub fn run_labels(&self) -> Value {
        json!({ RUN_LABEL: self.run })
    }

    /// A request to be completed.
    pub fn request(&self, method: Method, short_path: &str) -> RawRequest<'_> {
        let path = path::of(&self.namespace, short_path);
        RawRequest { context: self, method, path, headers: HeaderMap::new(), body: Bytes::new() }
    }

    /// GET.
    ///
    /// # Errors
    /// No answer; the same in all the methods below.
    pub async fn get(&self, path: &str) -> Result<Answer, String> {
        self.request(Method::GET, path).send().await
    }

    /// POST of JSON.
    pub async fn post(&self, path: &str, body: Value) -> Result<Answer, String> {
        self.request(Method::POST, path).json(&body).send().await
    }

    /// PUT of JSON.
    pub async fn put(&self, path: &str, body: &Value) -> Result<Answer, String> {
        self.request(Method::PUT, path).json(body).send().await
    }

    /// DELETE without options.
    pub async fn delete(&self, path: &str) -> Result<Answer, String> {
        self.request(Method::DELETE, path).send().await
    }

    /// DELETE with `DeleteOptions`.
    pub async fn delete_with(&self, path: &str, options: Value) -> Result<Answer, String> {
        self.request(Method::DELETE, path).json(&options).send().await
    }

    /// A JSON merge patch.
    pub async fn merge(&self, path: &str, patch: Value) -> Result<Answer, String> {
        let request = self.request(Method::PATCH, path).json(&patch);
        request.content_type("application/merge-patch+json").send().await
    }

    /// A JSON patch.
    pub async fn json_patch(&self, path: &str, patch: Value) -> Result<Answer, String> {
        let request = self.request(Method::PATCH, path).json(&patch);
        request.content_type("application/json-patch+json").send().await
    }

    /// Creates an object, which must work, and gives it as stored.
    pub async fn create(&self, path: &str, object: Value) -> Result<Value, String> {
        self.post(path, object).await?.expect(201)
    }

    /// Reads an object or a list, which must work.
    pub async fn read(&self, path: &str) -> Result<Value, String> {
        self.get(path).await?.expect(200)
    }

    /// The names of a list's items, in its order.
    pub async fn names(&self, path: &str) -> Result<Vec<String>, String> {
        Ok(names(&self.read(path).await?))
    }

    /// The version of a list, from which a watch can go on.
    pub async fn list_version(&self, path: &str) -> Result<String, String> {
        Ok(self.read(path).await?.at("/metadata/resourceVersion"))
    }

    /// Begins a watch, which must work: `watch=1` is added, and a time limit unless the path has one.
    pub async fn watch(&self, path: &str) -> Result<Watch, String> {
        let mut path = path::with_param(path, "watch", "1");
        if !path.contains("timeoutSeconds=") {
            path = path::with_param(&path, "timeoutSeconds", "60");
        }
        let request = self.request(Method::GET, &path);
        let name = request.name();
        let response = in_time(&name, request.open()).await?;
        let (head, body) = response.into_parts();
        if head.status != 200 {
            let bytes = in_time(&name, collect(&name, body)).await?;
            let answer = Answer::new(name, head.status.as_u16(), head.headers, &bytes);
            return Err(format!("expected a watch, saw {answer}"));
        }
        Ok(Watch::new(name, head.headers, body))
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Context({})", self.namespace)
    }
}

/// A request of which everything can be chosen, right or wrong.
#[derive(Debug)]
#[must_use = "a request does nothing until it is sent"]
pub struct RawRequest<'a> {
    context: &'a Context,
    method: Method,
    path: String,
    headers: HeaderMap,
    body: Bytes,
}

impl RawRequest<'_> {
    /// Sets a header.
    pub fn header(self, name: HeaderName, value: &'static str) -> Self {
        self.header_value(name, HeaderValue::from_static(value))
    }

    /// Sets a header to what a server has sent.
    pub fn header_value(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Sets the `Content-Type`.
    pub fn content_type(self, value: &'static str) -> Self {
        self.header(CONTENT_TYPE, value)
    }

    /// Sets a body of JSON, and the `Content-Type` that belongs to it.
    pub fn json(self, body: &Value) -> Self {
        self.bytes(body.to_string()).content_type("application/json")
    }

    /// Sets the body.
    pub fn bytes(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// Sends it and reads the whole answer.
    ///
    /// # Errors
    /// There is no answer.
    pub async fn send(self) -> Result<Answer, String> {
        let name = self.name();
        in_time(&name.clone(), async {
            let (head, body) = self.open().await?.into_parts();
            let bytes = collect(&name, body).await?;
            Ok(Answer::new(name, head.status.as_u16(), head.headers, &bytes))
        })
        .await
    }

    async fn open(self) -> Result<http::Response<Body>, String> {
        let name = self.name();
        let mut request = Request::new(Body::from(self.body));
        *request.method_mut() = self.method;
        *request.uri_mut() =
            self.path.parse().map_err(|error| format!("{name}: not a path: {error}"))?;
        *request.headers_mut() = self.headers;
        request.headers_mut().entry(ACCEPT).or_insert(HeaderValue::from_static("application/json"));
        let mut carrier = self.context.carrier.clone();
        poll_fn(|cx| carrier.poll_ready(cx)).await.map_err(|error| format!("{name}: {error}"))?;
        carrier.call(request).await.map_err(|error| format!("{name}: {error}"))
    }
}

async fn collect(name: &str, body: Body) -> Result<Bytes, String> {
    let body =
        body.collect().await.map_err(|error| format!("{name}: the answer broke off: {error}"))?;
    Ok(body.to_bytes())
}

async fn in_time<T>(
    name: &str,
    work: impl Future<Output = Result<T, String>>,
) -> Result<T, String> {
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(done) => done,
        Err(_) => Err(format!("{name}: no answer within {} s", PATIENCE.as_secs())),
    }
}

/// The names of a list's items, in its order.
pub(crate) fn names(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().map(|item| item.at("/metadata/name")).collect()
}

/// Text in JSON, by its place.
pub(crate) trait At {
    /// The text at a JSON pointer; empty if there is none.
    fn at(&self, pointer: &str) -> String;
    /// `metadata.resourceVersion`.
    fn version(&self) -> String {
        self.at("/metadata/resourceVersion")
    }
    /// `metadata.resourceVersion` as the number that it is by now documented to be.
    fn version_number(&self) -> Result<u64, String> {
        let version = self.version();
        version.parse().map_err(|_| format!("not a resource version: {version:?}"))
    }
    /// `metadata.uid`.
    fn uid(&self) -> String {
        self.at("/metadata/uid")
    }
}

impl At for Value {
    fn at(&self, pointer: &str) -> String {
        self.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
    }
}
