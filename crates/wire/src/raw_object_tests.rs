use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_meta::{Selector, Unstructured};
use proptest::prelude::*;
use serde_json::{Map, json};

use super::*;
use crate::test_support::{self, object, spoil, spoils, text};

fn raw(json: &str) -> RawObject {
    RawObject::from_json(json).unwrap()
}

#[test]
fn the_header_is_read() {
    let object = raw(
        r#"{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"web","namespace":"shop","uid":"u-1",
            "resourceVersion":"0009","generation":3,"deletionTimestamp":"2026-01-02T03:04:05Z",
            "labels":{"app":"web","empty":""},"annotations":{"note":"a \"b\""},"finalizers":["x/y"],
            "ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"web","uid":"u-0","controller":true}]},
            "spec":{"replicas":2}}"#,
    );
    assert_eq!(object.api_version(), Some("apps/v1"));
    assert_eq!(object.kind(), Some("ReplicaSet"));
    assert_eq!(object.key(), &ObjectKey::namespaced("shop", "web"));
    assert_eq!((object.name(), object.namespace()), ("web", Some("shop")));
    assert_eq!((object.uid(), object.resource_version()), ("u-1", "0009"));
    assert_eq!(object.generation(), Some(3));
    assert!(object.is_being_deleted());
    assert_eq!(object.deletion_timestamp().unwrap().0.to_string(), "2026-01-02T03:04:05Z");
    assert_eq!(object.label("app").as_deref(), Some("web"));
    assert_eq!(object.label("empty").as_deref(), Some(""));
    assert_eq!(object.label("ap"), None);
    assert_eq!(object.annotation("note").as_deref(), Some("a \"b\""));
    assert_eq!(object.finalizers(), ["x/y"]);
    let owners = object.owner_references();
    assert_eq!(
        (owners.len(), owners[0].uid.as_str(), owners[0].controller),
        (1, "u-0", Some(true))
    );
    let selector: Selector = "app=web,empty,!gone".parse().unwrap();
    assert!(selector.matches(&object) && selector.matches(&object.labels()));
}

#[test]
fn absent_and_null_fields_read_as_absent() {
    let nulls = r#"{"kind":null,"metadata":{"name":"a","namespace":null,"uid":null,"labels":null,"annotations":null,
        "generation":null,"finalizers":null,"ownerReferences":null,"deletionTimestamp":null},"spec":null}"#;
    for json in [nulls, r#"{"metadata":{"name":"a","labels":{},"finalizers":[]}}"#] {
        let object = raw(json);
        assert_eq!(object.key(), &ObjectKey::cluster("a"));
        assert_eq!((object.api_version(), object.kind(), object.generation()), (None, None, None));
        assert_eq!((object.uid(), object.resource_version()), ("", ""));
        assert!(object.labels().is_empty() && object.annotations().is_empty());
        assert!(object.owner_references().is_empty() && object.finalizers().is_empty());
        assert!(!object.is_being_deleted() && object.deletion_timestamp().is_none());
    }
    assert_eq!(raw("{}").key().as_str(), "");
    assert_eq!(raw(r#" {"metadata":null} "#).bytes(), r#"{"metadata":null}"#);
    assert_eq!(raw(r#"{"metadata":{"labels":{"a":null}}}"#).label("a").as_deref(), Some(""));
}

#[test]
fn escapes_are_read() {
    let object = raw(
        r#"{"\u006bind":"C\u006fnfigMap","metadata":{"n\u0061me":"\u00e9\ud83e\udd80","resourceVersion":"\"7\"",
            "labels":{"a\/b":"\u0031"}}}"#,
    );
    assert_eq!(
        (object.kind(), object.name(), object.resource_version()),
        (Some("ConfigMap"), "é🦀", "\"7\"")
    );
    assert_eq!(object.label("a/b").as_deref(), Some("1"));
    assert_eq!(object.clone().labels().to_map(), [("a/b".to_owned(), "1".to_owned())].into());
}

#[test]
fn of_members_that_occur_twice_the_last_counts() {
    let object = raw(
        r#"{"metadata":{"name":"a","uid":"1"},"kind":"A","metadata":{"name":"b","name":"c"},"kind":"B"}"#,
    );
    assert_eq!((object.name(), object.uid(), object.kind()), ("c", "", Some("B")));
    assert_eq!(
        raw(r#"{"metadata":{"labels":{"a":"1","a":"2"}}}"#).label("a").as_deref(),
        Some("2")
    );
}

#[test]
fn managed_fields_are_cut_out_wherever_they_are() {
    let cases = [
        (
            r#"{"metadata":{"managedFields":[{"a":"}]"}],"name":"a"},"x":1}"#,
            r#"{"metadata":{"name":"a"},"x":1}"#,
        ),
        (
            r#"{"metadata":{"name":"a","managedFields":[]},"x":1}"#,
            r#"{"metadata":{"name":"a"},"x":1}"#,
        ),
        (
            r#"{"metadata":{"name":"a","managedFields":null,"uid":"u"}}"#,
            r#"{"metadata":{"name":"a","uid":"u"}}"#,
        ),
        (r#"{"metadata":{"managedFields":[]}}"#, r#"{"metadata":{}}"#),
        (
            r#"{"metadata":{ "name" : "a" , "managedFields" : [] , "uid":"u" }}"#,
            r#"{"metadata":{ "name" : "a" , "uid":"u" }}"#,
        ),
        (
            r#"{"metadata":{"managedFields":[],"name":"a","managed\u0046ields":[],"managedFields":[1]}}"#,
            r#"{"metadata":{"name":"a"}}"#,
        ),
        (
            r#"{"metadata":{"managedFields":[],"managedFields":[1],"name":"a"}}"#,
            r#"{"metadata":{"name":"a"}}"#,
        ),
        (
            r#"{"metadata":{"name":"a","labels":{"managedFields":"stays"}},"managedFields":1}"#,
            r#"{"metadata":{"name":"a","labels":{"managedFields":"stays"}},"managedFields":1}"#,
        ),
    ];
    for (json, expected) in cases {
        let object = RawObject::from_json_without_managed_fields(json).unwrap();
        assert_eq!(object.bytes(), expected);
        assert_eq!(raw(json).bytes(), json);
        assert_eq!(object.name(), raw(json).name());
    }
}

#[test]
fn a_handle_is_small_and_owns_no_more_than_its_bytes() {
    assert_eq!(size_of::<RawObject>(), size_of::<usize>());
    assert!(size_of::<Inner>() <= 160, "{}", size_of::<Inner>());
    let chunk = Bytes::from(format!("{}{}", r#"{"metadata":{"name":"a"}}"#, " ".repeat(1 << 20)));
    let object = RawObject::from_json(chunk.slice(..25)).unwrap();
    assert!(chunk.is_unique(), "the chunk is still held");
    assert_eq!(object.bytes(), r#"{"metadata":{"name":"a"}}"#);
}

#[test]
fn what_is_no_object_with_metadata_is_refused() {
    let named = r#"{"metadata":{"namespace":"ns","name":"n"}"#;
    let cases = [
        ("".to_owned(), None),
        ("[]".to_owned(), None),
        ("\"a\"".to_owned(), None),
        (r#"{"kind":1}"#.to_owned(), None),
        (r#"{"metadata":[]}"#.to_owned(), None),
        (r#"{"metadata":{"name":1}}"#.to_owned(), None),
        (r#"{"metadata":{"name":"n","labels":{"a":1}}}"#.to_owned(), Some("n")),
        (r#"{"metadata":{"name":"n","annotations":["a"]}}"#.to_owned(), Some("n")),
        (r#"{"metadata":{"name":"n","finalizers":[null]}}"#.to_owned(), Some("n")),
        (r#"{"metadata":{"name":"n","ownerReferences":[{"uid":7}]}}"#.to_owned(), Some("n")),
        (r#"{"metadata":{"name":"n","generation":1.5}}"#.to_owned(), Some("n")),
        (r#"{"metadata":{"name":"n","deletionTimestamp":"soon"}}"#.to_owned(), Some("n")),
        (format!("{named}}}{{}}"), Some("ns/n")),
        (format!("{named},\"spec\":{{\"a\":tru}}}}"), Some("ns/n")),
        (format!("{named},\"spec\":{{\"a\":"), Some("ns/n")),
        (named.to_owned(), Some("ns/n")),
    ];
    for (json, key) in cases {
        let error = RawObject::from_json(&json).unwrap_err();
        assert!(error.is_malformed() && error.offset().is_some(), "{json}: {error}");
        assert_eq!(error.object_key().map(ObjectKey::as_str), key, "{json}: {error}");
    }
    let error =
        RawObject::from_json(b"{\"metadata\":{\"name\":\"n\"},\"a\":\"\xff\"}").unwrap_err();
    assert_eq!(error.to_string(), "malformed object n: not valid UTF-8 (byte 30)");
    let huge = format!(r#"{{"a":"{}"}}"#, "x".repeat(MAX_OBJECT_BYTES));
    assert!(RawObject::from_json(huge).unwrap_err().is_too_large());
}

#[test]
fn debug_shows_no_content() {
    let object =
        raw(r#"{"metadata":{"name":"a","annotations":{"note":"hunter2"}},"data":{"p":"hunter2"}}"#);
    assert!(!format!("{object:?} {:?}", object.annotations()).contains("hunter2"));
}

#[test]
fn items_without_type_decode_and_encoded_objects_come_back() {
    let json = r#"{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c"}],"nodeName":"n"}}"#;
    let pod: Pod = raw(json).decode().unwrap();
    let encoded = RawObject::encode(&pod).unwrap();
    assert_eq!((encoded.kind(), encoded.api_version()), (Some("Pod"), Some("v1")));
    assert_eq!(encoded.decode::<Pod>().unwrap(), pod);
    assert_eq!(encoded, RawObject::encode(&pod).unwrap());
    assert_ne!(encoded, raw(json));
}

/// Metadata in any order, with what the header is read from and other members.
fn metadata() -> impl Strategy<Value = (Vec<(String, Value)>, Value)> {
    let texts = || prop::collection::btree_map(text(), text(), 0..4).prop_map(|map| json!(map));
    let some = |name: &'static str, value: BoxedStrategy<Value>| {
        prop::option::of(value.prop_map(move |value| (name.to_owned(), value)))
    };
    let owner = (text(), text(), any::<Option<bool>>()).prop_map(
        |(name, uid, controller)| json!({"name": name, "uid": uid, "controller": controller}),
    );
    let known = (
        some("name", text().prop_map(Value::from).boxed()),
        some("namespace", text().prop_map(Value::from).boxed()),
        some("uid", text().prop_map(Value::from).boxed()),
        some("resourceVersion", text().prop_map(Value::from).boxed()),
        some("generation", any::<i64>().prop_map(Value::from).boxed()),
        some("labels", texts().boxed()),
        some("annotations", texts().boxed()),
        some("finalizers", prop::collection::vec(text(), 0..3).prop_map(Value::from).boxed()),
        some("ownerReferences", prop::collection::vec(owner, 0..3).prop_map(Value::from).boxed()),
        some("generateName", text().prop_map(Value::from).boxed()),
    );
    (known, prop::option::of(test_support::json()), any::<u64>()).prop_map(
        |(known, managed, seed)| {
            let (a, b, c, d, e, f, g, h, i, j) = known;
            let mut members: Vec<_> =
                [a, b, c, d, e, f, g, h, i, j].into_iter().flatten().collect();
            let expected = Map::from_iter(members.clone()).into();
            members.extend(managed.map(|value| ("managedFields".to_owned(), value)));
            fastrand::Rng::with_seed(seed).shuffle(&mut members);
            (members, expected)
        },
    )
}

fn write_object(metadata: &[(String, Value)], rest: &Value, pretty: bool) -> String {
    let space = if pretty { "\n  " } else { "" };
    let members: Vec<String> = metadata
        .iter()
        .map(|(key, value)| {
            format!(
                "{space}{}{space}:{}",
                Value::from(key.as_str()),
                test_support::write(value, pretty)
            )
        })
        .collect();
    format!(r#"{{"spec":{rest},"metadata":{{{}{space}}}{space}}}"#, members.join(","))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn header_and_strip_agree_with_decoding((members, metadata) in metadata(), spec in object(), pretty: bool) {
        let json = write_object(&members, &spec, pretty);
        let object = RawObject::from_json_without_managed_fields(&json).unwrap();
        let value: Value = serde_json::from_slice(object.bytes()).unwrap();
        prop_assert_eq!(&value, &json!({"spec": spec, "metadata": metadata}));

        let decoded: ObjectMeta = serde_json::from_value(metadata).unwrap();
        prop_assert_eq!(object.name(), decoded.name.as_deref().unwrap_or_default());
        prop_assert_eq!(object.namespace(), decoded.namespace.as_deref().filter(|text| !text.is_empty()));
        prop_assert_eq!(object.uid(), decoded.uid.as_deref().unwrap_or_default());
        prop_assert_eq!(object.resource_version(), decoded.resource_version.as_deref().unwrap_or_default());
        prop_assert_eq!(object.generation(), decoded.generation);
        prop_assert_eq!(object.finalizers(), decoded.finalizers.unwrap_or_default());
        prop_assert_eq!(object.owner_references(), decoded.owner_references.unwrap_or_default());
        prop_assert_eq!(object.annotations().to_map(), decoded.annotations.unwrap_or_default());
        let labels = decoded.labels.unwrap_or_default();
        for (key, value) in &labels {
            prop_assert_eq!(object.label(key), Some(Cow::Borrowed(value.as_str())));
        }
        prop_assert_eq!(object.labels().to_map(), labels);
    }

    #[test]
    fn what_is_accepted_is_well_formed(
        (members, _) in metadata(), spec in object(), pretty: bool, spoils in spoils(), strip: bool,
    ) {
        let bytes = spoil(&write_object(&members, &spec, pretty), &spoils);
        let scanned = if strip {
            RawObject::from_json_without_managed_fields(&bytes)
        } else {
            RawObject::from_json(&bytes)
        };
        match scanned {
            Ok(object) => {
                prop_assert!(serde_json::from_slice::<Value>(object.bytes()).is_ok());
                let owners = object.field("metadata.ownerReferences").unwrap();
                let count = owners.and_then(|owners| owners.as_array().map(Vec::len)).unwrap_or(0);
                prop_assert_eq!(object.owner_references().len(), count);
                let _ = object.labels().to_map();
                let _ = object.decode::<ConfigMap>();
                if let Err(error) = object.decode::<Unstructured>() {
                    prop_assert!(error.is_decode());
                }
            }
            Err(error) => prop_assert!(error.offset().is_some_and(|offset| offset <= bytes.len())),
        }
    }
}

#[test]
fn owner_references_that_are_accepted_can_be_decoded() {
    for (owners, count) in [
        ("[{}]", 1),
        (
            r#"[{"apiVersion":null,"kind":null,"name":null,"uid":null,"controller":null}, {"blockOwnerDeletion":false}]"#,
            2,
        ),
        (
            r#"[{"name":"a","name":"b","other":{"deep":[1]},"controller":true,"controller":null}]"#,
            1,
        ),
    ] {
        let object = raw(&format!(r#"{{"metadata":{{"ownerReferences":{owners}}}}}"#));
        assert_eq!(object.owner_references().len(), count, "{owners}");
    }
}
