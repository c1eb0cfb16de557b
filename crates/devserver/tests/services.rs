//! What services are given: addresses, node ports, and what they keep.

use std::collections::HashSet;

use serde_json::{Value, json};

mod lab;
use lab::Lab;

const SERVICES: &str = "/api/v1/namespaces/default/services";

fn service(name: &str, spec: Value) -> Value {
    json!({"metadata": {"name": name}, "spec": spec})
}

fn one(name: &str) -> String {
    format!("{SERVICES}/{name}")
}

#[tokio::test]
async fn every_service_gets_an_address_of_its_own() {
    let lab = Lab::new();
    let mut seen = HashSet::new();
    for index in 0..50 {
        let spec = json!({"selector": {"app": "a"}, "ports": [{"port": 80}]});
        let made = lab.post(SERVICES, service(&format!("s{index}"), spec)).await.ok();
        let spec = &made["spec"];
        let address = spec["clusterIP"].as_str().unwrap();
        assert!(address.starts_with("10.96."), "{address}");
        assert!(seen.insert(address.to_owned()), "{address} twice");
        assert_eq!(spec["clusterIPs"], json!([address]));
        assert_eq!(spec["ipFamilies"], json!(["IPv4"]));
        assert_eq!(spec["ipFamilyPolicy"], "SingleStack");
        assert_eq!(spec["internalTrafficPolicy"], "Cluster");
        assert_eq!(spec["ports"], json!([{"port": 80, "protocol": "TCP", "targetPort": 80}]));
        assert_eq!(made["status"], json!({"loadBalancer": {}}));
    }
}

#[tokio::test]
async fn an_update_keeps_the_address_and_cannot_change_it() {
    let lab = Lab::new();
    let spec = json!({"ports": [{"port": 80}]});
    let made = lab.post(SERVICES, service("s", spec)).await.ok();
    let address = made["spec"]["clusterIP"].clone();

    let spec = json!({"ports": [{"port": 81}]});
    let replaced = lab.put(&one("s"), service("s", spec)).await.ok();
    assert_eq!(replaced["spec"]["clusterIP"], address);
    assert_eq!(replaced["spec"]["clusterIPs"], json!([address]));
    assert_eq!(replaced["spec"]["ports"][0]["port"], 81);

    let refused = lab.merge(&one("s"), json!({"spec": {"clusterIP": "10.96.0.7"}})).await;
    let message = refused.refused(422, "Invalid");
    assert!(
        message.contains("spec.clusterIPs[0]") && message.contains("may not change once set"),
        "{message}"
    );

    let external =
        json!({"spec": {"type": "ExternalName", "externalName": "a.example", "ports": null}});
    let external = lab.merge(&one("s"), external).await.ok();
    assert_eq!(external["spec"].get("clusterIP"), None);
    let back =
        json!({"spec": {"type": "ClusterIP", "externalName": null, "ports": [{"port": 80}]}});
    let back = lab.merge(&one("s"), back).await.ok();
    assert!(back["spec"]["clusterIP"].is_string(), "{back}");
}

#[tokio::test]
async fn a_chosen_address_must_be_free_and_in_range() {
    let lab = Lab::new();
    let with =
        |name, address: &str| service(name, json!({"clusterIP": address, "ports": [{"port": 80}]}));
    lab.post(SERVICES, with("a", "10.96.0.9")).await.ok();
    let taken = lab.post(SERVICES, with("b", "10.96.0.9")).await;
    let message = taken.refused(422, "Invalid");
    assert!(message.contains("provided IP is already allocated"), "{message}");
    for (wrong, why) in [
        ("10.97.0.1", "does not match the current range"),
        ("10.96.0.0", "not in the valid range"),
        ("10.96.255.255", "not in the valid range"),
    ] {
        let message = lab.post(SERVICES, with("b", wrong)).await.refused(422, "Invalid");
        assert!(message.contains(why), "{message}");
    }
    lab.post(SERVICES, with("b", "here")).await.refused(422, "Invalid");
    lab.delete(&one("a")).await.ok();
    lab.post(SERVICES, with("b", "10.96.0.9")).await.ok();
}

#[tokio::test]
async fn a_headless_service_without_selector_may_be_of_both_families() {
    let lab = Lab::new();
    let spec = json!({"clusterIP": "None", "ports": [{"port": 80}]});
    let made = lab.post(SERVICES, service("s", spec)).await.ok();
    assert_eq!(made["spec"]["clusterIPs"], json!(["None"]));
    assert_eq!(made["spec"]["ipFamilyPolicy"], "RequireDualStack");
    assert_eq!(made["spec"]["ipFamilies"], json!(["IPv4", "IPv6"]));
}

#[tokio::test]
async fn node_ports_come_and_go_with_the_type() {
    let lab = Lab::new();
    let spec = json!({"type": "NodePort", "ports": [
        {"name": "dns", "port": 53}, {"name": "udp", "port": 53, "protocol": "UDP"},
        {"name": "own", "port": 80, "nodePort": 30080},
    ]});
    let made = lab.post(SERVICES, service("a", spec)).await.ok();
    let ports = &made["spec"]["ports"];
    let number = ports[0]["nodePort"].as_u64().unwrap();
    assert!((30_000..=32_767).contains(&number), "{number}");
    assert_eq!(ports[1]["nodePort"], number, "one for both protocols");
    assert_eq!(ports[2]["nodePort"], 30080);
    assert_eq!(made["spec"]["externalTrafficPolicy"], "Cluster");

    for (port, why) in [(30080, "already allocated"), (80, "not in the valid range")] {
        let spec = json!({"type": "NodePort", "ports": [{"port": 1, "nodePort": port}]});
        let refused = lab.post(SERVICES, service("b", spec)).await;
        let message = refused.refused(422, "Invalid");
        assert!(message.contains("spec.ports[0].nodePort"), "{message}");
        assert!(message.contains(why), "{message}");
    }

    let spec = json!({"type": "NodePort", "ports": [{"name": "dns", "port": 53}]});
    let replaced = lab.put(&one("a"), service("a", spec)).await.ok();
    assert_eq!(replaced["spec"]["ports"][0]["nodePort"], number, "kept");

    let plain = json!({"spec": {"type": "ClusterIP"}});
    let plain = lab.merge(&one("a"), plain).await.ok();
    assert_eq!(plain["spec"]["ports"][0].get("nodePort"), None);
    assert_eq!(plain["spec"].get("externalTrafficPolicy"), None);
}

#[tokio::test]
async fn a_load_balancer_may_go_without_node_ports() {
    let lab = Lab::new();
    let spec = json!({"type": "LoadBalancer", "ports": [{"port": 80}]});
    let made = lab.post(SERVICES, service("a", spec)).await.ok();
    assert_eq!(made["spec"]["allocateLoadBalancerNodePorts"], true);
    assert!(made["spec"]["ports"][0]["nodePort"].is_u64());
    let spec = json!({
        "type": "LoadBalancer", "ports": [{"port": 80}], "allocateLoadBalancerNodePorts": false,
        "externalTrafficPolicy": "Local",
    });
    let made = lab.post(SERVICES, service("b", spec)).await.ok();
    assert_eq!(made["spec"]["ports"][0].get("nodePort"), None);
    assert!(made["spec"]["healthCheckNodePort"].is_u64());
}

#[tokio::test]
async fn a_misshapen_service_does_no_harm() {
    let lab = Lab::new();
    for spec in [
        json!("x"),
        json!({"ports": "x"}),
        json!({"type": "NodePort", "ports": ["x", 1, null]}),
        json!({"clusterIPs": "x", "ipFamilies": 1, "selector": 3, "type": {}}),
        json!({"clusterIPs": [1], "clusterIP": 2}),
    ] {
        // Whether it is taken is a matter for schemas; that there is an answer is what counts.
        let answer = lab.post(SERVICES, service("a", spec.clone())).await;
        assert!([201, 422].contains(&answer.code), "{spec} {}", answer.body);
        lab.delete(&one("a")).await;
    }
}
