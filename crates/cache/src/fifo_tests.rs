use k8s_openapi::api::core::v1::ConfigMap;

use super::*;

type Object = CachedObject<ConfigMap>;

fn object(name: &str, version: u32) -> Object {
    let json = format!(
        r#"{{"metadata":{{"name":"{name}","namespace":"n","uid":"u","resourceVersion":"{version}"}}}}"#
    );
    CachedObject::from_json(json).unwrap()
}

fn list(objects: Vec<Object>) -> Delta<ConfigMap> {
    Delta::ReplacedAll { resource_version: "9".into(), objects, unreadable: Vec::new() }
}

fn versions(batch: &Batch<ConfigMap>) -> Vec<String> {
    match batch {
        Batch::Changes(changes) => changes
            .iter()
            .filter_map(Delta::object)
            .map(|o| format!("{}{}", o.name(), o.resource_version()))
            .collect(),
        Batch::ReplacedAll { .. } => vec!["list".into()],
        Batch::Bookmark { resource_version } => vec![format!("bookmark{resource_version}")],
    }
}

fn batches(fifo: &mut Fifo<ConfigMap>) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    while let Some(batch) = fifo.pop() {
        all.push(versions(&batch));
        fifo.done();
    }
    all
}

#[test]
fn a_repeated_key_a_list_or_a_bookmark_closes_the_batch() {
    let mut fifo = Fifo::new();
    fifo.push(Delta::Added(object("a", 1)));
    fifo.push(Delta::Added(object("b", 2)));
    fifo.push(Delta::Updated(object("a", 3)));
    fifo.push(Delta::Deleted(object("b", 4)));
    fifo.push(list(vec![object("a", 3), object("c", 5)]));
    fifo.push(Delta::Added(object("d", 6)));
    fifo.push(Delta::Bookmark { resource_version: "7".into() });
    fifo.push(Delta::Updated(object("d", 8)));
    assert_eq!(fifo.weight(), 9);
    let expected: [&[&str]; 6] =
        [&["a1", "b2"], &["a3", "b4"], &["list"], &["d6"], &["bookmark7"], &["d8"]];
    assert_eq!(batches(&mut fifo), expected);
    assert_eq!((fifo.weight(), fifo.is_empty()), (0, true));
}

#[test]
fn a_batch_has_a_limit() {
    let mut fifo = Fifo::new();
    for number in 0..2500 {
        fifo.push(Delta::Added(object(&format!("o{number}"), number)));
    }
    let sizes: Vec<usize> = batches(&mut fifo).iter().map(Vec::len).collect();
    assert_eq!(sizes, [1000, 1000, 500]);
}

#[test]
fn it_has_synced_when_the_first_list_was_applied_not_when_it_was_handed_out() {
    let mut fifo = Fifo::new();
    fifo.push(list(vec![]));
    assert!(fifo.pop().is_some());
    assert!(!fifo.has_synced());
    assert!(fifo.done());
    assert!(fifo.has_synced());
    fifo.push(list(vec![]));
    fifo.pop();
    assert!(!fifo.done(), "only once");
}

#[test]
fn batches_are_applied_one_after_the_other() {
    let mut fifo = Fifo::new();
    fifo.push(Delta::Added(object("a", 1)));
    fifo.push(Delta::Updated(object("a", 2)));
    assert!(fifo.pop().is_some());
    assert!(fifo.pop().is_none());
    fifo.done();
    assert_eq!(versions(&fifo.pop().unwrap()), ["a2"]);
}
