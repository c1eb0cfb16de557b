//! Creation: what the server adds, overwrites and refuses.

use http::Method;
use serde_json::{Value, json};

use crate::check::{Outcome, checks};
use crate::context::At;
use crate::objects::{config_map, deployment, lease, pod, replica_set};
use crate::{Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("create":
        the_answer_is_the_object_as_stored,
        a_body_without_type_is_of_the_kind_of_the_path,
        a_taken_name_is_already_exists,
        what_the_server_decides_is_overwritten,
        a_resource_version_is_refused,
        a_body_of_another_kind_is_refused,
        a_body_of_another_namespace_is_refused,
        a_status_in_the_body_is_ignored,
        pods_get_defaults,
        workloads_get_defaults,
        workloads_are_validated,
        every_problem_is_a_cause,
        each_write_has_a_higher_version,
        a_name_used_again_is_another_object,
        string_data_of_a_secret_becomes_data,
        unknown_options_are_ignored,
        field_managers_are_validated,
        cluster_scoped_objects_have_no_namespace,
    )
}

async fn the_answer_is_the_object_as_stored(c: Context) -> Outcome {
    let created = c.create("configmaps", config_map("a")).await?;
    ensure_eq!(created["apiVersion"], "v1", "apiVersion");
    ensure_eq!(created["kind"], "ConfigMap", "kind");
    ensure_eq!(created.at("/metadata/name"), "a", "name");
    ensure_eq!(created.at("/metadata/namespace"), c.namespace(), "namespace");
    ensure_eq!(created.uid().len(), 36, "length of the uid");
    ensure!(created.version_number()? > 0, "no version: {created}");
    let time = created.at("/metadata/creationTimestamp");
    ensure!(time.len() == 20 && time.ends_with('Z'), "not a time in whole seconds: {time:?}");
    ensure_eq!(created["data"], json!({"k": "v"}), "data");
    ensure_eq!(c.read("configmaps/a").await?, created, "what is read afterwards");
    Ok(())
}

async fn a_body_without_type_is_of_the_kind_of_the_path(c: Context) -> Outcome {
    let mut lease = lease("a");
    let created = c.create("leases", lease.clone()).await?;
    ensure_eq!(created["apiVersion"], "coordination.k8s.io/v1", "apiVersion");
    ensure_eq!(created["kind"], "Lease", "kind");
    lease["metadata"]["name"] = json!("b");
    lease["apiVersion"] = json!("coordination.k8s.io/v1");
    lease["kind"] = json!("Lease");
    c.create("leases", lease).await?;
    Ok(())
}

async fn a_taken_name_is_already_exists(c: Context) -> Outcome {
    c.create("configmaps", config_map("a")).await?;
    let status = c.post("configmaps", config_map("a")).await?.refused(409, "AlreadyExists")?;
    ensure_eq!(status["message"], "configmaps \"a\" already exists", "message");
    ensure_eq!(status["details"], json!({"name": "a", "kind": "configmaps"}), "details");
    c.create("replicasets", replica_set("a")).await?;
    let status = c.post("replicasets", replica_set("a")).await?.refused(409, "AlreadyExists")?;
    ensure_eq!(status["message"], "replicasets.apps \"a\" already exists", "message");
    ensure_eq!(
        status["details"],
        json!({"name": "a", "group": "apps", "kind": "replicasets"}),
        "details with a group"
    );
    Ok(())
}

async fn what_the_server_decides_is_overwritten(c: Context) -> Outcome {
    let mut object = config_map("a");
    let old = "2001-02-03T04:05:06Z";
    object["metadata"]["uid"] = json!("mine");
    object["metadata"]["creationTimestamp"] = json!(old);
    object["metadata"]["deletionTimestamp"] = json!(old);
    object["metadata"]["deletionGracePeriodSeconds"] = json!(3);
    object["metadata"]["selfLink"] = json!("/mine");
    let created = c.create("configmaps", object).await?;
    ensure!(created.uid() != "mine", "the uid was the client's");
    ensure!(created.at("/metadata/creationTimestamp") != old, "the time was the client's");
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"] {
        ensure_eq!(created["metadata"][field], Value::Null, "{field}");
    }
    let mut workload = deployment("a");
    workload["metadata"]["generation"] = json!(7);
    let created = c.create("deployments", workload).await?;
    ensure_eq!(created["metadata"]["generation"], 1, "generation");
    Ok(())
}

async fn a_resource_version_is_refused(c: Context) -> Outcome {
    let mut object = config_map("a");
    object["metadata"]["resourceVersion"] = json!("5");
    let answer = c.post("configmaps", object).await?;
    // The reference says that it is to blame itself, which no other server needs to.
    ensure!(matches!(answer.code, 400 | 500), "expected 400 or 500, saw {answer}");
    ensure_eq!(
        answer.body["message"],
        "resourceVersion should not be set on objects to be created",
        "message"
    );
    ensure_eq!(c.get("configmaps/a").await?.code, 404, "whether it exists");
    Ok(())
}

async fn a_body_of_another_kind_is_refused(c: Context) -> Outcome {
    let types = [("v1", "Pod"), ("v1", "Nothing"), ("v2", "ConfigMap"), ("apps/v1", "Deployment")];
    for (version, kind) in types {
        let mut object = config_map("a");
        object["apiVersion"] = json!(version);
        object["kind"] = json!(kind);
        c.post("configmaps", object).await?.refused(400, "BadRequest")?;
    }
    ensure_eq!(c.names("configmaps").await?, Vec::<String>::new(), "what exists");
    Ok(())
}

async fn a_body_of_another_namespace_is_refused(c: Context) -> Outcome {
    let mut object = config_map("a");
    object["metadata"]["namespace"] = json!("default");
    let status = c.post("configmaps", object.clone()).await?.refused(400, "BadRequest")?;
    let message =
        "the namespace of the provided object does not match the namespace sent on the request";
    ensure_eq!(status["message"], message, "message");
    object["metadata"]["namespace"] = json!(c.namespace());
    c.create("configmaps", object).await?;
    Ok(())
}

async fn a_status_in_the_body_is_ignored(c: Context) -> Outcome {
    let mut object = pod("a");
    object["status"] = json!({"phase": "Running", "podIP": "10.0.0.1"});
    let created = c.create("pods", object).await?;
    ensure_eq!(created["status"]["phase"], "Pending", "phase");
    ensure_eq!(created["status"]["podIP"], Value::Null, "podIP");
    let mut object = replica_set("a");
    object["status"] = json!({"replicas": 5});
    let created = c.create("replicasets", object).await?;
    ensure_eq!(created["status"]["replicas"], 0, "replicas in the status");
    Ok(())
}

async fn pods_get_defaults(c: Context) -> Outcome {
    let created = c.create("pods", pod("a")).await?;
    let spec = &created["spec"];
    for (field, value) in [
        ("restartPolicy", json!("Always")),
        ("terminationGracePeriodSeconds", json!(30)),
        ("dnsPolicy", json!("ClusterFirst")),
        ("schedulerName", json!("default-scheduler")),
        ("securityContext", json!({})),
        ("enableServiceLinks", json!(true)),
    ] {
        ensure_eq!(spec[field], value, "spec.{field}");
    }
    ensure_eq!(spec["containers"][0]["imagePullPolicy"], "IfNotPresent", "imagePullPolicy");
    ensure_eq!(created["status"]["qosClass"], "BestEffort", "qosClass");
    Ok(())
}

async fn workloads_get_defaults(c: Context) -> Outcome {
    let mut object = deployment("a");
    object["spec"]["replicas"].take();
    let created = c.create("deployments", object).await?;
    let spec = &created["spec"];
    ensure_eq!(spec["replicas"], 1, "replicas");
    ensure_eq!(spec["revisionHistoryLimit"], 10, "revisionHistoryLimit");
    ensure_eq!(spec["progressDeadlineSeconds"], 600, "progressDeadlineSeconds");
    ensure_eq!(
        spec["strategy"],
        json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}),
        "strategy"
    );
    ensure_eq!(
        spec["template"]["spec"]["restartPolicy"],
        "Always",
        "restartPolicy of the template"
    );
    let mut object = replica_set("a");
    object["spec"]["replicas"] = json!(0);
    let created = c.create("replicasets", object).await?;
    ensure_eq!(created["spec"]["replicas"], 0, "replicas, which were said to be none");
    Ok(())
}

async fn workloads_are_validated(c: Context) -> Outcome {
    let refused = async |path: &str, object: Value, field: &str, cause: &str| {
        c.post(path, object).await?.invalid(field, cause)
    };
    for (path, object) in [("deployments", deployment("a")), ("replicasets", replica_set("a"))] {
        let mut mismatch = object.clone();
        mismatch["spec"]["selector"]["matchLabels"] = json!({"app": "other"});
        refused(path, mismatch, "spec.template.metadata.labels", "FieldValueInvalid").await?;
        let mut negative = object.clone();
        negative["spec"]["replicas"] = json!(-1);
        refused(path, negative, "spec.replicas", "FieldValueInvalid").await?;
        let mut once = object;
        once["spec"]["template"]["spec"]["restartPolicy"] = json!("Never");
        refused(path, once, "spec.template.spec.restartPolicy", "FieldValueNotSupported").await?;
    }
    let mut empty = pod("a");
    empty["spec"]["containers"] = json!([]);
    refused("pods", empty, "spec.containers", "FieldValueRequired").await?;
    Ok(())
}

async fn every_problem_is_a_cause(c: Context) -> Outcome {
    let object = json!({"metadata": {"name": "A_B", "labels": {"a": "-"}, "finalizers": ["x"]}});
    let answer = c.post("configmaps", object).await?;
    for field in ["metadata.name", "metadata.labels", "metadata.finalizers[0]"] {
        answer.clone().invalid(field, "FieldValueInvalid")?;
    }
    let status = answer.refused(422, "Invalid")?;
    ensure_eq!(status["details"]["name"], "A_B", "name in the details");
    ensure_eq!(status["details"]["kind"], "ConfigMap", "kind in the details");
    let message = status.at("/message");
    ensure!(message.starts_with("ConfigMap \"A_B\" is invalid: [metadata.name: "), "{message}");
    Ok(())
}

async fn each_write_has_a_higher_version(c: Context) -> Outcome {
    let mut last = 0;
    for number in 0..10 {
        let created = c.create("configmaps", config_map(&format!("a{number}"))).await?;
        let version = created.version_number()?;
        ensure!(version > last, "{version} after {last}");
        last = version;
    }
    Ok(())
}

async fn a_name_used_again_is_another_object(c: Context) -> Outcome {
    let first = c.create("configmaps", config_map("a")).await?;
    c.delete("configmaps/a").await?.expect(200)?;
    let second = c.create("configmaps", config_map("a")).await?;
    ensure!(first.uid() != second.uid(), "both have the uid {}", first.uid());
    Ok(())
}

async fn string_data_of_a_secret_becomes_data(c: Context) -> Outcome {
    let object =
        json!({"metadata": {"name": "a"}, "data": {"b": "Yg=="}, "stringData": {"a": "a"}});
    let created = c.create("secrets", object).await?;
    ensure_eq!(created["type"], "Opaque", "type");
    ensure_eq!(created["data"], json!({"a": "YQ==", "b": "Yg=="}), "data");
    ensure_eq!(created["stringData"], Value::Null, "stringData");
    Ok(())
}

async fn unknown_options_are_ignored(c: Context) -> Outcome {
    c.create("configmaps?colour=green&pretty=true", config_map("a")).await?;
    Ok(())
}

async fn field_managers_are_validated(c: Context) -> Outcome {
    c.create("configmaps?fieldManager=lab", config_map("a")).await?;
    let long = format!("configmaps?fieldManager={}", "x".repeat(129));
    c.post(&long, config_map("b")).await?.invalid("fieldManager", "FieldValueTooLong")?;
    let unsupported = c.post("configmaps?fieldValidation=Nope", config_map("b")).await?;
    unsupported.invalid("fieldValidation", "FieldValueNotSupported")?;
    Ok(())
}

async fn cluster_scoped_objects_have_no_namespace(c: Context) -> Outcome {
    let name = c.unique("node");
    let node = json!({"metadata": {"name": name, "labels": c.run_labels()}});
    let created = c.create("nodes", node.clone()).await?;
    ensure_eq!(created["metadata"]["namespace"], Value::Null, "namespace");
    let misplaced = format!("/api/v1/namespaces/{}/nodes", c.namespace());
    let answer = c.request(Method::POST, &misplaced).json(&node).send().await?;
    answer.refused(404, "NotFound")?;
    Ok(())
}
