use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::test_support::{self, chunks, cuts, object, spoil, spoils, write};

/// All items of these chunks and the end of the list, or the first error.
fn split(chunks: impl IntoIterator<Item = Bytes>) -> Result<(Vec<Bytes>, ListEnd), Error> {
    let mut splitter = ListSplitter::new();
    let mut items = Vec::new();
    for chunk in chunks {
        splitter.feed(chunk);
        while let Some(item) = splitter.next_item() {
            items.push(item?);
        }
    }
    Ok((items, splitter.finish()?))
}

fn whole(json: &str) -> Result<(Vec<Bytes>, ListEnd), Error> {
    split([Bytes::copy_from_slice(json.as_bytes())])
}

const LIST: &str = r#"{ "kind":"PodList", "apiVersion":"v1", "metadata":{"resourceVersion":"77","continue":"a\"b","remainingItemCount":5},
    "new":{"items":[{"no":1}]}, "odd":"x\\", "n":-1.5e3, "items":[{"a":"}é🦀"}, {"b":[{}]} ,{}] }
"#;

#[test]
fn a_list_is_the_same_wherever_it_is_cut() {
    let check = |chunks: Vec<Bytes>| {
        let (items, end) = split(chunks).unwrap();
        assert_eq!(items, [r#"{"a":"}é🦀"}"#, r#"{"b":[{}]}"#, "{}"]);
        assert_eq!((end.kind.as_str(), end.api_version.as_str()), ("PodList", "v1"));
        assert_eq!(
            (end.resource_version.as_str(), end.continue_token.as_deref()),
            ("77", Some("a\"b"))
        );
        assert_eq!(end.remaining_item_count, Some(5));
    };
    for cut in 0..=LIST.len() {
        let (left, right) = LIST.as_bytes().split_at(cut);
        check([left, right].map(Bytes::copy_from_slice).into());
    }
    check(chunks(LIST.as_bytes(), &[1]));
}

#[test]
fn a_list_that_is_cut_is_an_error() {
    let list = LIST.trim_end();
    for cut in 0..list.len() {
        for size in [1, 7, 1000] {
            let error = split(chunks(&list.as_bytes()[..cut], &[size])).unwrap_err();
            assert!(error.is_truncated(), "cut at {cut}: {error}");
        }
    }
}

#[test]
fn the_version_may_come_last_and_fields_may_be_missing() {
    let (items, end) = whole(r#"{"items":[{"a":1}],"kind":"WidgetList","metadata":{"continue":"","resourceVersion":"9"}}"#).unwrap();
    assert_eq!((items.len(), end.resource_version.as_str(), end.continue_token), (1, "9", None));
    for (json, count) in [
        (r#"{"items":null}"#, 0),
        (r#"{"items":[ ]}"#, 0),
        (r#"{"metadata":null,"kind":null,"items":[{}]}"#, 1),
    ] {
        let (items, end) = whole(json).unwrap();
        assert_eq!((items.len(), end), (count, ListEnd::default()), "{json}");
    }
}

#[test]
fn what_is_no_list_is_refused() {
    let unexpected = [
        "{}",
        r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","labels":{"a":"b"}},"status":{"phase":"Running"}}"#,
        r#"{"kind":"Status","apiVersion":"lab.test/v1","metadata":{}}"#,
        r#"{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{},"columnDefinitions":[],"rows":[{"cells":[]}]}"#,
    ];
    for json in unexpected {
        let error = whole(json).unwrap_err();
        assert!(error.is_unexpected_kind(), "{json}: {error}");
    }
    let malformed = [
        "[]",
        "<html>",
        "null",
        "{]",
        r#"{"items"}"#,
        r#"{"items":7}"#,
        r#"{"items":nul}"#,
        r#"{"items":{}}"#,
        r#"{"items":[7]}"#,
        r#"{"items":[{},]}"#,
        r#"{"items":[{} {}]}"#,
        r#"{"items":[null]}"#,
        r#"{"items":[]}x"#,
        r#"{"items":[],}"#,
        r#"{"items":[],"items":[]}"#,
        r#"{"items":null,"items":[]}"#,
        r#"{"kind":5,"items":[]}"#,
        r#"{"metadata":[],"items":[]}"#,
        r#"{"metadata":{"a":tru},"items":[]}"#,
        r#"{"items":[],"x":}"#,
    ];
    for json in malformed {
        let error = whole(json).unwrap_err();
        assert!(error.is_malformed(), "{json}: {error}");
        assert!(error.offset().unwrap() <= json.len());
    }
}

#[test]
fn a_status_instead_of_a_list_is_a_refusal() {
    let json = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"The provided continue parameter is too old",
        "reason":"Expired","details":{"causes":[{"reason":"X"}]},"code":410}"#;
    let error = whole(json).unwrap_err();
    let status = error.status().expect("a refusal");
    assert!(status.is_expired() && status.has_cause("X"));
    assert_eq!(
        (status.code(), status.message()),
        (410, "The provided continue parameter is too old")
    );
}

#[test]
fn items_and_members_are_bounded() {
    let long = "x".repeat(MAX_OBJECT_BYTES);
    for json in [
        format!(r#"{{"items":[{{"a":"{long}"}}]}}"#),
        format!(r#"{{"kind":"{long}"}}"#),
        format!(r#"{{"{long}":1}}"#),
    ] {
        for size in [70_000, json.len()] {
            assert!(split(chunks(json.as_bytes(), &[size])).unwrap_err().is_too_large());
        }
    }
    // What nobody looks at may be of any size.
    assert_eq!(whole(&format!(r#"{{"x":"{long}","items":[{{}}]}}"#)).unwrap().0.len(), 1);
    let deep = format!(r#"{{"items":[{}{}]}}"#, r#"{"a":"#.repeat(100_000), "}".repeat(100_000));
    let (items, _) = whole(&deep).unwrap();
    assert!(crate::RawObject::from_json(&items[0]).unwrap_err().is_malformed());
}

#[test]
fn after_an_error_nothing_comes_and_the_end_repeats_it() {
    let mut splitter = ListSplitter::new();
    splitter.feed(r#"{"items":[{"a":1},7,{"b":2}]}"#.into());
    assert!(splitter.next_item().unwrap().is_ok());
    assert!(splitter.next_item().unwrap().is_err());
    assert!(splitter.next_item().is_none());
    splitter.feed(r#"{"c":3}]}"#.into());
    assert!(splitter.finish().unwrap_err().is_malformed());
}

#[test]
fn items_left_behind_are_an_error() {
    let mut splitter = ListSplitter::new();
    splitter.feed(r#"{"items":[{"a":1}]}"#.into());
    assert!(splitter.finish().unwrap_err().to_string().contains("not all of its items were taken"));
    let mut splitter = ListSplitter::new();
    splitter.feed(r#"{"items":[]}"#.into());
    assert!(splitter.finish().is_ok());
}

#[test]
fn an_item_within_a_chunk_is_not_copied() {
    let chunk = Bytes::from(LIST);
    let (items, _) = split([chunk.clone()]).unwrap();
    assert!(items.iter().all(|item| chunk.as_ptr_range().contains(&item.as_ptr())));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn any_list_is_what_serde_json_sees(
        items in prop::collection::vec(object(), 0..6),
        others in prop::collection::vec((test_support::text(), test_support::json()), 0..4),
        version in test_support::text(), token in prop::option::of(test_support::text()),
        pretty: bool, sizes in cuts(), seed: u64,
    ) {
        let known = ["apiVersion", "kind", "metadata", "items"];
        let mut members: Vec<(String, Value)> = others.into_iter().filter(|(key, _)| !known.contains(&key.as_str())).collect();
        members.push(("items".into(), items.clone().into()));
        members.push(("kind".into(), "XList".into()));
        members.push(("metadata".into(), json!({"resourceVersion": version, "continue": token})));
        fastrand::Rng::with_seed(seed).shuffle(&mut members);
        let text: Vec<String> = members
            .iter()
            .map(|(key, value)| format!("{}: {}", Value::from(key.as_str()), write(value, pretty)))
            .collect();
        let (seen, end) = split(chunks(format!("{{{}}}", text.join(" ,")).as_bytes(), &sizes)).unwrap();
        let seen: Vec<Value> = seen.iter().map(|item| serde_json::from_slice(item).unwrap()).collect();
        prop_assert_eq!(seen, items);
        prop_assert_eq!(end.resource_version, version);
        prop_assert_eq!(end.continue_token, token.filter(|token| !token.is_empty()));
        prop_assert_eq!(end.kind, "XList");
    }

    #[test]
    fn spoiled_lists_never_panic_and_are_read_the_same_however_cut(spoils in spoils(), sizes in cuts()) {
        let bytes = spoil(LIST, &spoils);
        let in_one = split([Bytes::from(bytes.clone())]);
        let in_pieces = split(chunks(&bytes, &sizes));
        match (&in_one, &in_pieces) {
            (Ok(one), Ok(pieces)) => prop_assert_eq!(one, pieces),
            (Err(one), Err(pieces)) => prop_assert_eq!(one.to_string(), pieces.to_string()),
            _ => prop_assert!(false, "{:?} {:?}", in_one, in_pieces),
        }
        // A body that is not JSON at all may pass only where the fault is inside something that is skipped.
        if let Ok(list) = serde_json::from_slice::<Value>(&bytes) {
            let objects = list.get("items").and_then(Value::as_array).is_some_and(|items| items.iter().all(Value::is_object));
            if let Ok((items, _)) = &in_one {
                prop_assert!(list["items"].is_null() || objects);
                prop_assert_eq!(items.len(), list["items"].as_array().map_or(0, Vec::len));
            }
        }
    }
}
