//! Against what a kube-apiserver v1.37.2 said of the same kinds (`real_server.json`: its documents cut down
//! to the resources and subresources served here, without storage version hashes), and of two
//! CustomResourceDefinitions.

use http::Request;
use http_body_util::{BodyExt, Full};
use kubewright_meta::{GroupVersionKind, Scope};
use serde_json::{Value, json};
use tower_service::Service;

use crate::{CustomKind, DevServer};

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
/// As kubectl 1.32 asks.
const KUBECTL: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
    application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

struct Answer {
    code: u16,
    headers: http::HeaderMap,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

async fn ask(server: &DevServer, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::<bytes::Bytes>::default()).unwrap();
    let (parts, body) = server.service().call(request).await.unwrap().into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let body = String::from_utf8(body.to_vec()).unwrap();
    Answer { code: parts.status.as_u16(), headers: parts.headers, body }
}

async fn get(server: &DevServer, path: &str) -> Answer {
    ask(server, "GET", path, &[]).await
}

async fn get_as(server: &DevServer, path: &str, accept: &str) -> Answer {
    ask(server, "GET", path, &[("accept", accept)]).await
}

fn real_server() -> Value {
    serde_json::from_str(include_str!("real_server.json")).unwrap()
}

/// Widgets in two versions with subresources in one, and a cluster-scoped kind beside them.
fn with_custom_kinds() -> DevServer {
    let kind = |version, kind| GroupVersionKind::new("lab.test", version, kind);
    let widgets = |version| CustomKind::new(kind(version, "Widget"), "widgets", Scope::Namespaced);
    let widgets = |version| widgets(version).short_name("wd").category("all");
    DevServer::builder()
        .kind(widgets("v1beta1"))
        .kind(widgets("v1").status().scale())
        .kind(CustomKind::new(kind("v1", "Alpha"), "alphas", Scope::Cluster))
        .build()
}

#[tokio::test]
async fn resource_lists_are_those_of_a_real_server() {
    let server = DevServer::new();
    let real = real_server();
    let versions = real["legacy"].as_object().unwrap();
    assert_eq!(versions.len(), 4);
    for (version, resources) in versions {
        let path = if version == "v1" { "/api/v1".to_owned() } else { format!("/apis/{version}") };
        let answer = get(&server, &path).await;
        assert_eq!((answer.code, answer.header("content-type")), (200, "application/json"));
        let mut wanted =
            json!({"kind": "APIResourceList", "groupVersion": version, "resources": resources});
        if version != "v1" {
            wanted["apiVersion"] = "v1".into();
        }
        assert_eq!(answer.json(), wanted, "{path}");
        assert_eq!(get(&server, &format!("{path}/")).await.json(), wanted, "{path}/");
    }
}

#[tokio::test]
async fn group_documents_are_those_of_a_real_server() {
    let server = DevServer::new();
    let apps = json!({
        "name": "apps",
        "versions": [{"groupVersion": "apps/v1", "version": "v1"}],
        "preferredVersion": {"groupVersion": "apps/v1", "version": "v1"},
    });
    let mut alone = apps.clone();
    alone["kind"] = "APIGroup".into();
    alone["apiVersion"] = "v1".into();
    assert_eq!(get(&server, "/apis/apps").await.json(), alone);

    let list = get(&server, "/apis").await.json();
    assert_eq!((&list["kind"], &list["apiVersion"]), (&json!("APIGroupList"), &json!("v1")));
    assert_eq!(list["groups"][0], apps);
    let names: Vec<_> =
        list["groups"].as_array().unwrap().iter().map(|group| &group["name"]).collect();
    assert_eq!(json!(names), real_server()["order"]);

    let core = ask(&server, "GET", "/api", &[("host", "127.0.0.1:6443")]).await;
    let wanted = json!({
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443"}],
    });
    assert_eq!(core.json(), wanted);
}

#[tokio::test]
async fn aggregated_documents_are_those_of_a_real_server() {
    let server = DevServer::new();
    let real = real_server();
    let item = |group: &str| {
        let metadata = if group.is_empty() { json!({}) } else { json!({ "name": group }) };
        let resources = &real["aggregated"][group];
        assert!(resources.is_array(), "{group}");
        json!({
            "metadata": metadata,
            "versions": [{"version": "v1", "resources": resources, "freshness": "Current"}],
        })
    };
    let list = |items: Vec<Value>| {
        json!({
            "kind": "APIGroupDiscoveryList",
            "apiVersion": "apidiscovery.k8s.io/v2",
            "metadata": {},
            "items": items,
        })
    };
    let core = get_as(&server, "/api", KUBECTL).await;
    assert_eq!(core.json(), list(vec![item("")]));
    let others = get_as(&server, "/apis", KUBECTL).await;
    let order = real["order"].as_array().unwrap().iter().map(|group| item(group.as_str().unwrap()));
    assert_eq!(others.json(), list(order.collect()));
    for answer in [core, others] {
        assert_eq!(answer.header("content-type"), AGGREGATED);
        assert_eq!(answer.header("vary"), "Accept");
        assert_eq!(answer.header("cache-control"), "public");
    }
}

#[tokio::test]
async fn what_did_not_change_is_not_sent_again() {
    let server = DevServer::new();
    let first = get_as(&server, "/apis", AGGREGATED).await;
    let tag = first.header("etag");
    assert!(tag.starts_with('"') && tag.len() > 2, "{tag}");
    let again = [("accept", AGGREGATED), ("if-none-match", tag)];
    let second = ask(&server, "GET", "/apis", &again).await;
    assert_eq!((second.code, second.body.as_str(), second.header("etag")), (304, "", tag));

    let widgets = GroupVersionKind::new("lab.test", "v1", "Widget");
    server.register(CustomKind::new(widgets, "widgets", Scope::Namespaced));
    let third = ask(&server, "GET", "/apis", &again).await;
    assert_eq!(third.code, 200);
    assert!(third.body.contains("widgets"));
    assert_ne!(third.header("etag"), tag);
}

#[tokio::test]
async fn custom_kinds_are_told_of_as_a_real_server_does() {
    let server = with_custom_kinds();
    let verbs =
        json!(["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"]);
    let read_and_write = json!(["get", "patch", "update"]);
    let widgets = json!({
        "name": "widgets", "singularName": "widget", "namespaced": true, "kind": "Widget", "verbs": verbs,
        "shortNames": ["wd"], "categories": ["all"],
    });
    let wanted = json!([
        {"name": "alphas", "singularName": "alpha", "namespaced": false, "kind": "Alpha", "verbs": verbs},
        widgets,
        {"name": "widgets/status", "singularName": "", "namespaced": true, "kind": "Widget",
         "verbs": read_and_write},
        {"name": "widgets/scale", "singularName": "", "namespaced": true, "group": "autoscaling",
         "version": "v1", "kind": "Scale", "verbs": read_and_write},
    ]);
    assert_eq!(get(&server, "/apis/lab.test/v1").await.json()["resources"], wanted);
    assert_eq!(get(&server, "/apis/lab.test/v1beta1").await.json()["resources"], json!([widgets]));

    let group = get(&server, "/apis/lab.test").await.json();
    assert_eq!(group["versions"][0]["version"], "v1", "the stable version comes first");
    assert_eq!(group["preferredVersion"], json!({"groupVersion": "lab.test/v1", "version": "v1"}));

    let all = get_as(&server, "/apis", AGGREGATED).await.json();
    let last = all["items"].as_array().unwrap().last().unwrap();
    let scale = json!({"group": "autoscaling", "version": "v1", "kind": "Scale"});
    let kind = |version| json!({"group": "lab.test", "version": version, "kind": "Widget"});
    let widgets = |version| {
        json!({
            "resource": "widgets", "responseKind": kind(version), "scope": "Namespaced",
            "singularResource": "widget", "verbs": verbs, "shortNames": ["wd"], "categories": ["all"],
        })
    };
    let mut with_subresources = widgets("v1");
    with_subresources["subresources"] = json!([
        {"subresource": "status", "responseKind": kind("v1"), "verbs": read_and_write},
        {"subresource": "scale", "responseKind": scale, "verbs": read_and_write},
    ]);
    let alphas = json!({
        "resource": "alphas", "responseKind": {"group": "lab.test", "version": "v1", "kind": "Alpha"},
        "scope": "Cluster", "singularResource": "alpha", "verbs": verbs,
    });
    let wanted = json!({"metadata": {"name": "lab.test"}, "versions": [
        {"version": "v1", "resources": [alphas, with_subresources], "freshness": "Current"},
        {"version": "v1beta1", "resources": [widgets("v1beta1")], "freshness": "Current"},
    ]});
    assert_eq!(last, &wanted);
}

#[tokio::test]
async fn what_is_not_there_is_refused_in_the_words_of_a_real_server() {
    let server = with_custom_kinds();
    for path in [
        "/apis/nope",
        "/apis/nope/v1",
        "/apis/lab.test/v9",
        "/nope",
        "/readyz/nope",
        "/openapi/v3/apis/nope/v1",
    ] {
        let answer = get(&server, path).await;
        assert_eq!((answer.code, answer.body.as_str()), (404, "404 page not found\n"), "{path}");
        assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8", "{path}");
    }
    for path in ["/api/v2", "/apis/apps/v9"] {
        let answer = get(&server, path).await;
        assert_eq!((answer.code, &answer.json()["reason"]), (404, &json!("NotFound")), "{path}");
    }
    for (method, path) in [("POST", "/api/v1"), ("HEAD", "/version"), ("DELETE", "/api")] {
        let answer = ask(&server, method, path, &[]).await;
        assert_eq!(
            (answer.code, &answer.json()["reason"]),
            (405, &json!("MethodNotAllowed")),
            "{path}"
        );
    }
    for (path, accept) in
        [("/apis", "text/plain"), ("/api/v1", "application/xml"), ("/api/v1", AGGREGATED)]
    {
        let answer = get_as(&server, path, accept).await;
        assert_eq!(
            (answer.code, &answer.json()["reason"]),
            (406, &json!("NotAcceptable")),
            "{path}"
        );
    }
}

#[tokio::test]
async fn health_is_told_as_a_real_server_does() {
    let server = DevServer::new();
    for name in ["healthz", "livez", "readyz"] {
        let answer = get(&server, &format!("/{name}")).await;
        assert_eq!((answer.code, answer.body.as_str()), (200, "ok"));
        assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
        assert_eq!(get(&server, &format!("/{name}/ping")).await.body, "ok");
        let verbose = get(&server, &format!("/{name}?verbose&exclude=etcd")).await.body;
        let warning = "warn: some health checks cannot be excluded: no matches for \"etcd\"";
        assert_eq!(verbose, format!("[+]ping ok\n{warning}\n{name} check passed\n"));
        let excluded = get(&server, &format!("/{name}?verbose=1&exclude=ping")).await.body;
        assert_eq!(excluded, format!("[+]ping excluded: ok\n{name} check passed\n"));
    }
}

#[tokio::test]
async fn version_and_root_say_what_is_served() {
    let server = with_custom_kinds();
    let version = get(&server, "/version").await.json();
    assert_eq!((&version["major"], &version["minor"]), (&json!("1"), &json!("37")));
    assert!(version["gitVersion"].as_str().unwrap().starts_with("v1.37."), "{version}");
    for name in ["gitCommit", "gitTreeState", "buildDate", "goVersion", "compiler", "platform"] {
        assert!(version[name].is_string(), "{name}");
    }
    let paths = get(&server, "/").await.json()["paths"].clone();
    let paths: Vec<&str> =
        paths.as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    assert!(paths.is_sorted());
    for path in ["/api/v1", "/apis/apps", "/apis/lab.test/v1beta1", "/openapi/v3", "/readyz/ping"] {
        assert!(paths.contains(&path), "{path}");
    }
    for path in paths {
        assert_eq!(get(&server, path).await.code, 200, "{path}");
    }
}

#[tokio::test]
async fn openapi_tells_of_the_parameters_clients_look_for() {
    let server = with_custom_kinds();
    let index = get_as(&server, "/openapi/v3", "application/json, */*").await.json();
    for (path, gvk) in [
        ("api/v1", ("", "v1", "ConfigMap")),
        ("apis/apps/v1", ("apps", "v1", "Deployment")),
        ("apis/apps/v1", ("autoscaling", "v1", "Scale")),
        ("apis/lab.test/v1", ("lab.test", "v1", "Widget")),
        ("apis/lab.test/v1beta1", ("lab.test", "v1beta1", "Widget")),
    ] {
        let url = index["paths"][path]["serverRelativeURL"].as_str().unwrap();
        let document = get(&server, url).await;
        assert_eq!(document.header("cache-control"), "public, immutable");
        let document = document.json();
        let gvk = json!({"group": gvk.0, "version": gvk.1, "kind": gvk.2});
        let operations: Vec<(&String, &Value)> = document["paths"]
            .as_object()
            .unwrap()
            .values()
            .flat_map(|methods| methods.as_object().unwrap())
            .filter(|(_, operation)| operation["x-kubernetes-group-version-kind"] == gvk)
            .collect();
        assert!(operations.iter().any(|(method, _)| *method == "patch"), "{gvk}");
        for (method, operation) in operations {
            let parameters = operation["parameters"].as_array().unwrap();
            let has = |name: &str| {
                parameters.iter().any(|one| one["name"] == name && one["in"] == "query")
            };
            let writes = ["patch", "post", "put"].contains(&method.as_str());
            assert_eq!(has("fieldValidation"), writes, "{gvk} {method}");
            assert_eq!(has("dryRun"), method != "get", "{gvk} {method}");
        }
        let mut references = Vec::new();
        find_references(&document, &mut references);
        assert!(!references.is_empty());
        for reference in references {
            let schema = document.pointer(reference.strip_prefix('#').unwrap());
            assert!(schema.is_some(), "{path}: {reference}");
        }
    }
}

#[tokio::test]
async fn the_old_openapi_document_describes_nothing_in_both_forms() {
    let server = DevServer::new();
    let json = get(&server, "/openapi/v2").await.json();
    assert_eq!((&json["swagger"], &json["paths"]), (&json!("2.0"), &json!({})));
    for mark in ['@', '.'] {
        let accept = format!("application/com.github.proto-openapi.spec.v2{mark}v1.0+protobuf");
        let protobuf = get_as(&server, "/openapi/v2", &accept).await;
        assert_eq!(protobuf.code, 200);
        assert!(protobuf.header("content-type").ends_with("+protobuf"));
        let version = json["info"]["version"].as_str().unwrap();
        let (info, length) = (version.len() + 14, version.len());
        let wanted = format!(
            "\n\u{3}2.0\u{12}{}\n\u{a}Kubernetes\u{12}{}{version}\u{42}\0",
            char::from(info as u8),
            char::from(length as u8),
        );
        assert_eq!(protobuf.body, wanted);
    }
    assert_eq!(get_as(&server, "/openapi/v2", "text/plain").await.code, 406);
}

fn find_references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(reference) if name == "$ref" => found.push(reference.clone()),
                    other => find_references(other, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| find_references(item, found)),
        _ => {}
    }
}

#[tokio::test]
async fn an_old_openapi_address_leads_to_the_new_document() {
    let server = DevServer::new();
    let moved = get(&server, "/openapi/v3/apis/apps/v1?hash=OLD&timeout=32s").await;
    assert_eq!(moved.code, 301);
    let found = get(&server, moved.header("location")).await;
    assert_eq!(found.code, 200);
    let plain = get(&server, "/openapi/v3/apis/apps/v1").await;
    assert_eq!((plain.body == found.body, plain.header("cache-control")), (true, ""));
    let tag = [("if-none-match", plain.header("etag"))];
    assert_eq!(ask(&server, "GET", "/openapi/v3/apis/apps/v1", &tag).await.code, 304);
}
