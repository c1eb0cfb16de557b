use k8s_openapi::api::core::v1::{Pod, Secret, Service};
use kubewright_meta::Object;
use serde_json::{Value, json};

use crate::RawObject;

fn raw(value: &Value) -> RawObject {
    RawObject::from_json(value.to_string()).unwrap()
}

fn probe(port: &Value) -> Value {
    json!({"metadata": {"name": "web", "namespace": "shop"}, "spec": {"containers": [{"name": "a"},
        {"name": "b", "livenessProbe": {"httpGet": {"path": "/", "port": port}}}]}})
}

#[test]
fn numbers_and_names_of_ports_decode_and_keep_their_kind() {
    for port in [json!(8080), json!("http"), json!("8080"), json!(0)] {
        let pod: Pod = raw(&probe(&port)).decode().unwrap();
        let printed = serde_json::to_value(&pod).unwrap();
        assert_eq!(printed["spec"]["containers"][1]["livenessProbe"]["httpGet"]["port"], port);
        let from_value: Pod = serde_json::from_value(probe(&port)).unwrap();
        assert_eq!(pod, from_value);
    }
    let service =
        json!({"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80, "targetPort": 0}]}});
    let service: Service = raw(&service).decode().unwrap();
    assert_eq!(serde_json::to_value(&service).unwrap()["spec"]["ports"][0]["targetPort"], 0);
}

#[test]
fn a_field_that_does_not_fit_is_named() {
    let at = "spec.containers[1].livenessProbe.httpGet.port";
    for port in [json!(3_000_000_000_u32), json!(1.5), json!(true), json!({}), json!([])] {
        for pretty in [false, true] {
            let json = crate::test_support::write(&probe(&port), pretty);
            let error = RawObject::from_json(json).unwrap().decode::<Pod>().unwrap_err();
            assert!(error.is_decode());
            assert_eq!(error.field(), Some(at), "{error}");
            assert_eq!(error.object_key().unwrap().as_str(), "shop/web");
            assert!(
                error.to_string().starts_with(&format!("cannot decode Pod shop/web: {at}: ")),
                "{error}"
            );
        }
    }
}

#[test]
fn fields_of_every_shape_are_named() {
    let cases = [
        (json!({"spec": {"nodeName": 5}}), "spec.nodeName"),
        (json!({"spec": []}), "spec"),
        (json!({"spec": {"containers": {"name": "x"}}}), "spec.containers"),
        (json!({"spec": {"nodeSelector": {"a.b/c": [1, 2]}}}), "spec.nodeSelector[a.b/c]"),
        (json!({"metadata": {"creationTimestamp": "yesterday"}}), "metadata.creationTimestamp"),
        (json!({"metadata": {"selfLink": {"a": {"b": 1}}}}), "metadata.selfLink"),
    ];
    for (value, at) in cases {
        let error = raw(&value).decode::<Pod>().unwrap_err();
        assert_eq!(error.field(), Some(at), "{error}");
        assert!(!error.to_string().contains("yesterday"), "{error}");
    }
}

#[test]
fn another_kind_is_named() {
    let error = raw(&json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}}))
        .decode::<Pod>()
        .unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("cannot decode Pod s: kind: "), "{text}");
    assert!(text.contains("Service") && text.contains("Pod"), "{text}");
}

#[test]
fn values_are_not_shown() {
    for data in [
        json!("hunter2"),
        json!(["hunter2"]),
        json!({"p": "hunter2!"}),
        json!({"p": 774411}),
        json!({"p": ["774411"]}),
    ] {
        let error =
            raw(&json!({"metadata": {"name": "s"}, "data": data})).decode::<Secret>().unwrap_err();
        assert!(error.is_decode() && error.field().unwrap().starts_with("data"), "{error}");
        let text = format!("{error} {error:?}");
        assert!(!text.contains("hunter2") && !text.contains("774411"), "{text}");
    }
}

#[test]
fn types_beside_the_built_in_ones_decode() {
    use kubewright_meta::Unstructured;
    let object: Unstructured =
        raw(&json!({"metadata": {"name": "x"}, "spec": {"a": 1}})).decode().unwrap();
    assert_eq!((Object::name(&object), object.field(&["spec", "a"])), ("x", Some(&json!(1))));
}
