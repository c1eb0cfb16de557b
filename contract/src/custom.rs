//! The custom kinds that some checks need, and how a server comes to serve them.
//!
//! `Widget` has the subresources status and scale, and `spec.size` for field selectors; `Plain` has nothing.
//! A server that knows CustomResourceDefinitions is given them; the development server has the kinds registered
//! by whoever starts it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::Context;
use crate::check::Outcome;

/// The group of both, in its version `v1`.
pub(crate) const GROUP: &str = "contract.kubewright.test";
/// Where definitions are.
pub(crate) const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

const PATIENCE: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(100);

/// Has the server serve both kinds.
pub(crate) async fn serve(context: &Context) -> Outcome {
    for (plural, kind) in [("widgets", "Widget"), ("plains", "Plain")] {
        if context.get(plural).await?.code == 200 {
            continue;
        }
        let mut definition = definition(plural, kind);
        definition["metadata"]["labels"] = context.run_labels();
        let answer = context.post(DEFINITIONS, definition).await?;
        // Another check may have been faster.
        ensure!(
            matches!(answer.code, 201 | 409),
            "{kind} is not served and cannot be defined: {answer}"
        );
        let deadline = tokio::time::Instant::now() + PATIENCE;
        while context.get(plural).await?.code != 200 {
            ensure!(
                tokio::time::Instant::now() < deadline,
                "{kind} was defined, but is not served"
            );
            tokio::time::sleep(POLL).await;
        }
    }
    Ok(())
}

fn definition(plural: &str, kind: &str) -> Value {
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let mut schema = open.clone();
    schema["properties"] = json!({"spec": open.clone(), "status": open});
    schema["properties"]["spec"]["properties"] = json!({"size": {"type": "integer"}});
    let mut version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
    if kind == "Widget" {
        let scale = json!({
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.selector",
        });
        version["subresources"] = json!({"status": {}, "scale": scale});
        version["selectableFields"] = json!([{"jsonPath": ".spec.size"}]);
    }
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{GROUP}")},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "plural": plural,
                "singular": kind.to_lowercase(),
                "kind": kind,
                "listKind": format!("{kind}List"),
            },
            "versions": [version],
        },
    })
}

/// A Widget of this size.
pub(crate) fn widget(name: &str, size: i64) -> Value {
    json!({
        "apiVersion": format!("{GROUP}/v1"), "kind": "Widget",
        "metadata": {"name": name},
        "spec": {"size": size, "replicas": 1},
    })
}

/// A Plain, whose status is a field as any other.
pub(crate) fn plain(name: &str) -> Value {
    json!({
        "apiVersion": format!("{GROUP}/v1"), "kind": "Plain",
        "metadata": {"name": name},
        "spec": {"a": 1}, "status": {"x": 1},
    })
}
