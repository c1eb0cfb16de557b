//! Namespaces: what is created needs one, and one that ends takes nothing more.

use http::Method;
use serde_json::{Value, json};

use crate::check::{Outcome, checks};
use crate::context::At;
use crate::objects::{config_map, held, lease, pod};
use crate::{Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("namespaces":
        a_new_namespace_is_active,
        the_first_namespaces_are_there,
        creation_needs_a_namespace,
        deletion_waits_for_finalizers,
        a_second_deletion_changes_nothing,
        a_terminating_namespace_takes_nothing_new,
        a_terminating_namespace_can_be_emptied,
        finalizers_change_through_finalize_only,
        finalizers_are_validated,
        the_last_finalizer_removes_it,
        protected_namespaces_stay,
        namespaces_are_deleted_one_by_one,
        the_name_label_stays,
        a_wrong_uid_is_a_conflict,
    )
}

/// Another namespace, which holds one object that stays.
async fn another(c: &Context, name: &str) -> Result<String, String> {
    let name = c.unique(name);
    c.create("namespaces", json!({"metadata": {"name": name, "labels": c.run_labels()}})).await?;
    // So that no namespace controller is done with it before the check is.
    c.create(&format!("/api/v1/namespaces/{name}/configmaps"), held("held")).await?;
    Ok(name)
}

async fn a_new_namespace_is_active(c: Context) -> Outcome {
    let name = c.unique("a");
    let body = json!({
        "metadata": {"name": name, "labels": c.run_labels()},
        "spec": {"finalizers": []},
        "status": {"phase": "Terminating"},
    });
    let created = c.create("namespaces", body).await?;
    ensure_eq!(created["status"], json!({"phase": "Active"}), "status");
    ensure_eq!(created["spec"], json!({"finalizers": ["kubernetes"]}), "spec");
    ensure_eq!(created["metadata"]["labels"]["kubernetes.io/metadata.name"], name, "label");
    Ok(())
}

async fn the_first_namespaces_are_there(c: Context) -> Outcome {
    let found = c.names("namespaces").await?;
    for name in ["default", "kube-system", "kube-public", "kube-node-lease", c.namespace()] {
        ensure!(found.iter().any(|found| found == name), "no {name} in {found:?}");
    }
    Ok(())
}

async fn creation_needs_a_namespace(c: Context) -> Outcome {
    let none = c.unique("none");
    let base = format!("namespaces/{none}");
    for (path, object) in [
        (format!("/api/v1/{base}/configmaps"), config_map("a")),
        (format!("/api/v1/{base}/pods"), pod("a")),
        (format!("/apis/coordination.k8s.io/v1/{base}/leases"), lease("a")),
        // It is found missing before the object is looked at.
        (format!("/api/v1/{base}/configmaps"), json!({"metadata": {"name": "A_B"}})),
        (format!("/api/v1/{base}/configmaps?dryRun=All"), config_map("a")),
    ] {
        let status = c.post(&path, object).await?.refused(404, "NotFound")?;
        ensure_eq!(
            status["message"],
            format!("namespaces \"{none}\" not found"),
            "message of {path}"
        );
        ensure_eq!(
            status["details"],
            json!({"name": none, "kind": "namespaces"}),
            "details of {path}"
        );
    }
    let path = format!("/api/v1/{base}/configmaps/a");
    let status = c.put(&path, &config_map("a")).await?.refused(404, "NotFound")?;
    ensure_eq!(status["details"]["kind"], "configmaps", "what is missing for a replacement");
    Ok(())
}

async fn deletion_waits_for_finalizers(c: Context) -> Outcome {
    let path = format!("namespaces/{}", another(&c, "a").await?);
    let before = c.read(&path).await?;
    let deleted = c.delete(&path).await?.expect(200)?;
    ensure_eq!(deleted["kind"], "Namespace", "kind of the answer");
    ensure_eq!(deleted["status"]["phase"], "Terminating", "phase");
    ensure!(
        !deleted.at("/metadata/deletionTimestamp").is_empty(),
        "no deletionTimestamp: {deleted}"
    );
    ensure_eq!(deleted.uid(), before.uid(), "uid");
    ensure_eq!(c.read(&path).await?["status"]["phase"], "Terminating", "phase, read again");
    Ok(())
}

async fn a_second_deletion_changes_nothing(c: Context) -> Outcome {
    let path = format!("namespaces/{}", another(&c, "a").await?);
    let first = c.delete(&path).await?.expect(200)?;
    let second = c.delete(&path).await?;
    // Some versions answer the object, others that nothing is left to do.
    ensure!(matches!(second.code, 200 | 409), "expected 200 or 409, saw {second}");
    let read = c.read(&path).await?;
    let time = "/metadata/deletionTimestamp";
    ensure_eq!(read.at(time), first.at(time), "deletionTimestamp");
    Ok(())
}

async fn a_terminating_namespace_takes_nothing_new(c: Context) -> Outcome {
    let name = another(&c, "a").await?;
    c.delete(&format!("namespaces/{name}")).await?.expect(200)?;
    let status = c.post(&format!("/api/v1/namespaces/{name}/configmaps"), config_map("a")).await?;
    let status = status.refused(403, "Forbidden")?;
    let message = format!(
        "configmaps \"a\" is forbidden: unable to create new content in namespace {name} because it is being terminated"
    );
    ensure_eq!(status["message"], message, "message");
    ensure_eq!(status["details"]["name"], "a", "name in the details");
    ensure_eq!(status["details"]["kind"], "configmaps", "kind in the details");
    ensure_eq!(
        status["details"]["causes"],
        json!([{
            "reason": "NamespaceTerminating",
            "message": format!("namespace {name} is being terminated"),
            "field": "metadata.namespace",
        }]),
        "causes"
    );
    let path = format!("/apis/coordination.k8s.io/v1/namespaces/{name}/leases/a");
    // A replacement that would create is a creation.
    c.put(&path, &lease("a")).await?.refused(403, "Forbidden")?;
    Ok(())
}

async fn a_terminating_namespace_can_be_emptied(c: Context) -> Outcome {
    let name = another(&c, "a").await?;
    c.delete(&format!("namespaces/{name}")).await?.expect(200)?;
    let path = format!("/api/v1/namespaces/{name}/configmaps/held");
    c.read(&path).await?;
    let changed = c.merge(&path, json!({"data": {"k": "w"}})).await?.expect(200)?;
    ensure_eq!(changed.at("/data/k"), "w", "data");
    c.delete(&path).await?.expect(200)?;
    c.merge(&path, json!({"metadata": {"finalizers": null}})).await?.expect(200)?;
    c.get(&path).await?.refused(404, "NotFound")?;
    Ok(())
}

async fn finalizers_change_through_finalize_only(c: Context) -> Outcome {
    let path = format!("namespaces/{}", another(&c, "a").await?);
    let mut namespace = c.read(&path).await?;
    namespace["spec"]["finalizers"] = json!([]);
    let kept = c.put(&path, &namespace).await?.expect(200)?;
    ensure_eq!(kept["spec"]["finalizers"], json!(["kubernetes"]), "finalizers after a replacement");
    namespace["spec"]["finalizers"] = json!(["kubernetes", "lab.test/x"]);
    namespace["metadata"]["resourceVersion"].take();
    let more = c.put(&format!("{path}/finalize"), &namespace).await?.expect(200)?;
    ensure_eq!(more["spec"]["finalizers"], json!(["kubernetes", "lab.test/x"]), "finalizers");
    ensure_eq!(more["status"]["phase"], "Active", "phase");
    for method in [Method::GET, Method::PATCH, Method::DELETE] {
        let answer = c.request(method, &format!("{path}/finalize")).json(&json!({})).send().await?;
        answer.refused(405, "MethodNotAllowed")?;
    }
    Ok(())
}

async fn finalizers_are_validated(c: Context) -> Outcome {
    let path = format!("namespaces/{}", another(&c, "a").await?);
    let mut namespace = c.read(&path).await?;
    namespace["spec"]["finalizers"] = json!(["x"]);
    let answer = c.put(&format!("{path}/finalize"), &namespace).await?;
    answer.invalid("spec.finalizers[0]", "FieldValueInvalid")?;
    Ok(())
}

async fn the_last_finalizer_removes_it(c: Context) -> Outcome {
    let name = another(&c, "a").await?;
    let path = format!("namespaces/{name}");
    c.delete(&path).await?.expect(200)?;
    let mut namespace = c.read(&path).await?;
    namespace["spec"]["finalizers"] = json!([]);
    namespace["metadata"]["resourceVersion"].take();
    c.put(&format!("{path}/finalize"), &namespace).await?.expect(200)?;
    c.get(&path).await?.refused(404, "NotFound")?;
    // Nothing but a controller empties it.
    let left = format!("/api/v1/namespaces/{name}/configmaps/held");
    let freed = c.merge(&left, json!({"metadata": {"finalizers": null}})).await?;
    ensure!(matches!(freed.code, 200 | 404), "expected 200 or 404, saw {freed}");
    let deleted = c.delete(&left).await?;
    ensure!(matches!(deleted.code, 200 | 404), "expected 200 or 404, saw {deleted}");
    Ok(())
}

async fn protected_namespaces_stay(c: Context) -> Outcome {
    for name in ["default", "kube-system", "kube-public"] {
        let status = c.delete(&format!("namespaces/{name}")).await?.refused(403, "Forbidden")?;
        let message =
            format!("namespaces \"{name}\" is forbidden: this namespace may not be deleted");
        ensure_eq!(status["message"], message, "message");
    }
    Ok(())
}

async fn namespaces_are_deleted_one_by_one(c: Context) -> Outcome {
    c.delete("namespaces?labelSelector=none%3Dsuch").await?.refused(405, "MethodNotAllowed")?;
    Ok(())
}

async fn the_name_label_stays(c: Context) -> Outcome {
    let name = c.namespace();
    let label = "kubernetes.io/metadata.name";
    let patch = json!({"metadata": {"labels": {label: null, "more": "1"}}});
    let changed = c.merge(&format!("namespaces/{name}"), patch).await?.expect(200)?;
    ensure_eq!(changed["metadata"]["labels"][label], name, "label");
    ensure_eq!(changed["metadata"]["labels"]["more"], "1", "another label");
    Ok(())
}

async fn a_wrong_uid_is_a_conflict(c: Context) -> Outcome {
    let path = format!("namespaces/{}", another(&c, "a").await?);
    let answer = c.delete_with(&path, json!({"preconditions": {"uid": "x"}})).await?;
    answer.refused(409, "Conflict")?;
    let read = c.read(&path).await?;
    ensure_eq!(read["metadata"]["deletionTimestamp"], Value::Null, "deletionTimestamp");
    Ok(())
}
