use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_meta::Kind;

use super::*;

fn object(decoder: &Decoder<ConfigMap>, name: &str) -> CachedObject<ConfigMap> {
    let json = format!(r#"{{"metadata":{{"name":"{name}"}},"data":{{"k":"v"}}}}"#);
    CachedObject::new(kubewright_wire::RawObject::from_json(json).unwrap(), decoder)
}

#[test]
fn what_is_held_is_shared_and_what_nobody_keeps_is_freed() {
    let decoder = Decoder::new(&Kind::of(), 0);
    let object = object(&decoder, "a");
    let first = object.get().unwrap();
    assert!(first.ptr_eq(&object.clone().get().unwrap()));
    assert_eq!(decoder.decodes(), 1);
    drop(first);
    object.get().unwrap();
    assert_eq!(decoder.decodes(), 2);
}

#[test]
fn the_budget_keeps_those_in_use() {
    let decoder = Decoder::new(&Kind::of(), 3);
    let objects: Vec<_> = ["a", "b", "c"].iter().map(|name| object(&decoder, name)).collect();
    for object in &objects {
        object.get().unwrap();
    }
    // Asked for again and again, `a` stays while others pass through.
    for number in 0..20 {
        objects[0].get().unwrap();
        object(&decoder, &format!("passing-{number}")).get().unwrap();
    }
    assert_eq!(decoder.decodes(), 23);
    objects[0].get().unwrap();
    assert_eq!(decoder.decodes(), 23);
    objects[1].get().unwrap();
    assert_eq!(decoder.decodes(), 24, "b made room");
}

#[test]
fn debug_output_shows_no_contents() {
    let json = r#"{"metadata":{"name":"a","namespace":"n","resourceVersion":"7"},"data":{"password":"hunter2"}}"#;
    let object = CachedObject::<ConfigMap>::from_json(json).unwrap();
    let text = format!("{object:?}");
    assert!(text.contains("n/a@7") && !text.contains("hunter2"), "{text}");
}

#[test]
fn many_threads_get_the_same_decoded_object() {
    let decoder = Decoder::new(&Kind::of(), 8);
    let object = object(&decoder, "a");
    let all: Vec<_> = std::thread::scope(|threads| {
        let started: Vec<_> = (0..8).map(|_| threads.spawn(|| object.get().unwrap())).collect();
        started.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(all.iter().all(|decoded| decoded.ptr_eq(&all[0])));
}
