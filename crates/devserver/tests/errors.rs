//! B36: every refusal is a `Status` in JSON, whose code is that of the answer.

mod lab;

use lab::*;
use serde_json::json;

#[tokio::test]
async fn b36_unknown_paths() {
    let lab = Lab::new();
    for path in [
        "/api/v1/nothings",
        "/api/v9/pods",
        "/apis/none.test/v1/pods",
        "/apis/apps/v1/namespaces/default/pods",
        "/api/v1/namespaces/default/nodes",
        "/api/v1/pods/a",
        "/api/v1/namespaces/default/pods/a/nothing",
        "/api/v1/namespaces/default/pods/a/status/more",
        "/api/v1/namespaces/default/configmaps/a/log",
    ] {
        assert_eq!(
            lab.get(path).await.refused(404, "NotFound"),
            "the server could not find the requested resource",
            "{path}"
        );
    }
    let missing = lab.get(&format!("{PODS}/x")).await;
    assert_eq!(missing.refused(404, "NotFound"), "pods \"x\" not found");
    assert_eq!(missing.body["details"], json!({"name": "x", "kind": "pods"}));
    let missing = lab.get(&format!("{REPLICA_SETS}/x")).await;
    assert_eq!(missing.refused(404, "NotFound"), "replicasets.apps \"x\" not found");
    assert_eq!(
        missing.body["details"],
        json!({"name": "x", "group": "apps", "kind": "replicasets"})
    );
    lab.get("/api/v1/namespaces/default/pods/%FF").await.refused(400, "BadRequest");
}

#[tokio::test]
async fn what_needs_a_kubelet_is_refused_by_name() {
    let lab = Lab::new();
    for (method, path, why) in [
        ("GET", "log", "so there are no logs"),
        ("GET", "log?follow=true&container=c", "so there are no logs"),
        ("POST", "exec?command=ls", "nothing to run a command in"),
        ("GET", "exec?command=ls", "nothing to run a command in"),
        ("POST", "attach", "attach to"),
        ("POST", "portforward", "nothing listens on the ports"),
        ("GET", "proxy", "nothing listens on the ports"),
        ("GET", "proxy/metrics", "nothing listens on the ports"),
    ] {
        let path = format!("{PODS}/a/{path}");
        let message = lab.raw(method, &path, &[], "").await.refused(501, "NotImplemented");
        assert!(
            message.starts_with("the development server runs no containers")
                && message.contains(why),
            "{path}: {message}"
        );
    }
}

#[tokio::test]
async fn nobody_is_impersonated() {
    let lab = Lab::new();
    for header in
        ["Impersonate-User", "Impersonate-Group", "Impersonate-Uid", "Impersonate-Extra-scopes"]
    {
        for path in [CONFIG_MAPS, "/apis"] {
            let refused = lab.raw("GET", path, &[(header, "jane")], "").await;
            let message = refused.refused(501, "NotImplemented");
            assert!(message.contains(&header.to_lowercase()), "{message}");
            assert!(!message.contains("jane"), "{message}");
        }
    }
    assert!(lab.server.request_counts().is_empty());
}

#[tokio::test]
async fn b36_wrong_methods() {
    let lab = Lab::new();
    lab.config_map("a").await;
    let named = format!("{CONFIG_MAPS}/a");
    for (method, path) in [
        ("PUT", CONFIG_MAPS),
        ("PATCH", CONFIG_MAPS),
        ("POST", named.as_str()),
        ("OPTIONS", CONFIG_MAPS),
        ("POST", "/api/v1/configmaps"),
    ] {
        let refused = lab.raw(method, path, &[], "{}").await;
        assert_eq!(
            refused.refused(405, "MethodNotAllowed"),
            "the server does not allow this method on the requested resource"
        );
    }
}

/// B71: events cannot be posted across namespaces.
#[tokio::test]
async fn b71_events_need_a_namespace() {
    let lab = Lab::new();
    for path in ["/api/v1/events", "/apis/events.k8s.io/v1/events"] {
        lab.post(path, json!({"metadata": {"name": "e"}})).await.refused(405, "MethodNotAllowed");
    }
}

#[tokio::test]
async fn b36_bad_bodies_and_media_types() {
    let lab = Lab::new();
    for body in [
        "",
        "{",
        "[]",
        "1",
        "{\"metadata\": {\"name\": 1}}",
        "{\"metadata\": {}, \"data\": {}, \"data\": {}}",
    ] {
        lab.raw("POST", CONFIG_MAPS, &[], body).await.refused(400, "BadRequest");
    }
    let deep = format!(
        "{{\"metadata\":{{\"name\":\"a\"}},\"data\":{}{}}}",
        "[".repeat(110),
        "]".repeat(110)
    );
    lab.raw("POST", CONFIG_MAPS, &[], deep).await.refused(400, "BadRequest");
    for content_type in ["application/yaml", "text/plain"] {
        let refused = lab.raw("POST", CONFIG_MAPS, &[("content-type", content_type)], "a: 1").await;
        assert!(refused.refused(415, "UnsupportedMediaType").contains("application/json"));
    }
    let large = format!(
        "{{\"metadata\":{{\"name\":\"a\"}},\"data\":{{\"x\":\"{}\"}}}}",
        "x".repeat(3 << 20)
    );
    assert_eq!(
        lab.raw("POST", CONFIG_MAPS, &[], large).await.refused(413, "RequestEntityTooLarge"),
        "Request entity too large: limit is 3145728"
    );
    let almost = format!(
        "{{\"metadata\":{{\"name\":\"a\"}},\"data\":{{\"x\":\"{}\"}}}}",
        "x".repeat((3 << 20) - 100)
    );
    // Small enough to be read, and too large for its kind.
    lab.raw("POST", CONFIG_MAPS, &[], almost).await.refused(422, "Invalid");
}

#[tokio::test]
async fn b36_accept() {
    let lab = Lab::new();
    let get = async |accept: &str| lab.raw("GET", CONFIG_MAPS, &[("accept", accept)], "").await;
    for fine in [
        "application/json",
        "*/*",
        "application/*;q=0.5",
        "application/json;stream=watch",
        "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
        "application/vnd.kubernetes.protobuf, application/json;charset=utf-8",
    ] {
        let answer = get(fine).await;
        assert_eq!(answer.headers["content-type"], "application/json");
        assert_eq!(answer.ok()["kind"], "ConfigMapList", "{fine}");
    }
    for bad in [
        "application/xml",
        "application/vnd.kubernetes.protobuf",
        "application/yaml",
        "application/json;as=Table;v=v1;g=meta.k8s.io",
        "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
        "application/json;q=0",
    ] {
        let message = get(bad).await.refused(406, "NotAcceptable");
        assert!(
            message.starts_with("only the following media types are accepted: application/json")
        );
    }
}
