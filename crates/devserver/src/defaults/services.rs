//! Services, apart from what is allocated for them.

use kubewright_meta::Unstructured;
use serde_json::{Value, json};

use super::{fill, is_zero, items};

const STICKY_SECONDS: i64 = 10_800;

pub(crate) fn service(service: &mut Unstructured) {
    let Some(spec) = service.fields.get_mut("spec") else {
        return;
    };
    fill(spec, json!({"type": "ClusterIP", "sessionAffinity": "None"}));
    if spec.get("sessionAffinity").and_then(Value::as_str) == Some("ClientIP") {
        let config = json!({"clientIP": {"timeoutSeconds": STICKY_SECONDS}});
        fill(spec, json!({"sessionAffinityConfig": config}));
    }
    let kind = spec.get("type").and_then(Value::as_str).unwrap_or_default();
    let defaults = match kind {
        "ClusterIP" => json!({"internalTrafficPolicy": "Cluster"}),
        "NodePort" => {
            json!({"internalTrafficPolicy": "Cluster", "externalTrafficPolicy": "Cluster"})
        }
        "LoadBalancer" => json!({
            "internalTrafficPolicy": "Cluster", "externalTrafficPolicy": "Cluster",
            "allocateLoadBalancerNodePorts": true,
        }),
        _ => json!({}),
    };
    fill(spec, defaults);
    for port in items(spec, "ports") {
        if port.get("targetPort").is_none_or(is_zero)
            && let Some(number) = port.get("port").cloned()
        {
            port["targetPort"] = number;
        }
        fill(port, json!({"protocol": "TCP"}));
    }
}

pub(crate) fn new_service(service: &mut Unstructured) {
    service.fields.insert("status".into(), json!({"loadBalancer": {}}));
}
