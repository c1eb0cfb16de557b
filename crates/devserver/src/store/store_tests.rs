use kubewright_meta::GroupVersionKind;

use super::*;

fn object(name: &str, value: i64) -> Unstructured {
    let mut object = Unstructured::new(&GroupVersionKind::new("", "v1", "ConfigMap"), name);
    object.metadata.namespace = Some("lab".into());
    object.set_field(&["data", "value"], value);
    object
}

fn names(objects: &Objects) -> Vec<String> {
    objects.keys().map(|key| key.to_string()).collect()
}

fn setup(history: usize) -> (Store, Arc<ResourceKind>) {
    let registry = Registry::builtin();
    let kind = registry.find("", "v1", "configmaps").unwrap().clone();
    (Store::new(&registry, 100, history), kind)
}

#[test]
fn an_older_state_is_the_newest_with_the_changes_taken_back() {
    let (store, kind) = setup(100);
    let mut state = store.lock();
    let mut expected = vec![(100, Vec::new())];
    state.put(&kind, object("a", 1)).unwrap();
    expected.push((101, vec!["lab/a"]));
    state.put(&kind, object("b", 1)).unwrap();
    expected.push((102, vec!["lab/a", "lab/b"]));
    let changed = state.put(&kind, object("a", 2)).unwrap();
    state.remove(&kind, "lab/a").unwrap();
    expected.push((104, vec!["lab/b"]));
    state.put(&kind, object("a", 3)).unwrap();
    expected.push((105, vec!["lab/a", "lab/b"]));
    for (revision, wanted) in expected {
        assert_eq!(names(&state.snapshot_at(&kind, revision).unwrap()), wanted, "at {revision}");
    }
    let at_103 = state.snapshot_at(&kind, 103).unwrap();
    assert_eq!(at_103.get("lab/a").unwrap().bytes(), changed.bytes());
}

#[test]
fn the_ring_is_bounded_and_says_what_it_lost() {
    let (store, kind) = setup(3);
    let mut state = store.lock();
    for value in 0..5 {
        state.put(&kind, object("a", value)).unwrap();
    }
    // 101 to 105 were made; 103 to 105 are held, so that going on from 102 is the oldest possible.
    assert_eq!(state.changes_after(&kind, 101, false, 10).err().unwrap().oldest, 102);
    let held: Vec<u64> = state
        .changes_after(&kind, 102, false, 10)
        .unwrap()
        .iter()
        .map(|change| change.revision())
        .collect();
    assert_eq!(held, [103, 104, 105]);
    state.compact();
    assert!(state.changes_after(&kind, 104, true, 10).is_err());
    assert!(state.changes_after(&kind, 105, false, 10).unwrap().is_empty());
    // A change elsewhere, then a compaction: who starts from before it is refused, who was there misses nothing.
    let registry = Registry::builtin();
    let secrets = registry.find("", "v1", "secrets").unwrap();
    state.put(secrets, object("a", 1)).unwrap();
    state.compact();
    assert!(state.changes_after(&kind, 105, false, 10).is_err());
    assert!(state.changes_after(&kind, 105, true, 10).unwrap().is_empty());
}

#[test]
fn frames_lists_and_objects_share_the_encoded_bytes() {
    let (store, kind) = setup(3);
    let stored = store.lock().put(&kind, object("a", 1)).unwrap();
    let frame: serde_json::Value = serde_json::from_slice(stored.frame()).unwrap();
    assert_eq!(frame["type"], "ADDED");
    assert_eq!(
        frame["object"],
        serde_json::from_slice::<serde_json::Value>(stored.bytes()).unwrap()
    );
    let within = stored.frame().as_ptr_range();
    assert!(within.contains(&stored.bytes().as_ptr()));
}

#[test]
fn large_objects_make_the_ring_shorter_and_have_a_limit() {
    let (store, kind) = setup(usize::MAX);
    let mut state = store.lock();
    let of_size = |size: usize| {
        let mut large = object("a", 1);
        large.set_field(&["data", "value"], "x".repeat(size));
        large
    };
    state.history.bytes = 100_000;
    for _ in 0..12 {
        state.put(&kind, of_size(10_000)).unwrap();
    }
    let before = state.revision();
    assert!(state.changes_after(&kind, before - 10, true, 100).is_err());
    assert_eq!(state.changes_after(&kind, before - 9, true, 100).unwrap().len(), 9);
    // A refused write leaves all as it was.
    assert_eq!(state.put(&kind, of_size(3 << 20)).err().unwrap().code(), 500);
    assert_eq!(state.revision(), before);
    assert_eq!(state.get(&kind, "lab/a").unwrap().revision, before);
    state.compact();
    state.put(&kind, object("a", 2)).unwrap();
    assert_eq!(state.changes_after(&kind, before, true, 10).unwrap().len(), 1);
}
