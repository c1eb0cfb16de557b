//! Bodies in protobuf, as Go's typed clients send them.

mod lab;

use lab::{Answer, Lab};
use serde_json::json;

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

// Written by Go's own serializer, in hexadecimal.
/// `kw`
const NAMESPACE: &str = "6b3873000a0f0a02763112094e616d657370616365121a0a120a026b7712001a0022002a0032003800420012001a020a001a\
    002200";
/// `c`, with data, binary data, and `immutable: false`
const CONFIG_MAP: &str = "6b3873000a0f0a0276311209436f6e6669674d617012450a190a016312001a0022002a0032003800420808a5ebdcca061000\
    12060a016112016212090a05656d70747912001a080a046e6f6e6512001a090a03726177120200ff20001a002200";
/// `d`, with no replicas, one container with a limit and an empty volume
const DEPLOYMENT: &str = "6b3873000a150a07617070732f7631120a4465706c6f796d656e741295010a110a016412001a0022002a0032003800420012\
    7208001a660a100a0012001a0022002a0032003800420012520a090a0176120412020a0012290a01631201692a00420f0a0d\
    0a0363707512060a043530306d6a007200800100880100900100a201001a00320042004a0052005800600068008201008a01\
    009a0100c2010022020a00280038001a0c0800100018002000280038001a002200";
/// Of `p`, at once, if it is `u-1`
const EVICTION: &str = "6b3873000a150a09706f6c6963792f763112084576696374696f6e121e0a110a017012001a0022002a003200380042001209\
    080012050a03752d311a002200";
/// Of apps/v1: in the foreground, and not leaving dependents either
const DELETE_OPTIONS: &str = "6b3873000a180a07617070732f7631120d44656c6574654f7074696f6e73120e1800220a466f726567726f756e641a002200";

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.chars().map(|digit| digit.to_digit(16).unwrap() as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

async fn send(lab: &Lab, method: &str, path: &str, body: Vec<u8>) -> Answer {
    let headers = [
        ("content-type", PROTOBUF),
        ("accept", "application/vnd.kubernetes.protobuf,application/json"),
    ];
    lab.raw(method, path, &headers, body).await
}

#[tokio::test]
async fn objects_are_created_and_replaced_from_protobuf() {
    let lab = Lab::new();
    let namespace = send(&lab, "POST", "/api/v1/namespaces", bytes(NAMESPACE)).await;
    assert_eq!(namespace.headers["content-type"], "application/json");
    let namespace = namespace.ok();
    assert_eq!(namespace["metadata"]["name"], "kw");
    assert_eq!(namespace["status"], json!({"phase": "Active"}));

    let config_map = send(&lab, "POST", CONFIG_MAPS, bytes(CONFIG_MAP)).await.ok();
    assert_eq!(config_map["data"], json!({"a": "b", "empty": ""}));
    assert_eq!(config_map["binaryData"], json!({"none": "", "raw": "AP8="}));
    assert_eq!(config_map["immutable"], false);
    let path = format!("{CONFIG_MAPS}/c");
    assert_eq!(lab.get(&path).await.ok(), config_map);
    let replaced = send(&lab, "PUT", &path, bytes(CONFIG_MAP)).await.ok();
    assert_eq!(replaced["data"], config_map["data"]);
}

/// What protobuf says is treated as if JSON had said it: here by the checks of the resource.
#[tokio::test]
async fn objects_from_protobuf_are_checked_as_those_from_json() {
    let lab = Lab::new();
    let path = "/apis/apps/v1/namespaces/default/deployments";
    let body = bytes(DEPLOYMENT);
    let from_protobuf = send(&lab, "POST", path, body.clone()).await;
    let message = from_protobuf.refused(422, "Invalid");
    assert!(message.contains("spec.selector"), "{message}");
    let template = json!({"spec": {
        "volumes": [{"name": "v", "emptyDir": {}}],
        "containers": [{"name": "c", "image": "i", "resources": {"limits": {"cpu": "500m"}}}],
    }});
    let object = json!({"metadata": {"name": "d"}, "spec": {"replicas": 0, "template": template}});
    assert_eq!(lab.post(path, object).await.body, from_protobuf.body);

    let there = send(&lab, "POST", CONFIG_MAPS, bytes(CONFIG_MAP)).await;
    there.ok();
    send(&lab, "POST", CONFIG_MAPS, bytes(CONFIG_MAP)).await.refused(409, "AlreadyExists");
    let message = send(&lab, "POST", CONFIG_MAPS, body).await.refused(400, "BadRequest");
    assert!(message.contains("Deployment in version \"apps/v1\""), "{message}");
}

#[tokio::test]
async fn deletes_and_evictions_read_their_options_from_protobuf() {
    let lab = Lab::new();
    let pods = "/api/v1/namespaces/default/pods";
    let containers = json!([{"name": "c", "image": "i"}]);
    lab.post(pods, json!({"metadata": {"name": "p"}, "spec": {"containers": containers}}))
        .await
        .ok();
    let evict = format!("{pods}/p/eviction");
    let message = send(&lab, "POST", &evict, bytes(EVICTION)).await.refused(409, "Conflict");
    assert!(message.contains("u-1"), "{message}");

    // Both ways to say what becomes of the dependents: only who has read them can refuse.
    for path in [format!("{pods}/p"), "/apis/lab.test/v1/namespaces/default/widgets/w".to_owned()] {
        let refused = send(&lab, "DELETE", &path, bytes(DELETE_OPTIONS)).await;
        let message = refused.refused(422, "Invalid");
        assert!(message.contains("orphanDependents"), "{message}");
    }
    // No options at all, whatever the media type.
    send(&lab, "DELETE", &format!("{pods}/p"), Vec::new()).await.ok();
}

#[tokio::test]
async fn protobuf_that_is_none_is_refused_with_the_field() {
    let lab = Lab::new();
    let namespaces = "/api/v1/namespaces";
    let mut body = bytes(NAMESPACE);
    let name = body.windows(2).position(|text| text == b"kw").unwrap();
    body[name] = 0xff;
    let message = send(&lab, "POST", namespaces, body).await.refused(400, "BadRequest");
    assert!(message.contains("v1 Namespace: metadata.name: the text is not UTF-8"), "{message}");
    for body in [b"".as_slice(), b"{\"metadata\":{\"name\":\"a\"}}", b"k8s\0\xff"] {
        send(&lab, "POST", namespaces, body.to_vec()).await.refused(400, "BadRequest");
    }
}

#[tokio::test]
async fn protobuf_is_not_taken_where_it_means_nothing() {
    let lab = Lab::new();
    let widgets = "/apis/lab.test/v1/namespaces/default/widgets";
    let message =
        send(&lab, "POST", widgets, bytes(NAMESPACE)).await.refused(415, "UnsupportedMediaType");
    assert!(message.ends_with("include: application/json"), "{message}");
    send(&lab, "PATCH", &format!("{CONFIG_MAPS}/c"), bytes(CONFIG_MAP))
        .await
        .refused(415, "UnsupportedMediaType");

    let only = [("content-type", PROTOBUF), ("accept", PROTOBUF)];
    lab.raw("POST", "/api/v1/namespaces", &only, bytes(NAMESPACE))
        .await
        .refused(406, "NotAcceptable");
    lab.get("/api/v1/namespaces/kw").await.refused(404, "NotFound");
}
