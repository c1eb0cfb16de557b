//! What the server fills in, and what it leaves alone.

use serde_json::{Value, json};

mod lab;
use lab::Lab;

const DEFAULT: &str = "/api/v1/namespaces/default";

#[tokio::test]
async fn a_bare_pod_is_completed() {
    let lab = Lab::new();
    let spec = json!({"containers": [{"name": "main", "image": "web"}]});
    let body = json!({"metadata": {"name": "p"}, "spec": spec});
    let pods = format!("{DEFAULT}/pods");
    let pod = lab.post(&pods, body.clone()).await.ok();
    let toleration = |key: &str| {
        json!({
            "key": format!("node.kubernetes.io/{key}"), "operator": "Exists", "effect": "NoExecute",
            "tolerationSeconds": 300,
        })
    };
    assert_eq!(
        pod["spec"],
        json!({
            "containers": [{
                "name": "main", "image": "web", "imagePullPolicy": "Always", "resources": {},
                "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
            }],
            "dnsPolicy": "ClusterFirst", "enableServiceLinks": true, "restartPolicy": "Always",
            "preemptionPolicy": "PreemptLowerPriority", "priority": 0, "schedulerName": "default-scheduler",
            "securityContext": {}, "terminationGracePeriodSeconds": 30,
            "tolerations": [toleration("not-ready"), toleration("unreachable")],
        })
    );
    assert_eq!(pod["status"], json!({"phase": "Pending", "qosClass": "BestEffort"}));

    // The same once more changes nothing, and a status keeps its class.
    let again = lab.put(&format!("{pods}/p"), body).await.ok();
    assert_eq!(again["metadata"]["resourceVersion"], pod["metadata"]["resourceVersion"]);
    let status = json!({"metadata": {"name": "p"}, "status": {"phase": "Running"}});
    let running = lab.put(&format!("{pods}/p/status"), status).await.ok();
    assert_eq!(running["status"], json!({"phase": "Running", "qosClass": "BestEffort"}));
}

#[tokio::test]
async fn a_rich_pod_is_completed_inside() {
    let lab = Lab::new();
    let spec = json!({
        "hostNetwork": true, "priorityClassName": "system-node-critical",
        "tolerations": [{"operator": "Exists"}],
        "volumes": [{"name": "e"}, {"name": "s", "secret": {"secretName": "x"}}, {"name": "h", "hostPath": {"path": "/"}}],
        "containers": [{
            "name": "main", "image": "host:5000/web@sha256:1", "ports": [{"containerPort": 80}],
            "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
            "livenessProbe": {"httpGet": {"port": 80}, "periodSeconds": 3},
            "env": [{"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
        }],
    });
    let body = json!({"metadata": {"name": "p"}, "spec": spec});
    let pod = lab.post(&format!("{DEFAULT}/pods"), body).await.ok();
    let container = &pod["spec"]["containers"][0];
    assert_eq!(container["imagePullPolicy"], "IfNotPresent");
    assert_eq!(
        container["ports"],
        json!([{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}])
    );
    assert_eq!(container["resources"]["requests"], json!({"cpu": "1", "memory": "1Gi"}));
    assert_eq!(
        container["livenessProbe"],
        json!({
            "httpGet": {"port": 80, "path": "/", "scheme": "HTTP"}, "periodSeconds": 3, "timeoutSeconds": 1,
            "successThreshold": 1, "failureThreshold": 3,
        })
    );
    let field = &container["env"][0]["valueFrom"]["fieldRef"];
    assert_eq!(field["apiVersion"], "v1");
    assert_eq!(
        pod["spec"]["volumes"],
        json!([
            {"name": "e", "emptyDir": {}}, {"name": "s", "secret": {"secretName": "x", "defaultMode": 420}},
            {"name": "h", "hostPath": {"path": "/", "type": ""}},
        ])
    );
    assert_eq!(pod["spec"]["priority"], 2_000_001_000);
    assert_eq!(pod["spec"]["tolerations"], json!([{"operator": "Exists"}]));
    assert_eq!(pod["status"]["qosClass"], "Guaranteed");
}

#[tokio::test]
async fn an_empty_strategy_rolls() {
    let lab = Lab::new();
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    let with = |strategy: Value| {
        json!({"metadata": {"generateName": "d-"}, "spec": {
            "selector": {"matchLabels": {"a": "b"}}, "strategy": strategy, "minReadySeconds": 0,
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}},
        }})
    };
    let rolling = json!({
        "type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
    });
    let made = lab.post(deployments, with(json!({}))).await.ok();
    assert_eq!(made["spec"]["strategy"], rolling);
    assert_eq!(made["spec"].get("minReadySeconds"), None);
    let template = &made["spec"]["template"]["spec"];
    assert_eq!(template.get("tolerations"), None, "for pods only");
    assert_eq!(template.get("priority"), None, "for pods only");
    let recreate = json!({"type": "Recreate"});
    let made = lab.post(deployments, with(recreate.clone())).await.ok();
    assert_eq!(made["spec"]["strategy"], recreate);
}

#[tokio::test]
async fn a_node_keeps_the_status_it_comes_with() {
    let lab = Lab::new();
    let status = json!({"capacity": {"cpu": "4"}, "nodeInfo": {"osImage": "x"}});
    let body = json!({"metadata": {"name": "n"}, "status": status});
    let node = lab.post("/api/v1/nodes", body).await.ok();
    assert_eq!(node["status"]["capacity"], json!({"cpu": "4"}));
    assert_eq!(node["status"]["allocatable"], json!({"cpu": "4"}));
    assert_eq!(node["status"]["nodeInfo"]["osImage"], "x");
    assert_eq!(node["status"]["nodeInfo"]["architecture"], "");
    // Later on the main resource leaves it alone, as elsewhere.
    let body = json!({"metadata": {"name": "n"}, "status": {}});
    let replaced = lab.put("/api/v1/nodes/n", body).await.ok();
    assert_eq!(replaced["status"], node["status"]);
}

#[tokio::test]
async fn what_is_immutable_stays() {
    let lab = Lab::new();
    for (plural, content) in [("configmaps", "b"), ("secrets", "Yg==")] {
        let all = format!("{DEFAULT}/{plural}");
        let body = json!({"metadata": {"name": "x"}, "immutable": true, "data": {"a": content}});
        lab.post(&all, body).await.ok();
        let one = format!("{all}/x");
        for (patch, field) in [
            (json!({"data": {"a": null}}), "data"),
            (json!({"immutable": null}), "immutable"),
            (json!({"immutable": false}), "immutable"),
        ] {
            let refused = lab.merge(&one, patch).await;
            refused.refused(422, "Invalid");
            assert_eq!(refused.cause()["field"], field);
            assert_eq!(refused.cause()["reason"], "FieldValueForbidden");
        }
        let labels = json!({"metadata": {"labels": {"l": "m"}}});
        lab.merge(&one, labels).await.ok();
    }
    let refused = lab.merge(&format!("{DEFAULT}/secrets/x"), json!({"type": "other"})).await;
    refused.refused(422, "Invalid");
    assert_eq!(refused.cause()["field"], "type");
}

#[tokio::test]
async fn keys_and_sizes_of_configmaps_are_checked() {
    let lab = Lab::new();
    let all = format!("{DEFAULT}/configmaps");
    let with = |data: Value, binary: Value| json!({"metadata": {"generateName": "c-"}, "data": data, "binaryData": binary});
    for key in ["a b", "..", "..a", ".", "", "ä"] {
        let refused = lab.post(&all, with(json!({key: ""}), json!({}))).await;
        refused.refused(422, "Invalid");
        assert_eq!(refused.cause()["field"], format!("data[{key}]"));
    }
    let both = with(json!({"k": ""}), json!({"k": ""}));
    lab.post(&all, both).await.refused(422, "Invalid");
    let full = "x".repeat(1 << 20);
    lab.post(&all, with(json!({"k": full}), json!({}))).await.ok();
    let over = with(json!({"k": full}), json!({"b": "AA=="}));
    let refused = lab.post(&all, over).await;
    refused.refused(422, "Invalid");
    assert_eq!(refused.cause()["reason"], "FieldValueTooLong");
}
