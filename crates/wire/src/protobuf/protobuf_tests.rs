use serde_json::{Value, json};

use super::golden::{self, GOLDEN};
use super::schema::Schema;
use super::writer::Writer;
use super::{MAX_DEPTH, to_json, to_json_by};
use crate::Error;

fn refused(body: &[u8]) -> (String, String) {
    let error = to_json(body).unwrap_err();
    assert!(error.is_malformed(), "{error}");
    (error.field().unwrap_or_default().to_owned(), error.to_string())
}

/// An object whose only fields are those of `metadata`.
fn with_metadata(metadata: Writer) -> Vec<u8> {
    Writer::new().message(1, metadata).enveloped("v1", "ConfigMap")
}

#[test]
fn what_go_writes_is_read_as_go_reads_it() {
    for (hex, json) in GOLDEN {
        let wanted: Value = serde_json::from_str(json).unwrap();
        assert_eq!(to_json(&golden::bytes(hex)).unwrap(), wanted);
    }
}

#[test]
fn the_schema_built_in_can_be_read() {
    let schema = Schema::parse(include_str!("schema.txt")).unwrap();
    for kind in [
        ("v1", "Pod"),
        ("apps/v1", "Deployment"),
        ("policy/v1", "Eviction"),
        ("*", "DeleteOptions"),
    ] {
        assert!(schema.kinds().any(|known| known == kind), "{kind:?}");
    }
}

#[test]
fn a_schema_that_makes_no_sense_is_refused() {
    for text in [
        "1 name string",
        "message a.A\n1 name text",
        "message a.A\n1 name string sometimes",
        "message a.A\n2 b string\n1 a string",
        "message a.A\n1 - string inline",
        "message a.A\nmessage a.A",
        "kind v1 B b.B",
        "nonsense",
    ] {
        assert!(Schema::parse(text).is_err(), "{text}");
    }
}

#[test]
fn an_empty_message_is_filled_as_go_has_its_zero_value() {
    let deployment = to_json(&Writer::new().enveloped("apps/v1", "Deployment")).unwrap();
    assert_eq!(
        deployment,
        json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {},
            "spec": {
                "selector": null,
                "template": {"metadata": {}, "spec": {"containers": null}},
                "strategy": {},
            },
            "status": {},
        })
    );
}

#[test]
fn delete_options_are_those_of_any_group() {
    let options = Writer::new().number(1, 0).bytes(5, "All");
    let read = to_json(&options.enveloped("coordination.k8s.io/v1", "DeleteOptions")).unwrap();
    assert_eq!(read["gracePeriodSeconds"], 0);
    assert_eq!(read["dryRun"], json!(["All"]));
    assert_eq!(read.get("orphanDependents"), None);
}

#[test]
fn fields_that_are_not_known_are_passed_over() {
    let metadata = Writer::new()
        .number(1000, 7)
        .bytes(1, "a")
        .bytes(1001, "x")
        .raw(b"\xc1\x3e12345678") // 1000, eight bytes
        .raw(b"\xc5\x3e1234") // 1000, four bytes
        .raw(b"\xc3\x3e\x0b\x08\x01\x0c\xc4\x3e"); // 1000, a group with another in it
    assert_eq!(to_json(&with_metadata(metadata)).unwrap()["metadata"], json!({"name": "a"}));
}

#[test]
fn what_comes_twice_is_merged() {
    let port = |name: &str| Writer::new().bytes(1, name).number(3, 80);
    let service = Writer::new()
        .message(2, Writer::new().message(1, port("a")).bytes(4, "ClusterIP"))
        .message(1, Writer::new().bytes(1, "old"))
        .message(2, Writer::new().message(1, port("b")).bytes(4, ""))
        .message(1, Writer::new().bytes(1, "new").bytes(3, "ns"));
    let read = to_json(&service.enveloped("v1", "Service")).unwrap();
    let port = |name: &str| json!({"name": name, "port": 80, "targetPort": 0});
    assert_eq!(read["spec"], json!({"ports": [port("a"), port("b")]}));
    assert_eq!(read["metadata"], json!({"name": "new", "namespace": "ns"}));
}

#[test]
fn entries_of_a_map_may_lack_key_or_value() {
    let config_map = Writer::new()
        .message(2, Writer::new().bytes(1, "key"))
        .message(2, Writer::new().bytes(2, "value"))
        .message(2, Writer::new().bytes(2, "reversed").bytes(1, "order"))
        .message(3, Writer::new().bytes(1, "none"));
    let read = to_json(&config_map.enveloped("v1", "ConfigMap")).unwrap();
    assert_eq!(read["data"], json!({"key": "", "": "value", "order": "reversed"}));
    assert_eq!(read["binaryData"], json!({"none": ""}));
}

#[test]
fn times_are_written_as_go_writes_them() {
    let event = |time: Writer| {
        let event = Writer::new().message(2, time).enveloped("events.k8s.io/v1", "Event");
        to_json(&event).map(|read| read["eventTime"].clone())
    };
    let stamp = |seconds, nanos| Writer::new().number(1, seconds).number(2, nanos);
    assert_eq!(event(Writer::new()).unwrap(), Value::Null);
    assert_eq!(event(stamp(-62_135_596_800, 0)).unwrap(), Value::Null);
    assert_eq!(event(stamp(0, 1_999)).unwrap(), "1970-01-01T00:00:00.000001Z");
    assert_eq!(event(stamp(-1, 500_000_000)).unwrap(), "1969-12-31T23:59:59.500000Z");
    assert_eq!(event(stamp(-62_135_596_800, 1_000)).unwrap(), "0001-01-01T00:00:00.000001Z");
    assert_eq!(event(stamp(253_402_300_799, 999_999_999)).unwrap(), "9999-12-31T23:59:59.999999Z");
    for (seconds, nanos) in [(253_402_300_800, 0), (i64::MIN, 0), (0, -1_000), (0, 1_000_000_000)] {
        assert_eq!(event(stamp(seconds, nanos)).unwrap_err().field(), Some("eventTime"));
    }

    let created = |time| to_json(&with_metadata(Writer::new().message(8, time))).unwrap();
    assert_eq!(created(Writer::new())["metadata"], json!({}));
    assert_eq!(
        created(stamp(1, 999_999_999))["metadata"]["creationTimestamp"],
        "1970-01-01T00:00:01Z"
    );
}

#[test]
fn negative_numbers_and_false_pointers_stay() {
    let spec = Writer::new().number(1, -1).number(5, 0).number(6, 0);
    let read = to_json(&Writer::new().message(2, spec).enveloped("apps/v1", "ReplicaSet"));
    assert_eq!(read.unwrap()["spec"]["replicas"], -1);
    let pod = Writer::new().number(5, -9_000_000_000).number(11, 0).number(30, 0);
    let read = to_json(&Writer::new().message(2, pod).enveloped("v1", "Pod")).unwrap();
    assert_eq!(
        read["spec"],
        json!({"activeDeadlineSeconds": -9_000_000_000_i64, "containers": null, "enableServiceLinks": false})
    );
}

/// What no kind built in has, but others do.
const MORE: &str = "\
kind v1 More a.More
message a.More
1 verbs a.Verbs keep
2 extra map[string]a.Verbs
3 ports []int32
4 object rawextension
5 fields *fieldsv1
6 inner *a.More
7 - a.Deep inline
8 maybe a.Verbs
message a.Deep
1 - a.Deeper inline
2 deep string
message a.Deeper
1 deeper *string keep
list a.Verbs string
";

fn more(message: Writer) -> Result<Value, Error> {
    to_json_by(&Schema::parse(MORE).unwrap(), &message.enveloped("v1", "More"))
}

#[test]
fn named_slices_are_messages_on_the_wire_and_lists_in_json() {
    let verbs = Writer::new().bytes(1, "get").bytes(1, "").bytes(1, "list");
    let entry = |key, value| Writer::new().bytes(1, key).message(2, value);
    let read = more(
        Writer::new()
            .message(1, verbs.clone())
            .message(2, entry("a", verbs.clone()))
            .message(2, entry("b", Writer::new()))
            .message(2, Writer::new().bytes(1, "c"))
            .message(8, Writer::new()),
    )
    .unwrap();
    let list = json!(["get", "", "list"]);
    assert_eq!(read["verbs"], list);
    assert_eq!(read["extra"], json!({"a": list, "b": [], "c": []}));
    assert_eq!(read.get("maybe"), None);
    assert_eq!(more(Writer::new()).unwrap()["verbs"], Value::Null);
}

#[test]
fn inline_messages_are_flat_in_json_at_any_depth() {
    let deep = Writer::new().message(1, Writer::new().bytes(1, "")).bytes(2, "x");
    let read = more(Writer::new().message(7, deep)).unwrap();
    assert_eq!((&read["deeper"], &read["deep"]), (&json!(""), &json!("x")));
    assert_eq!(more(Writer::new()).unwrap().get("deeper"), Some(&Value::Null));
    let error = more(Writer::new().message(7, Writer::new().number(2, 1))).unwrap_err();
    assert_eq!(error.field(), Some("deep"));
}

#[test]
fn numbers_come_one_by_one_or_packed() {
    let ports = Writer::new().number(3, 80).bytes(3, b"\x01\xac\x02").number(3, -1);
    assert_eq!(more(ports).unwrap()["ports"], json!([80, 1, 300, -1]));
    let cut = more(Writer::new().number(3, 80).bytes(3, b"\x01\xac")).unwrap_err();
    assert_eq!(cut.field(), Some("ports[1]"));
}

#[test]
fn embedded_documents_are_json_or_an_envelope() {
    let object = |content: &[u8]| more(Writer::new().message(4, Writer::new().bytes(1, content)));
    assert_eq!(object(b" {\"a\":[1.5]}").unwrap()["object"], json!({"a": [1.5]}));
    assert_eq!(object(b"").unwrap()["object"], Value::Null);
    assert_eq!(more(Writer::new()).unwrap()["object"], Value::Null);
    let inner = Writer::new().number(3, 1).enveloped("v1", "More");
    let read = object(&inner).unwrap();
    assert_eq!((&read["object"]["kind"], &read["object"]["ports"]), (&json!("More"), &json!([1])));

    for content in
        [b"\xd9\xd9\xf7\xa0".as_slice(), b"{", b"k8s\0", &Writer::new().enveloped("v1", "Other")]
    {
        assert_eq!(object(content).unwrap_err().field(), Some("object"));
    }
    let fields = more(Writer::new().message(5, Writer::new().bytes(1, "{\"f:a\":{}}"))).unwrap();
    assert_eq!(fields["fields"], json!({"f:a": {}}));
}

#[test]
fn nesting_is_bounded() {
    let nested =
        |levels| (1..levels).fold(Writer::new(), |inner, _| Writer::new().message(6, inner));
    assert!(more(nested(MAX_DEPTH - 2)).is_ok());
    let error = more(nested(MAX_DEPTH + 1)).unwrap_err();
    assert!(error.is_malformed() && error.to_string().contains("100 levels"), "{error}");
    assert!(more(nested(5_000)).is_err());
}

#[test]
fn many_values_in_few_bytes_are_refused() {
    let containers = Writer::new().raw(&[0x12, 0x00].repeat(500_000));
    let pod = Writer::new().message(2, containers).enveloped("v1", "Pod");
    let (path, text) = refused(&pod);
    assert!(path.starts_with("spec.containers["), "{path}");
    assert!(text.contains("1000000 JSON values"), "{text}");
}

#[test]
fn malformed_bytes_are_refused_with_the_path_of_the_field() {
    let container = Writer::new().bytes(1, "c").bytes(2, b"\xff secret");
    let spec = Writer::new().message(2, Writer::new().bytes(1, "first")).message(2, container);
    let (path, text) = refused(&Writer::new().message(2, spec).enveloped("v1", "Pod"));
    assert_eq!(path, "spec.containers[1].image");
    assert_eq!(
        text,
        "malformed protobuf of v1 Pod: spec.containers[1].image: the text is not UTF-8"
    );

    let (path, text) = refused(&with_metadata(Writer::new().number(1, 7)));
    assert_eq!(path, "metadata.name");
    assert!(text.ends_with("expected text, bytes or a message, got a number"), "{text}");

    let label = Writer::new().bytes(1, "app").number(2, 1);
    assert_eq!(
        refused(&with_metadata(Writer::new().message(11, label))).0,
        "metadata.labels[\"app\"]"
    );

    let port = Writer::new().message(4, Writer::new().number(1, 2));
    let service =
        Writer::new().message(2, Writer::new().message(1, port)).enveloped("v1", "Service");
    assert_eq!(refused(&service).0, "spec.ports[0].targetPort");

    for broken in [
        b"\x0a\x05ab".as_slice(),                            // shorter than it says
        b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",     // longer than memory
        b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", // a number of 77 bits
        b"\x02\x00",                                         // field number 0
        b"\x0f\x00",                                         // wire type 7
        b"\x0c",     // the end of a group that did not start
        b"\xc3\x3e", // a group that does not end
    ] {
        assert_eq!(refused(&with_metadata(Writer::new().raw(broken))).0, "metadata", "{broken:?}");
    }
}

#[test]
fn the_envelope_has_to_be_one() {
    for body in [
        b"".as_slice(),
        b"k8s",
        b"{\"kind\":\"Pod\"}",
        b"k8s\0",
        b"k8s\0\x0a\x06\x0a\x02v1\x12\x00",
    ] {
        let (path, text) = refused(body);
        assert_eq!(path, "");
        assert!(text.starts_with("malformed protobuf of an object: it does not"), "{text}");
    }
    let encoded = [Writer::new().enveloped("v1", "Pod"), b"\x1a\x04gzip".to_vec()].concat();
    assert!(refused(&encoded).1.contains("encoded"));
    let json =
        [Writer::new().enveloped("v1", "Pod"), b"\x22\x10application/json".to_vec()].concat();
    assert!(refused(&json).1.contains("no protobuf"));

    let unknown = to_json(&Writer::new().enveloped("example.com/v1", "Widget")).unwrap_err();
    assert!(unknown.is_unexpected_kind());
    assert!(unknown.to_string().contains("example.com/v1 Widget"), "{unknown}");
    let large = to_json(&vec![0; crate::MAX_OBJECT_BYTES + 1]).unwrap_err();
    assert!(large.is_too_large());
}
