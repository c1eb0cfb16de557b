//! A small HTTP client over the in-process service, for the tests of this crate.
#![allow(dead_code)] // each test file uses its part

use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body_util::{BodyExt, Full};
use kubewright_devserver::{Body, CustomKind, DevServer, DevServerBuilder, Error};
use kubewright_meta::{GroupVersionKind, Scope};
use serde_json::{Value, json};
use tower_service::Service;

pub(crate) struct Lab {
    pub(crate) server: DevServer,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Answer {
    /// Asserts a refusal with its code and reason, and gives its message.
    #[track_caller]
    pub(crate) fn refused(&self, code: u16, reason: &str) -> String {
        assert_eq!(
            (self.code, self.body["reason"].as_str()),
            (code, Some(reason)),
            "{}",
            self.body
        );
        assert_eq!(self.body["kind"], "Status");
        assert_eq!(self.body["apiVersion"], "v1");
        assert_eq!(self.body["status"], "Failure");
        assert_eq!(self.body["code"], code);
        assert_eq!(self.headers["content-type"], "application/json");
        self.body["message"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    pub(crate) fn ok(self) -> Value {
        assert!(self.code < 300, "{} {}", self.code, self.body);
        self.body
    }

    pub(crate) fn cause(&self) -> &Value {
        &self.body["details"]["causes"][0]
    }
}

impl Lab {
    pub(crate) fn new() -> Self {
        Self::of(DevServer::builder())
    }

    /// With the custom kinds `widgets` (status, scale, selectable `spec.size`) and `plains` (neither).
    pub(crate) fn of(builder: DevServerBuilder) -> Self {
        let gvk = |kind| GroupVersionKind::new("lab.test", "v1", kind);
        let widgets = CustomKind::new(gvk("Widget"), "widgets", Scope::Namespaced).status();
        let widgets = widgets.scale().selectable_field("spec.size");
        let plains = CustomKind::new(gvk("Plain"), "plains", Scope::Namespaced);
        Self { server: builder.kind(widgets).kind(plains).build() }
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Result<http::Response<Body>, Error> {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(body.into())).unwrap();
        self.server.service().call(request).await
    }

    pub(crate) async fn raw(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Answer {
        let answer = self.send(method, path, headers, body).await.unwrap();
        let (parts, body) = answer.into_parts();
        let announced = http_body::Body::size_hint(&body).exact();
        let bytes = body.collect().await.unwrap().to_bytes();
        assert_eq!(announced, Some(bytes.len() as u64), "the announced length");
        let body =
            serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{error}: {bytes:?}"));
        Answer { code: parts.status.as_u16(), headers: parts.headers, body }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.raw("GET", path, &[], "").await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.raw("POST", path, &[], typed(path, body).to_string()).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Answer {
        self.raw("PUT", path, &[], typed(path, body).to_string()).await
    }

    pub(crate) async fn merge(&self, path: &str, body: Value) -> Answer {
        self.raw(
            "PATCH",
            path,
            &[("content-type", "application/merge-patch+json")],
            body.to_string(),
        )
        .await
    }

    pub(crate) async fn json_patch(&self, path: &str, body: Value) -> Answer {
        self.raw(
            "PATCH",
            path,
            &[("content-type", "application/json-patch+json")],
            body.to_string(),
        )
        .await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.raw("DELETE", path, &[], "").await
    }

    pub(crate) async fn delete_with(&self, path: &str, options: Value) -> Answer {
        self.raw("DELETE", path, &[], options.to_string()).await
    }

    pub(crate) async fn namespace(&self, name: &str) -> Value {
        self.post("/api/v1/namespaces", json!({"metadata": {"name": name}})).await.ok()
    }

    pub(crate) async fn config_map(&self, name: &str) -> Value {
        self.post(CONFIG_MAPS, json!({"metadata": {"name": name}, "data": {"a": "1"}})).await.ok()
    }

    pub(crate) async fn watch(&self, path: &str) -> Watch {
        let answer = self.send("GET", path, &[], "").await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        Watch { body: answer.into_body(), held: Vec::new() }
    }

    /// The names of a list.
    pub(crate) async fn names(&self, path: &str) -> Vec<String> {
        names(&self.get(path).await.ok())
    }
}

/// Custom resources must say what they are.
fn typed(path: &str, mut body: Value) -> Value {
    let custom =
        [("/widgets", "Widget"), ("/plains", "Plain"), ("/lates", "Late"), ("/frees", "Free")];
    let kind =
        custom.iter().find(|(resource, _)| path.contains(resource) && !path.contains("/scale"));
    if let Some((_, kind)) = kind.filter(|_| body.get("kind").is_none()) {
        let group_version: Vec<&str> = path.split('/').skip(2).take(2).collect();
        body["apiVersion"] = group_version.join("/").into();
        body["kind"] = (*kind).into();
    }
    body
}

pub(crate) fn names(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().unwrap();
    items.iter().map(|item| item["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

pub(crate) const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
pub(crate) const PODS: &str = "/api/v1/namespaces/default/pods";
pub(crate) const REPLICA_SETS: &str = "/apis/apps/v1/namespaces/default/replicasets";
pub(crate) const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
pub(crate) const WIDGETS: &str = "/apis/lab.test/v1/namespaces/default/widgets";
pub(crate) const PLAINS: &str = "/apis/lab.test/v1/namespaces/default/plains";

pub(crate) fn pod(name: &str, node: Option<&str>) -> Value {
    let mut pod = json!({
        "metadata": {"name": name, "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": "busybox:1"}]},
    });
    if let Some(node) = node {
        pod["spec"]["nodeName"] = node.into();
    }
    pod
}

pub(crate) fn replica_set(name: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "image": "busybox:1"}]},
            },
        },
    })
}

pub(crate) fn version(object: &Value) -> u64 {
    object["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap()
}

/// The events of a watch, one by one.
pub(crate) struct Watch {
    body: Body,
    held: Vec<u8>,
}

impl Watch {
    /// The next event; `None` when the stream has ended cleanly.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        self.try_next().await.unwrap()
    }

    /// The next event that is there already; `None` when the watch would have to wait.
    pub(crate) async fn next_now(&mut self) -> Option<Value> {
        tokio::select! {
            biased;
            event = self.next() => event,
            () = tokio::task::yield_now() => None,
        }
    }

    pub(crate) async fn try_next(&mut self) -> Result<Option<Value>, Error> {
        loop {
            if let Some(end) = self.held.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.held.drain(..=end).collect();
                return Ok(Some(serde_json::from_slice(&line).unwrap()));
            }
            match self.body.frame().await {
                None => return Ok(None),
                Some(frame) => self.held.extend_from_slice(&frame?.into_data().unwrap()),
            }
        }
    }

    /// Type and name of the next event.
    pub(crate) async fn short(&mut self) -> (String, String) {
        let event = self.next().await.expect("an event");
        (
            event["type"].as_str().unwrap().to_owned(),
            event["object"]["metadata"]["name"].as_str().unwrap_or_default().to_owned(),
        )
    }

    pub(crate) async fn expect(&mut self, kind: &str, name: &str) {
        assert_eq!(self.short().await, (kind.to_owned(), name.to_owned()));
    }
}
