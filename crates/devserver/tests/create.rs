//! Creating objects: what the server sets, what it refuses, and in which words.

mod lab;

use lab::*;
use serde_json::json;

#[tokio::test]
async fn the_server_sets_what_is_its_own() {
    let lab = Lab::new();
    let body = json!({"metadata": {
        "name": "a", "uid": "mine", "creationTimestamp": "2001-01-01T00:00:00Z", "generation": 7,
        "deletionTimestamp": "2001-01-01T00:00:00Z", "deletionGracePeriodSeconds": 3,
    }});
    let made = lab.post(CONFIG_MAPS, body).await;
    assert_eq!(made.code, 201);
    let metadata = &made.body["metadata"];
    assert_eq!((&made.body["kind"], &made.body["apiVersion"]), (&json!("ConfigMap"), &json!("v1")));
    assert_eq!(metadata["namespace"], "default");
    assert_eq!(metadata["uid"].as_str().unwrap().len(), 36);
    assert_ne!(metadata["creationTimestamp"], "2001-01-01T00:00:00Z");
    assert_eq!(metadata["generation"], 7, "a kind that does not count generations");
    // B81: a deletion timestamp on create is ignored.
    for gone in ["deletionTimestamp", "deletionGracePeriodSeconds"] {
        assert!(metadata.get(gone).is_none(), "{gone}");
    }
    assert_eq!(lab.get(&format!("{CONFIG_MAPS}/a")).await.ok(), made.body);
}

#[tokio::test]
async fn versions_start_from_the_clock_and_rise() {
    let before =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_micros()
            as u64;
    let lab = Lab::new();
    let (a, b) = (version(&lab.config_map("a").await), version(&lab.config_map("b").await));
    assert!(before <= a && a < b);
}

#[tokio::test]
async fn generated_names_are_of_kubernetes_alphabet() {
    let lab = Lab::new();
    let long = "x".repeat(70);
    for (base, kept) in [("web-", "web-"), (long.as_str(), &long[..58])] {
        let made = lab.post(CONFIG_MAPS, json!({"metadata": {"generateName": base}})).await.ok();
        let name = made["metadata"]["name"].as_str().unwrap();
        let suffix = name.strip_prefix(kept).unwrap();
        assert_eq!(suffix.len(), 5);
        assert!(suffix.chars().all(|c| "bcdfghjklmnpqrstvwxz2456789".contains(c)), "{name}");
        assert_eq!(made["metadata"]["generateName"], base);
    }
}

#[tokio::test]
async fn kinds_with_a_spec_start_at_generation_one_and_without_status() {
    let lab = Lab::new();
    let mut body = replica_set("rs");
    body["status"] = json!({"replicas": 9});
    let made = lab.post(REPLICA_SETS, body).await.ok();
    assert_eq!(made["metadata"]["generation"], 1);
    assert_eq!(made["status"], json!({"replicas": 0}));
    let made = lab
        .post(WIDGETS, json!({"metadata": {"name": "w"}, "spec": {}, "status": {"x": 1}}))
        .await
        .ok();
    assert_eq!(made["metadata"]["generation"], 1);
    assert!(made.get("status").is_none());
    // Without the subresource status is an ordinary field.
    let made = lab.post(PLAINS, json!({"metadata": {"name": "p"}, "status": {"x": 1}})).await.ok();
    assert_eq!(made["status"]["x"], 1);
}

#[tokio::test]
async fn refusals_are_those_of_a_real_server() {
    let lab = Lab::new();
    lab.config_map("taken").await;
    let cases = [
        (
            json!({"metadata": {"name": "taken"}}),
            409,
            "AlreadyExists",
            "configmaps \"taken\" already exists",
        ),
        (
            json!({"metadata": {"name": "a", "resourceVersion": "1"}}),
            400,
            "BadRequest",
            "resourceVersion should not be set on objects to be created",
        ),
        (
            json!({"metadata": {"name": "a", "namespace": "other"}}),
            400,
            "BadRequest",
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        (
            json!({"metadata": {}}),
            422,
            "Invalid",
            "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required",
        ),
        (
            json!({"metadata": {"name": "Upper"}}),
            422,
            "Invalid",
            "ConfigMap \"Upper\" is invalid: metadata.name: Invalid value: \"Upper\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        ),
        (
            json!({"apiVersion": "apps/v1", "metadata": {"name": "a"}}),
            400,
            "BadRequest",
            "the API version in the data (apps/v1) does not match the expected API version (v1)",
        ),
    ];
    for (body, code, reason, message) in cases {
        assert_eq!(lab.post(CONFIG_MAPS, body).await.refused(code, reason), message);
    }
    let labels = json!({"metadata": {"name": "a", "labels": {"app": "_lab"}}});
    let refused = lab.post(CONFIG_MAPS, labels).await;
    refused.refused(422, "Invalid");
    assert_eq!(refused.cause()["field"], "metadata.labels");
    assert_eq!(refused.cause()["reason"], "FieldValueInvalid");
    assert_eq!(refused.body["details"]["kind"], "ConfigMap");
    let kind = lab.post(CONFIG_MAPS, json!({"kind": "Pod", "metadata": {"name": "a"}})).await;
    assert!(kind.refused(400, "BadRequest").contains("cannot be handled as a ConfigMap"));
    let wrong = lab.post(CONFIG_MAPS, json!({"metadata": {"name": "a", "labels": [1]}})).await;
    wrong.refused(400, "BadRequest");
    assert_eq!(lab.names(CONFIG_MAPS).await, ["taken"]);
}

#[tokio::test]
async fn owners_and_finalizers_are_checked() {
    let lab = Lab::new();
    let owner = |name: &str| json!({"apiVersion": "v1", "kind": "Pod", "name": name, "uid": "u", "controller": true});
    let two = json!({"metadata": {"name": "a", "ownerReferences": [owner("x"), owner("y")]}});
    let message = lab.post(CONFIG_MAPS, two).await.refused(422, "Invalid");
    assert!(message.contains("Only one reference can have Controller set to true"), "{message}");
    // The cause holds the whole list, so that one for each would grow with the square of their number.
    let many: Vec<_> = (0..5_000).map(|n| owner(&format!("x{n}"))).collect();
    let many = json!({"metadata": {"name": "a", "ownerReferences": many}});
    let refused = lab.post(CONFIG_MAPS, many).await;
    refused.refused(422, "Invalid");
    assert_eq!(refused.body["details"]["causes"].as_array().unwrap().len(), 1);
    let both = json!({"metadata": {"name": "a", "finalizers": ["orphan", "foregroundDeletion"]}});
    let message = lab.post(CONFIG_MAPS, both).await.refused(422, "Invalid");
    assert!(message.contains("cannot be both set"), "{message}");
}

#[tokio::test]
async fn namespaces_must_exist_and_not_be_ending() {
    let lab = Lab::new();
    let body = json!({"metadata": {"name": "a"}});
    let path = "/api/v1/namespaces/lab/configmaps";
    assert_eq!(
        lab.post(path, body.clone()).await.refused(404, "NotFound"),
        "namespaces \"lab\" not found"
    );
    let made = lab.namespace("lab").await;
    assert_eq!(made["spec"]["finalizers"], json!(["kubernetes"]));
    assert_eq!(made["status"]["phase"], "Active");
    assert_eq!(made["metadata"]["labels"]["kubernetes.io/metadata.name"], "lab");
    lab.post(path, body.clone()).await.ok();
    lab.delete("/api/v1/namespaces/lab").await.ok();
    let refused = lab.post(path, json!({"metadata": {"name": "b"}})).await;
    assert_eq!(
        refused.refused(403, "Forbidden"),
        "configmaps \"b\" is forbidden: unable to create new content in namespace lab because it is being terminated"
    );
    assert_eq!(refused.cause()["reason"], "NamespaceTerminating");
}

#[tokio::test]
async fn the_first_namespaces_are_there() {
    let lab = Lab::new();
    assert_eq!(
        lab.names("/api/v1/namespaces").await,
        ["default", "kube-node-lease", "kube-public", "kube-system"]
    );
}

#[tokio::test]
async fn pods_get_the_defaults_workloads_rely_on() {
    let lab = Lab::new();
    let made = lab.post(PODS, pod("a", None)).await.ok();
    assert_eq!(made["status"], json!({"phase": "Pending", "qosClass": "BestEffort"}));
    assert_eq!(made["spec"]["restartPolicy"], "Always");
    assert_eq!(made["spec"]["terminationGracePeriodSeconds"], 30);
    assert_eq!(made["spec"]["containers"][0]["imagePullPolicy"], "IfNotPresent");
    let refused = lab.post(PODS, json!({"metadata": {"name": "b"}, "spec": {}})).await;
    assert_eq!(
        refused.refused(422, "Invalid"),
        "Pod \"b\" is invalid: spec.containers: Required value"
    );
}

#[tokio::test]
async fn replica_sets_need_a_selector_that_fits_their_template() {
    let lab = Lab::new();
    let mut none = replica_set("rs");
    none["spec"].as_object_mut().unwrap().remove("selector");
    let message = lab.post(REPLICA_SETS, none).await.refused(422, "Invalid");
    assert_eq!(
        message,
        "ReplicaSet.apps \"rs\" is invalid: [spec.selector: Required value, spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` does not match template `labels`]"
    );
    let mut other = replica_set("rs");
    other["spec"]["template"]["metadata"]["labels"] = json!({"app": "other"});
    let message = lab.post(REPLICA_SETS, other).await.refused(422, "Invalid");
    assert_eq!(
        message,
        "ReplicaSet.apps \"rs\" is invalid: spec.template.metadata.labels: Invalid value: {\"app\":\"other\"}: `selector` does not match template `labels`"
    );
    let mut one = replica_set("rs");
    one["spec"].as_object_mut().unwrap().remove("replicas");
    assert_eq!(lab.post(REPLICA_SETS, one).await.ok()["spec"]["replicas"], 1);
}

#[tokio::test]
async fn a_dry_run_stores_nothing() {
    let lab = Lab::new();
    let before = lab.server.resource_version();
    let path = format!("{CONFIG_MAPS}?dryRun=All&fieldManager=lab&unknownParameter=1");
    let answer = lab.post(&path, json!({"metadata": {"generateName": "a-"}})).await;
    assert_eq!(answer.code, 201);
    assert!(answer.body["metadata"].get("resourceVersion").is_none());
    assert_eq!(lab.server.resource_version(), before);
    let refused =
        lab.post(&format!("{CONFIG_MAPS}?dryRun=Some"), json!({"metadata": {"name": "a"}})).await;
    assert_eq!(
        refused.refused(422, "Invalid"),
        "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"Some\"]: supported values: \"All\""
    );
    let long = format!("{CONFIG_MAPS}?fieldManager={}", "m".repeat(129));
    lab.post(&long, json!({"metadata": {"name": "a"}})).await.refused(422, "Invalid");
}

#[tokio::test]
async fn secrets_take_texts_and_keep_data() {
    let lab = Lab::new();
    let path = "/api/v1/namespaces/default/secrets";
    let made =
        lab.post(path, json!({"metadata": {"name": "s"}, "stringData": {"a": "text"}})).await.ok();
    assert_eq!(made["data"], json!({"a": "dGV4dA=="}));
    assert_eq!(made["type"], "Opaque");
    assert!(made.get("stringData").is_none());
}
