//! Random histories: whatever version a watch starts from, what it shows leads from the list of that version
//! to the newest one, selectors and all.

mod lab;

use std::collections::BTreeMap;

use lab::*;
use serde_json::{Value, json};

const SELECTORS: [&str; 4] =
    ["", "labelSelector=tier%3Dgold", "fieldSelector=spec.size%3D1", "labelSelector=!tier"];

type State = BTreeMap<String, Value>;

#[tokio::test]
async fn every_watch_leads_from_its_list_to_the_newest() {
    for seed in 0..20 {
        run(seed).await;
    }
}

async fn run(seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let lab = Lab::new();
    let mut versions = vec![lab.server.resource_version().parse::<u64>().unwrap()];
    for _ in 0..60 {
        step(&lab, &mut random).await;
        versions.push(lab.server.resource_version().parse().unwrap());
    }
    versions.dedup();
    for selector in SELECTORS {
        let newest = state(&lab, &format!("{WIDGETS}?{selector}")).await;
        for start in &versions {
            let exact =
                format!("{WIDGETS}?resourceVersion={start}&resourceVersionMatch=Exact&{selector}");
            let mut held = state(&lab, &exact).await;
            replay(&lab, *start, selector, &mut held).await;
            assert_eq!(held, newest, "seed {seed}, from {start}, {selector:?}");
        }
    }
}

async fn step(lab: &Lab, random: &mut fastrand::Rng) {
    let name = random.choice(["a", "b", "c", "d"]).unwrap();
    let path = format!("{WIDGETS}/{name}");
    let body = json!({
        "metadata": {"name": name, "labels": {"tier": random.choice([json!("gold"), json!("iron"), Value::Null]).unwrap()}},
        "spec": {"size": random.u8(1..3)},
    });
    // Refusals, such as a deletion of what is not there, are part of the play.
    match random.u8(..4) {
        0 => {
            let mut body = body;
            if body["metadata"]["labels"]["tier"].is_null() {
                body["metadata"]["labels"] = json!({});
            }
            lab.post(WIDGETS, body).await;
        }
        1 => drop(lab.delete(&path).await),
        _ => drop(lab.merge(&path, body).await),
    }
}

async fn state(lab: &Lab, path: &str) -> State {
    let list = lab.get(path).await.ok();
    let items = list["items"].as_array().unwrap();
    items
        .iter()
        .map(|item| (item["metadata"]["name"].as_str().unwrap().to_owned(), item.clone()))
        .collect()
}

async fn replay(lab: &Lab, start: u64, selector: &str, held: &mut State) {
    let mut watch =
        lab.watch(&format!("{WIDGETS}?watch=true&resourceVersion={start}&{selector}")).await;
    let mut last = start;
    while let Some(event) = watch.next_now().await {
        let object = event["object"].clone();
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        assert!(version(&object) > last);
        last = version(&object);
        let before = match event["type"].as_str().unwrap() {
            "DELETED" => held.remove(&name),
            _ => held.insert(name.clone(), object),
        };
        assert_eq!(before.is_none(), event["type"] == "ADDED", "{event}");
    }
}
