//! Nodes.

use kubewright_meta::Unstructured;
use serde_json::{Value, json};

use super::fill;

/// Until a kubelet says more, all of a node's capacity can be allocated.
pub(crate) fn node(node: &mut Unstructured) {
    node.fields.entry("spec").or_insert_with(|| json!({}));
    let status = node.fields.entry("status").or_insert_with(|| json!({}));
    if let Some(capacity) = status.get("capacity").cloned() {
        fill(status, json!({"allocatable": capacity}));
    }
    fill(status, json!({"daemonEndpoints": {}, "nodeInfo": {}}));
    if let Some(endpoints) = status.get_mut("daemonEndpoints") {
        fill(endpoints, json!({"kubeletEndpoint": {"Port": 0}}));
    }
    if let Some(info) = status.get_mut("nodeInfo") {
        let names = [
            "architecture",
            "bootID",
            "containerRuntimeVersion",
            "kernelVersion",
            "kubeProxyVersion",
            "kubeletVersion",
            "machineID",
            "operatingSystem",
            "osImage",
            "systemUUID",
        ];
        let unknown = names.map(|name| (name.to_owned(), Value::from("")));
        fill(info, unknown.into_iter().collect());
    }
}
