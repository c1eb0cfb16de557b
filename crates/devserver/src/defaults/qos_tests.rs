use serde_json::{Value, json};

use super::{class, nanos};

fn pod(resources: &[Value]) -> Value {
    let containers: Vec<Value> =
        resources.iter().map(|resources| json!({"resources": resources})).collect();
    json!({"containers": containers})
}

#[test]
fn the_class_follows_from_all_containers() {
    let both = json!({"cpu": "500m", "memory": "1Gi"});
    let same = json!({"cpu": 0.5, "memory": "1024Mi"});
    let full = json!({"requests": both, "limits": same});
    for (resources, wanted) in [
        (vec![json!({})], "BestEffort"),
        (vec![json!({"requests": {"cpu": "0"}})], "BestEffort"),
        (vec![json!({"limits": {"nvidia.com/gpu": 1}})], "BestEffort"),
        (vec![full.clone()], "Guaranteed"),
        (vec![full.clone(), full.clone()], "Guaranteed"),
        (vec![full.clone(), json!({})], "Burstable"),
        (vec![json!({"requests": both})], "Burstable"),
        (vec![json!({"requests": {"cpu": "1"}, "limits": {"cpu": "1"}})], "Burstable"),
        (vec![json!({"requests": {"cpu": "100m", "memory": "1Gi"}, "limits": both})], "Burstable"),
    ] {
        assert_eq!(class(&pod(&resources)), wanted, "{resources:?}");
    }
    let mut limited = pod(&[json!({})]);
    limited["resources"] = full;
    assert_eq!(class(&limited), "Guaranteed");
}

#[test]
fn quantities_have_many_forms() {
    let one = 1_000_000_000;
    for (text, wanted) in [
        ("1", Some(one)),
        ("1000m", Some(one)),
        ("1e3", Some(1000 * one)),
        ("0.001k", Some(one)),
        ("1Ki", Some(1024 * one)),
        (".5", Some(one / 2)),
        ("8E", Some(8 * one * one * one)),
        ("x", None),
        ("1x", None),
        ("", None),
        ("1e99999999999", None),
        ("1e2147483647", None),
    ] {
        assert_eq!(nanos(&json!(text)), wanted, "{text}");
    }
    assert_eq!(nanos(&json!(2)), Some(2 * one));
    assert_eq!(nanos(&json!(true)), None);
}
