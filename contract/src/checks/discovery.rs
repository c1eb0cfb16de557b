//! What a server tells about itself: its groups, resources, version and health.

use http::Method;
use http::header::{ACCEPT, ETAG, HeaderName, VARY};
use serde_json::{Value, json};

use crate::check::{Outcome, checks};
use crate::context::At;
use crate::{Check, Context};

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

pub(super) fn checks() -> Vec<Check> {
    checks!("discovery":
        the_legacy_group_has_versions,
        groups_are_listed,
        a_group_can_be_read_alone,
        core_resources_are_listed,
        resources_of_a_group_are_listed,
        scale_is_of_another_group,
        events_are_in_two_groups,
        an_unknown_group_or_version_is_not_found,
        all_groups_come_in_one_document,
        the_document_of_old_is_the_default,
        an_unchanged_document_is_not_sent_again,
        what_is_listed_can_be_listed,
        what_has_no_list_is_said,
        a_slash_at_the_end_changes_nothing,
    )
}

/// The entry of a resource in a list of resources.
fn resource<'a>(list: &'a Value, name: &str) -> Result<&'a Value, String> {
    let mut entries = list["resources"].as_array().into_iter().flatten();
    entries.find(|entry| entry["name"] == name).ok_or_else(|| format!("no {name} in {list}"))
}

fn item<'a>(list: &'a Value, key: &str, pointer: &str, value: &str) -> Result<&'a Value, String> {
    let mut items = list[key].as_array().into_iter().flatten();
    items.find(|item| item.at(pointer) == value).ok_or_else(|| format!("no {value} in {list}"))
}

async fn the_legacy_group_has_versions(c: Context) -> Outcome {
    let document = c.read("/api").await?;
    ensure_eq!(document["kind"], "APIVersions", "kind");
    ensure_eq!(document["versions"], json!(["v1"]), "versions");
    Ok(())
}

async fn groups_are_listed(c: Context) -> Outcome {
    let list = c.read("/apis").await?;
    ensure_eq!(list["kind"], "APIGroupList", "kind");
    ensure_eq!(list["apiVersion"], "v1", "apiVersion");
    for group in ["apps", "coordination.k8s.io", "events.k8s.io"] {
        let entry = item(&list, "groups", "/name", group)?;
        let version = json!({"groupVersion": format!("{group}/v1"), "version": "v1"});
        ensure_eq!(entry["preferredVersion"], version, "the preferred version of {group}");
        ensure_eq!(entry["versions"], json!([version]), "the versions of {group}");
    }
    ensure!(item(&list, "groups", "/name", "").is_err(), "the legacy group is listed");
    Ok(())
}

async fn a_group_can_be_read_alone(c: Context) -> Outcome {
    let group = c.read("/apis/apps").await?;
    ensure_eq!(group["kind"], "APIGroup", "kind");
    ensure_eq!(group["name"], "apps", "name");
    ensure_eq!(group.at("/preferredVersion/groupVersion"), "apps/v1", "the preferred version");
    Ok(())
}

const ALL_VERBS: [&str; 8] =
    ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

async fn core_resources_are_listed(c: Context) -> Outcome {
    let list = c.read("/api/v1").await?;
    ensure_eq!(list["kind"], "APIResourceList", "kind");
    ensure_eq!(list["groupVersion"], "v1", "groupVersion");
    for (name, kind, singular, short, namespaced) in [
        ("pods", "Pod", "pod", "po", true),
        ("configmaps", "ConfigMap", "configmap", "cm", true),
        ("services", "Service", "service", "svc", true),
        ("events", "Event", "event", "ev", true),
        ("nodes", "Node", "node", "no", false),
    ] {
        let entry = resource(&list, name)?;
        ensure_eq!(entry["kind"], kind, "kind of {name}");
        ensure_eq!(entry["singularName"], singular, "singularName of {name}");
        ensure_eq!(entry["shortNames"], json!([short]), "shortNames of {name}");
        ensure_eq!(entry["namespaced"], namespaced, "namespaced of {name}");
        ensure_eq!(entry["verbs"], json!(ALL_VERBS), "verbs of {name}");
    }
    let status = resource(&list, "pods/status")?;
    ensure_eq!(status["kind"], "Pod", "kind of pods/status");
    ensure_eq!(status["verbs"], json!(["get", "patch", "update"]), "verbs of pods/status");
    let namespaces = resource(&list, "namespaces")?;
    let without: Vec<&str> =
        ALL_VERBS.into_iter().filter(|verb| *verb != "deletecollection").collect();
    ensure_eq!(namespaces["verbs"], json!(without), "verbs of namespaces");
    ensure_eq!(
        resource(&list, "namespaces/finalize")?["verbs"],
        json!(["update"]),
        "verbs of finalize"
    );
    Ok(())
}

async fn resources_of_a_group_are_listed(c: Context) -> Outcome {
    let list = c.read("/apis/apps/v1").await?;
    ensure_eq!(list["groupVersion"], "apps/v1", "groupVersion");
    for (name, kind, short) in
        [("deployments", "Deployment", "deploy"), ("replicasets", "ReplicaSet", "rs")]
    {
        let entry = resource(&list, name)?;
        ensure_eq!(entry["kind"], kind, "kind of {name}");
        ensure_eq!(entry["shortNames"], json!([short]), "shortNames of {name}");
        ensure_eq!(entry["categories"], json!(["all"]), "categories of {name}");
        resource(&list, &format!("{name}/status"))?;
    }
    Ok(())
}

async fn scale_is_of_another_group(c: Context) -> Outcome {
    let list = c.read("/apis/apps/v1").await?;
    let entry = resource(&list, "deployments/scale")?;
    ensure_eq!(entry["group"], "autoscaling", "group");
    ensure_eq!(entry["version"], "v1", "version");
    ensure_eq!(entry["kind"], "Scale", "kind");
    ensure_eq!(entry["singularName"], "", "singularName");
    Ok(())
}

async fn events_are_in_two_groups(c: Context) -> Outcome {
    for path in ["/api/v1", "/apis/events.k8s.io/v1"] {
        let list = c.read(path).await?;
        ensure_eq!(resource(&list, "events")?["kind"], "Event", "kind in {path}");
    }
    Ok(())
}

async fn an_unknown_group_or_version_is_not_found(c: Context) -> Outcome {
    for path in ["/api/v9", "/apis/apps/v9"] {
        c.get(path).await?.refused(404, "NotFound")?;
    }
    let answer = c.get("/apis/none.test").await?;
    ensure!(answer.code == 404, "expected 404, saw {answer}");
    Ok(())
}

async fn aggregated(c: &Context, path: &str) -> Result<crate::Answer, String> {
    c.request(Method::GET, path).header(ACCEPT, AGGREGATED).send().await
}

async fn all_groups_come_in_one_document(c: Context) -> Outcome {
    let answer = aggregated(&c, "/apis").await?;
    let sent = answer
        .headers
        .get("content-type")
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    ensure!(sent.contains("as=APIGroupDiscoveryList"), "the content type is {sent:?}");
    let document = answer.expect(200)?;
    ensure_eq!(document["kind"], "APIGroupDiscoveryList", "kind");
    ensure_eq!(document["apiVersion"], "apidiscovery.k8s.io/v2", "apiVersion");
    let apps = item(&document, "items", "/metadata/name", "apps")?;
    let version = item(apps, "versions", "/version", "v1")?;
    ensure_eq!(version["freshness"], "Current", "freshness");
    let deployments = item(version, "resources", "/resource", "deployments")?;
    ensure_eq!(deployments["scope"], "Namespaced", "scope");
    ensure_eq!(deployments.at("/responseKind/kind"), "Deployment", "kind of deployments");
    ensure_eq!(deployments["singularResource"], "deployment", "singularResource");
    ensure_eq!(deployments["verbs"], json!(ALL_VERBS), "verbs");
    let scale = item(deployments, "subresources", "/subresource", "scale")?;
    ensure_eq!(scale.at("/responseKind/group"), "autoscaling", "group of scale");
    let document = aggregated(&c, "/api").await?.expect(200)?;
    let core = item(&document, "items", "/versions/0/version", "v1")?;
    let pods = item(&core["versions"][0], "resources", "/resource", "pods")?;
    ensure_eq!(pods.at("/responseKind/kind"), "Pod", "kind of pods");
    Ok(())
}

async fn the_document_of_old_is_the_default(c: Context) -> Outcome {
    for accept in [
        "application/json",
        "*/*",
        "application/json;as=APIGroupDiscoveryList;v=v9;g=apidiscovery.k8s.io,application/json",
    ] {
        let answer = c.request(Method::GET, "/apis").header(ACCEPT, accept).send().await?;
        ensure_eq!(answer.expect(200)?["kind"], "APIGroupList", "kind with {accept}");
    }
    let both = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
    let answer = c.request(Method::GET, "/apis").header(ACCEPT, both).send().await?;
    ensure_eq!(
        answer.expect(200)?["kind"],
        "APIGroupDiscoveryList",
        "kind with all that clients ask for"
    );
    Ok(())
}

async fn an_unchanged_document_is_not_sent_again(c: Context) -> Outcome {
    for path in ["/api", "/apis"] {
        let first = aggregated(&c, path).await?;
        let tag = first.headers.get(ETAG).and_then(|value| value.to_str().ok()).unwrap_or_default();
        ensure!(!tag.is_empty(), "no ETag: {first}");
        let varies = first
            .headers
            .get_all(VARY)
            .iter()
            .any(|value| value.as_bytes().eq_ignore_ascii_case(b"accept"));
        ensure!(varies, "{path} does not say that it varies by Accept: {:?}", first.headers);
        // Other checks may change the groups meanwhile, which takes no longer than a few attempts.
        let mut answer = None;
        for _ in 0..20 {
            let tag = aggregated(&c, path).await?.headers.get(ETAG).cloned();
            let tag = tag.ok_or_else(|| format!("{path} has no ETag"))?;
            let request = c.request(Method::GET, path).header(ACCEPT, AGGREGATED);
            let again =
                request.header_value(HeaderName::from_static("if-none-match"), tag).send().await?;
            if again.code == 304 {
                answer = Some(again);
                break;
            }
        }
        let answer = answer.ok_or_else(|| format!("{path} is always sent again"))?;
        ensure_eq!(answer.text, "", "the body of a 304");
    }
    Ok(())
}

async fn what_is_listed_can_be_listed(c: Context) -> Outcome {
    let mut bases = vec!["/api/v1".to_owned()];
    for group in ["apps", "coordination.k8s.io", "events.k8s.io"] {
        bases.push(format!("/apis/{group}/v1"));
    }
    for base in bases {
        let list = c.read(&base).await?;
        for entry in list["resources"].as_array().into_iter().flatten() {
            let verbs = entry["verbs"].as_array().cloned().unwrap_or_default();
            if verbs.iter().any(|verb| verb == "list") {
                let path = format!("{base}/{}?limit=1", entry.at("/name"));
                let kind = c.read(&path).await?.at("/kind");
                ensure_eq!(kind, format!("{}List", entry.at("/kind")), "kind of {path}");
            }
        }
    }
    Ok(())
}

async fn what_has_no_list_is_said(c: Context) -> Outcome {
    let list = c.read("/api/v1").await?;
    let entries = list["resources"].as_array().into_iter().flatten();
    for entry in entries.filter(|entry| entry.at("/name").contains('/')) {
        let verbs = entry["verbs"].as_array().cloned().unwrap_or_default();
        ensure!(!verbs.iter().any(|verb| verb == "list"), "a subresource with lists: {entry}");
        ensure_eq!(entry["singularName"], "", "singularName of {}", entry["name"]);
    }
    Ok(())
}

async fn a_slash_at_the_end_changes_nothing(c: Context) -> Outcome {
    for path in ["/api", "/api/v1", "/apis/apps", "/apis/apps/v1", "/version"] {
        let with = c.read(&format!("{path}/")).await?;
        ensure_eq!(with["kind"], c.read(path).await?["kind"], "kind of {path}");
    }
    ensure_eq!(c.read("/apis/").await?["kind"], "APIGroupList", "kind of /apis/");
    Ok(())
}
