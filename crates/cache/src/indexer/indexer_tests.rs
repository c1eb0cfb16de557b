use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use proptest::prelude::*;

use super::*;
use crate::{Batch, Delta, Event};

type Object = CachedObject<ConfigMap>;

/// An object whose `data.tags` holds the words it is indexed by.
fn tagged(name: &str, version: u32, tags: &str) -> Object {
    of_uid(name, "u1", version, tags)
}

fn of_uid(name: &str, uid: &str, version: u32, tags: &str) -> Object {
    let json = format!(
        r#"{{"metadata":{{"name":"{name}","namespace":"n","uid":"{uid}","resourceVersion":"{version}"}},
            "data":{{"tags":"{tags}"}}}}"#
    );
    CachedObject::from_json(json).unwrap()
}

fn tags(object: &Object) -> Result<Vec<String>, Error> {
    let map = object.get()?;
    let tags = map.data.as_ref().and_then(|data| data.get("tags"));
    Ok(tags.into_iter().flat_map(|tags| tags.split_whitespace().map(str::to_owned)).collect())
}

fn indexed() -> Indexer<ConfigMap> {
    let store = Indexer::new("configmaps/v1");
    store.add_index("tag", tags).unwrap();
    store
}

fn put(store: &Indexer<ConfigMap>, object: Object) -> Vec<String> {
    apply(store, Batch::Changes(vec![Delta::Updated(object)]))
}

fn replace(store: &Indexer<ConfigMap>, version: &str, objects: Vec<Object>) -> Vec<String> {
    apply(
        store,
        Batch::ReplacedAll { resource_version: version.into(), objects, unreadable: Vec::new() },
    )
}

fn apply(store: &Indexer<ConfigMap>, batch: Batch<ConfigMap>) -> Vec<String> {
    store.apply(batch).unwrap().iter().map(|event| format!("{event:?}")).collect()
}

fn names(objects: Vec<Object>) -> Vec<String> {
    let mut names: Vec<_> = objects.iter().map(|object| object.name().to_owned()).collect();
    names.sort_unstable();
    names
}

fn by_tag(store: &Indexer<ConfigMap>, tag: &str) -> Vec<String> {
    names(store.by_index("tag", tag).unwrap())
}

#[test]
fn b48_an_index_keeps_the_values_that_are_still_valid() {
    let store = indexed();
    put(&store, tagged("o", 1, "a"));
    put(&store, tagged("o", 2, "a b"));
    assert_eq!((by_tag(&store, "a"), by_tag(&store, "b")), (vec!["o".into()], vec!["o".into()]));
    put(&store, tagged("o", 3, "b"));
    assert_eq!((by_tag(&store, "a").len(), by_tag(&store, "b").len()), (0, 1));
    assert_eq!(store.index_values("tag").unwrap(), ["b"]);
    put(&store, tagged("o", 4, ""));
    assert!(store.index_values("tag").unwrap().is_empty());
    put(&store, tagged("o", 5, "a a"));
    assert_eq!(by_tag(&store, "a"), ["o"]);
    put(&store, tagged("o", 6, ""));
    assert!(by_tag(&store, "a").is_empty());
}

#[test]
fn lookups_give_the_version_that_is_stored() {
    let store = indexed();
    put(&store, tagged("o", 1, "a"));
    put(&store, tagged("o", 2, "a"));
    assert_eq!(store.by_index("tag", "a").unwrap()[0].resource_version(), "2");
    let key = ObjectKey::namespaced("n", "o");
    assert_eq!(store.get(&key).unwrap().resource_version(), "2");
    assert_eq!(store.keys_by_index("tag", "a").unwrap(), [key]);
}

#[test]
fn an_index_added_later_holds_what_is_there() {
    let store = Indexer::new("configmaps/v1");
    put(&store, tagged("x", 1, "a"));
    put(&store, tagged("y", 2, "a b"));
    store.add_index("tag", tags).unwrap();
    assert_eq!(by_tag(&store, "a"), ["x", "y"]);
    put(&store, tagged("y", 3, "b"));
    assert_eq!(by_tag(&store, "a"), ["x"]);
}

#[test]
fn indexes_are_asked_for_by_a_name_that_exists_once() {
    let store = indexed();
    assert!(store.add_index("tag", tags).unwrap_err().is_index_exists());
    let error = store.by_index("tags", "a").unwrap_err();
    assert!(error.is_no_such_index());
    assert!(error.to_string().contains(r#"only ["tag"]"#), "{error}");
}

#[test]
fn a_failing_index_function_leaves_out_its_object_only() {
    let store = indexed();
    store
        .add_index("panics", |object: &Object| {
            assert_ne!(object.name(), "bad", "no value for this one");
            vec!["all".to_owned()]
        })
        .unwrap();
    let broken =
        r#"{"metadata":{"name":"bad","namespace":"n","resourceVersion":"1"},"data":{"tags":7}}"#;
    let broken = CachedObject::from_json(broken).unwrap();
    put(&store, broken);
    put(&store, tagged("good", 2, "a"));
    assert_eq!((by_tag(&store, "a"), store.len()), (vec!["good".into()], 2));
    assert_eq!(names(store.by_index("panics", "all").unwrap()), ["good"]);
    assert_eq!(store.index_failures(), 2);
    let error = store.get(&ObjectKey::namespaced("n", "bad")).unwrap().get().unwrap_err();
    assert!(error.is_decode() && error.to_string().contains("n/bad"), "{error}");
    // A readable version of it is indexed again.
    put(&store, tagged("bad", 3, "a"));
    assert_eq!(by_tag(&store, "a"), ["bad", "good"]);
}

#[test]
fn an_index_function_may_read_the_store_but_not_change_it() {
    let store = indexed();
    put(&store, tagged("x", 1, "a"));
    let inner = store.clone();
    store
        .add_index("nested", move |_: &Object| {
            let error = inner.add_index("other", tags).unwrap_err();
            assert!(error.is_reentrant());
            vec![inner.len().to_string()]
        })
        .unwrap();
    assert_eq!(store.index_values("nested").unwrap(), ["1"]);
}

#[test]
fn the_namespace_index_is_built_in() {
    let store = indexed();
    put(&store, tagged("x", 1, ""));
    put(&store, CachedObject::from_json(r#"{"metadata":{"name":"cluster-wide"}}"#).unwrap());
    assert_eq!(names(store.list_namespace("n")), ["x"]);
    assert_eq!(names(store.list_namespace("")), ["cluster-wide"]);
    assert_eq!(store.namespaces(), ["n"]);
    assert_eq!(names(store.list()), ["cluster-wide", "x"]);
}

#[test]
fn a_list_gives_deletions_first_and_then_what_differs_in_its_order() {
    let store = indexed();
    replace(&store, "5", vec![tagged("a", 1, "t"), tagged("b", 2, "t"), tagged("c", 3, "")]);
    let kept = store.get(&ObjectKey::namespaced("n", "c")).unwrap();
    let list = vec![tagged("d", 8, "t"), tagged("c", 3, ""), tagged("b", 7, "")];
    let expected = ["Deleted(n/a@1, final state unknown)", "Added(n/d@8)", "Updated(n/b@2->7)"];
    assert_eq!(replace(&store, "9", list), expected);
    assert_eq!(by_tag(&store, "t"), ["d"]);
    assert_eq!(store.resource_version(), "9");
    let now = store.get(kept.key()).unwrap();
    assert!(now.ptr_eq(&kept), "what did not change keeps its handle");
}

#[test]
fn a_list_may_name_an_object_twice() {
    let store = indexed();
    let events = replace(&store, "5", vec![tagged("a", 1, "x"), tagged("a", 2, "y")]);
    assert_eq!(events, ["Added(n/a@1)", "Updated(n/a@1->2)"]);
    assert_eq!((by_tag(&store, "x").len(), by_tag(&store, "y").len(), store.len()), (0, 1, 1));
}

#[test]
fn an_object_made_again_under_its_name_is_deleted_and_added() {
    let store = indexed();
    put(&store, of_uid("a", "u1", 1, "x"));
    let events = replace(&store, "5", vec![of_uid("a", "u2", 4, "y")]);
    assert_eq!(events, ["Deleted(n/a@1, final state unknown)", "Added(n/a@4)"]);
    let events = apply(&store, Batch::Changes(vec![Delta::Deleted(of_uid("a", "u3", 9, ""))]));
    assert_eq!(events, ["Deleted(n/a@4, final state unknown)"]);
}

#[test]
fn what_is_known_or_older_is_no_event() {
    let store = indexed();
    put(&store, tagged("a", 10, "x"));
    assert!(put(&store, tagged("a", 10, "x")).is_empty());
    assert!(put(&store, tagged("a", 9, "y")).is_empty(), "a watch does not go back");
    let late = Batch::Changes(vec![Delta::Deleted(of_uid("a", "u0", 8, ""))]);
    assert!(apply(&store, late).is_empty(), "the end of the one before");
    let unknown = Batch::Changes(vec![Delta::Deleted(tagged("b", 11, ""))]);
    assert!(apply(&store, unknown).is_empty());
    assert_eq!(by_tag(&store, "x"), ["a"]);
    assert_eq!(store.resource_version(), "11");
}

#[test]
fn a_bookmark_moves_the_version_only() {
    let store = indexed();
    put(&store, tagged("a", 1, "x"));
    assert!(apply(&store, Batch::Bookmark { resource_version: "500".into() }).is_empty());
    assert_eq!((store.resource_version().as_str(), store.len()), ("500", 1));
}

#[test]
fn a_bookmark_moves_no_version_back() {
    let store = indexed();
    for (bookmark, version) in [("500", "500"), ("400", "500"), ("501", "501")] {
        let resource_version = bookmark.into();
        apply(&store, Batch::Bookmark { resource_version });
        assert_eq!(store.resource_version(), version);
    }
}

#[test]
fn an_older_event_of_an_earlier_object_of_the_name_is_no_event() {
    let store = indexed();
    put(&store, of_uid("a", "u2", 20, "x"));
    assert!(put(&store, of_uid("a", "u1", 10, "y")).is_empty());
    assert_eq!(put(&store, of_uid("a", "u3", 30, "z")).len(), 2);
}

/// A server that is set back to an older state counts on from there, and uses versions twice.
#[test]
fn the_state_of_a_server_that_was_set_back_holds() {
    let store = indexed();
    let lost = of_uid("lost", "u1", 990, "old");
    let reused = of_uid("reused", "u2", 45, "old");
    let same = of_uid("same", "u3", 30, "old");
    let bad = of_uid("bad", "u4", 950, "old");
    replace(&store, "1000", vec![lost, reused, same, bad]);
    let list = Batch::ReplacedAll {
        resource_version: "50".into(),
        objects: vec![of_uid("reused", "u2", 45, "new"), of_uid("same", "u3", 30, "old")],
        unreadable: vec![ObjectKey::namespaced("n", "bad")],
    };
    let events = store.apply(list).unwrap();
    assert!(!events.iter().any(Event::is_resync));
    assert_eq!(
        format!("{events:?}"),
        "[Deleted(n/lost@990, final state unknown), Updated(n/reused@45->45)]"
    );
    assert_eq!(store.resource_version(), "50");
    assert_eq!(by_tag(&store, "new"), ["reused"]);
    // What is left from before is not newer than what comes now.
    assert_eq!(put(&store, of_uid("bad", "u4", 51, "new")).len(), 1);
    assert_eq!(by_tag(&store, "new"), ["bad", "reused"]);
}

#[test]
fn readers_see_a_list_whole_or_not_at_all() {
    let store = indexed();
    let generation = |version: u32| {
        (0..50).map(move |n| tagged(&format!("o{n}"), version, &format!("g{version}")))
    };
    replace(&store, "1", generation(1).collect());
    std::thread::scope(|threads| {
        let reader = threads.spawn(|| {
            loop {
                let objects = store.list();
                let first = objects[0].resource_version();
                assert!(objects.iter().all(|object| object.resource_version() == first));
                assert_eq!(objects.len(), 50);
                if first == "40" {
                    break;
                }
            }
        });
        for version in 2..=40 {
            replace(&store, "1", generation(version).collect());
        }
        reader.join().unwrap();
    });
}

proptest! {
    /// After any changes the store and its index are what a plain map and an index built from scratch would be.
    #[test]
    fn the_store_is_what_a_plain_map_would_be(
        steps in proptest::collection::vec((0_u8..5, 0_u8..8, proptest::collection::vec(0_u8..4, 0..3)), 1..60),
    ) {
        let store = indexed();
        let mut model: BTreeMap<String, (u32, Vec<String>)> = BTreeMap::new();
        for (version, (name, what, words)) in (1_u32..).zip(steps) {
            let name = format!("o{name}");
            let words: Vec<String> = words.iter().map(|word| format!("w{word}")).collect();
            let object = tagged(&name, version, &words.join(" "));
            match what {
                0 => {
                    let events = store.apply(Batch::Changes(vec![Delta::Deleted(object)])).unwrap();
                    prop_assert_eq!(events.len(), usize::from(model.remove(&name).is_some()));
                }
                1 => {
                    let others = model.keys().filter(|other| **other != name).count();
                    model.clear();
                    model.insert(name, (version, words));
                    let list = Batch::ReplacedAll { resource_version: version.to_string(), objects: vec![object], unreadable: Vec::new() };
                    let events = store.apply(list).unwrap();
                    let gone = events.iter().filter(|e| matches!(e, Event::Deleted { .. })).count();
                    prop_assert_eq!(gone, others);
                }
                _ => {
                    let known = model.insert(name, (version, words)).is_some();
                    let events = store.apply(Batch::Changes(vec![Delta::Added(object)])).unwrap();
                    let fits = match &events[..] {
                        [Event::Updated { .. }] => known,
                        [Event::Added { .. }] => !known,
                        _ => false,
                    };
                    prop_assert!(fits);
                }
            }
            let mut held: Vec<_> = store.list().iter()
                .map(|o| (o.name().to_owned(), o.resource_version().to_owned())).collect();
            held.sort_unstable();
            let wanted: Vec<_> = model.iter().map(|(n, (v, _))| (n.clone(), v.to_string())).collect();
            prop_assert_eq!(held, wanted);
            let mut index: BTreeMap<String, Vec<String>> = BTreeMap::new();
            for (name, (_, words)) in &model {
                let mut words = words.clone();
                words.sort_unstable();
                words.dedup();
                words.into_iter().for_each(|word| index.entry(word).or_default().push(name.clone()));
            }
            let values: Vec<_> = index.keys().cloned().collect();
            prop_assert_eq!(store.index_values("tag").unwrap(), values);
            for (word, names) in &index {
                prop_assert_eq!(&by_tag(&store, word), names);
            }
        }
    }
}
