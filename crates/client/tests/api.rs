//! The verbs of one kind.

mod support;

use std::time::Duration;

use k8s_openapi::api::apps::v1::ReplicaSet;
use k8s_openapi::api::autoscaling::v1::Scale;
use k8s_openapi::api::core::v1::{Binding, ConfigMap, Node, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Status;
use kubewright_client::{Api, Client, Deleted, WatchEvent};
use kubewright_meta::{
    CreateOptions, DeleteOptions, GroupVersionKind, Kind, ListOptions, Object, Patch, PatchOptions,
    ReplaceOptions, Scope, Unstructured, WatchOptions,
};
use kubewright_wire::RawWatchEvent;
use serde_json::{Value, json as value};
use support::{Answer, Script, Then, json, stream, text};

fn config_map(name: &str) -> ConfigMap {
    let mut object = ConfigMap::default();
    object.metadata.name = Some(name.to_owned());
    object
}

fn echo(name: &str) -> Answer {
    json(
        200,
        value!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "a", "resourceVersion": "7"}}),
    )
}

fn widgets(client: &Client) -> Api<Unstructured> {
    let gvk = GroupVersionKind::new("lab.test", "v1", "Widget");
    client.api(Kind::dynamic(gvk, "widgets", Scope::Namespaced)).in_namespace("a")
}

#[tokio::test]
async fn each_verb_sends_its_request() {
    let (script, client) = Script::new((0..7).map(|_| echo("c")));
    let api = client.in_namespace::<ConfigMap>("a");
    let manager = || Some("lab".to_owned());
    api.get("c", &Default::default()).await.unwrap();
    let options = CreateOptions { field_manager: manager(), dry_run: true };
    api.create(&config_map("c"), &options).await.unwrap();
    let options = ReplaceOptions { field_manager: manager(), ..Default::default() };
    api.replace(&config_map("c"), &options).await.unwrap();
    let options = PatchOptions { field_manager: manager(), ..Default::default() };
    let patch = Patch::merge(value!({"data": {"a": null}})).unwrap();
    api.patch("c", &patch, &options).await.unwrap();
    let apply = Patch::apply(value!({"apiVersion": "v1", "kind": "ConfigMap"})).unwrap();
    api.patch("c", &apply, &PatchOptions { force: true, ..options.clone() }).await.unwrap();
    api.patch_status("c", &patch, &options).await.unwrap();
    api.delete("c", &DeleteOptions::with_uid("u")).await.unwrap();

    let path = "/api/v1/namespaces/a/configmaps";
    assert_eq!(
        script.lines(),
        [
            format!("GET {path}/c"),
            format!("POST {path}?dryRun=All&fieldManager=lab"),
            format!("PUT {path}/c?fieldManager=lab"),
            format!("PATCH {path}/c?fieldManager=lab"),
            format!("PATCH {path}/c?fieldManager=lab&force=true"),
            format!("PATCH {path}/c/status?fieldManager=lab"),
            format!("DELETE {path}/c"),
        ]
    );
    let seen = script.seen();
    assert_eq!(seen[1].json()["kind"], "ConfigMap");
    assert_eq!(seen[3].headers["content-type"], "application/merge-patch+json");
    assert_eq!(seen[3].json(), value!({"data": {"a": null}}));
    assert_eq!(seen[4].headers["content-type"], "application/apply-patch+yaml");
    assert_eq!(
        seen[6].json(),
        value!({"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": "u"}})
    );
}

#[tokio::test]
async fn calls_that_make_no_sense_are_not_sent() {
    let (script, client) = Script::new([]);
    let (default, replace) = (CreateOptions::default(), ReplaceOptions::default());
    let a = client.in_namespace::<ConfigMap>("a");
    let merge = Patch::merge(value!({})).unwrap();
    let mut errors = Vec::new();
    for name in ["", ".", "..", "a/b", "a%2fb"] {
        errors.push(a.get(name, &Default::default()).await.unwrap_err());
        errors.push(a.delete(name, &Default::default()).await.unwrap_err());
        errors.push(a.patch(name, &merge, &Default::default()).await.unwrap_err());
        errors.push(a.replace(&config_map(name), &replace).await.unwrap_err());
        errors.push(a.get_scale(name, &Default::default()).await.unwrap_err());
    }
    // A name is needed, or the wish for one.
    errors.push(a.create(&ConfigMap::default(), &default).await.unwrap_err());
    // All namespaces can be listed and watched only.
    for api in [client.everywhere::<ConfigMap>(), client.in_namespace::<ConfigMap>("")] {
        errors.push(api.get("c", &Default::default()).await.unwrap_err());
        errors.push(api.create(&config_map("c"), &default).await.unwrap_err());
        errors.push(api.replace(&config_map("c"), &replace).await.unwrap_err());
        errors.push(api.delete("c", &Default::default()).await.unwrap_err());
        let all = api.delete_collection(&Default::default(), &Default::default()).await;
        errors.push(all.unwrap_err());
    }
    // The object's namespace is the Api's.
    let mut elsewhere = config_map("c");
    elsewhere.metadata.namespace = Some("b".into());
    errors.push(a.create(&elsewhere, &default).await.unwrap_err());
    errors.push(a.replace(&elsewhere, &replace).await.unwrap_err());
    let nodes = client.api(Kind::<Node>::of()).in_namespace("a");
    errors.push(nodes.list(&Default::default()).await.unwrap_err());
    // Server-side apply has an owner, and managed fields are not for clients.
    let apply = |body: Value| Patch::apply(body).unwrap();
    errors.push(a.patch("c", &apply(value!({})), &Default::default()).await.unwrap_err());
    let owned = PatchOptions { field_manager: Some("lab".into()), ..Default::default() };
    let managed = apply(value!({"metadata": {"managedFields": []}}));
    errors.push(a.patch("c", &managed, &owned).await.unwrap_err());
    let forced = PatchOptions { force: true, ..Default::default() };
    errors.push(a.patch("c", &merge, &forced).await.unwrap_err());
    // An unstructured object is of the Api's kind.
    let gvk = GroupVersionKind::new("lab.test", "v2", "Widget");
    let other = Unstructured::new(&gvk, "w");
    errors.push(widgets(&client).create(&other, &default).await.unwrap_err());
    errors.push(widgets(&client).replace(&other, &replace).await.unwrap_err());

    for error in errors {
        assert!(error.is_invalid_request(), "{error}");
    }
    assert!(script.seen().is_empty());
}

#[tokio::test]
async fn a_deletion_is_answered_with_the_object_or_a_status() {
    let status = value!({"kind": "Status", "apiVersion": "v1", "status": "Success",
        "details": {"name": "p", "uid": "u"}});
    let object = value!({"kind": "Pod", "apiVersion": "v1", "status": {"phase": "Running"},
        "metadata": {"name": "p", "deletionTimestamp": "2024-01-01T00:00:00Z"}});
    let failure = value!({"kind": "Status", "apiVersion": "v1", "status": "Failure",
        "reason": "Forbidden", "code": 403});
    let (_, client) = Script::new([json(200, status), json(200, object), json(200, failure)]);
    let pods = client.in_namespace::<Pod>("a");
    let delete = async || pods.delete("p", &Default::default()).await;
    let Deleted::Status(status) = delete().await.unwrap() else { panic!("no status") };
    assert_eq!(status.details.unwrap().uid.as_deref(), Some("u"));
    let Deleted::Object(pod) = delete().await.unwrap() else { panic!("no object") };
    assert!(pod.is_being_deleted());
    assert!(delete().await.unwrap_err().is_forbidden());
}

#[tokio::test]
async fn a_custom_kind_named_status_is_an_object() {
    let object = value!({"kind": "Status", "apiVersion": "lab.test/v1", "metadata": {"name": "s"},
        "status": "Failure"});
    let (_, client) = Script::new([json(200, object.clone()), json(200, object)]);
    let gvk = GroupVersionKind::new("lab.test", "v1", "Status");
    let api = client.api(Kind::<Unstructured>::dynamic(gvk, "statuses", Scope::Cluster));
    let deleted = api.delete("s", &Default::default()).await.unwrap();
    assert_eq!(deleted.object().unwrap().name(), "s");
    assert_eq!(api.get("s", &Default::default()).await.unwrap().types.kind, "Status");
}

#[tokio::test]
async fn deleting_a_collection_takes_both_answers() {
    let status =
        |text: &str| json(200, value!({"kind": "Status", "apiVersion": "v1", "status": text}));
    let list = || {
        json(
            200,
            value!({"kind": "ConfigMapList", "apiVersion": "v1", "metadata": {},
        "items": [{"metadata": {"name": "c"}}]}),
        )
    };
    let (script, client) =
        Script::new([list(), status("Success"), status("Failure"), text(403, "", "")]);
    let api = client.in_namespace::<ConfigMap>("a");
    let which = ListOptions::with_labels("app=web".parse().unwrap());
    let delete = async || api.delete_collection(&Default::default(), &which).await;
    delete().await.unwrap();
    delete().await.unwrap();
    assert!(delete().await.unwrap_err().status().is_some());
    assert!(delete().await.unwrap_err().is_forbidden());
    let line = script.lines()[0].clone();
    assert_eq!(line, "DELETE /api/v1/namespaces/a/configmaps?labelSelector=app%3Dweb");
}

fn pod_list() -> String {
    value!({"kind": "PodList", "apiVersion": "v1",
        "items": [
            {"metadata": {"name": "p1", "namespace": "a", "managedFields": [{"manager": "x"}]}},
            {"metadata": {"name": "é🦀", "namespace": "b"}},
        ],
        "metadata": {"resourceVersion": "70", "continue": "t", "remainingItemCount": 5}})
    .to_string()
}

#[tokio::test]
async fn a_list_is_decoded_wherever_its_chunks_are_cut() {
    let body = pod_list();
    for cut in 0..body.len() {
        let chunks =
            [&body.as_bytes()[..cut], &body.as_bytes()[cut..]].map(bytes::Bytes::copy_from_slice);
        let (_, client) = Script::new([stream(chunks, Then::End)]);
        let pods = client.everywhere::<Pod>().list(&Default::default()).await.unwrap();
        assert_eq!(pods.items.iter().map(Object::name).collect::<Vec<_>>(), ["p1", "é🦀"]);
        assert_eq!((pods.resource_version(), pods.continue_token()), ("70", Some("t")));
        assert_eq!(pods.metadata.remaining_item_count, Some(5));
    }
}

#[tokio::test]
async fn a_cut_list_is_never_a_short_list() {
    let body = pod_list();
    for cut in 0..body.len() {
        for then in [Then::End, Then::Break] {
            let chunk = bytes::Bytes::copy_from_slice(&body.as_bytes()[..cut]);
            let (_, client) = Script::new([stream([chunk], then)]);
            let error = client.everywhere::<Pod>().list(&Default::default()).await.unwrap_err();
            assert!(error.is_transport(), "{cut}: {error}");
        }
    }
}

#[tokio::test]
async fn an_item_that_does_not_fit_is_named() {
    let list = value!({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": [
        {"metadata": {"name": "good", "namespace": "a"}},
        {"metadata": {"name": "bad", "namespace": "a"}, "spec": {"containers": [{"name": 7}]}}]});
    let (_, client) = Script::new([json(200, list)]);
    let error = client.everywhere::<Pod>().list(&Default::default()).await.unwrap_err();
    assert!(error.is_decode(), "{error}");
    let text = error.to_string();
    assert!(text.contains("a/bad") && text.contains("spec.containers[0].name"), "{text}");
}

#[tokio::test]
async fn items_of_a_dynamic_list_say_what_they_are() {
    let list = value!({"kind": "WidgetList", "apiVersion": "lab.test/v1", "metadata": {},
        "items": [{"metadata": {"name": "w"}}]});
    let (script, client) = Script::new([json(200, list)]);
    let list = widgets(&client).list(&Default::default()).await.unwrap();
    assert_eq!(list.items[0].types.gvk().unwrap().to_string(), "lab.test/v1, Kind=Widget");
    assert_eq!(script.only().line(), "GET /apis/lab.test/v1/namespaces/a/widgets");
}

#[tokio::test]
async fn a_raw_list_ends_with_what_it_says_of_itself() {
    let (script, client) = Script::new([text(200, "application/json", &pod_list())]);
    let options =
        ListOptions { limit: Some(2), timeout: Some(Duration::from_secs(3)), ..Default::default() };
    let list = client.everywhere::<Pod>().list_raw(&options).await.unwrap();
    let mut list = list.without_managed_fields();
    let first = list.next().await.unwrap().unwrap();
    assert_eq!(first.key().to_string(), "a/p1");
    assert_eq!(first.field("metadata.managedFields").unwrap(), None);
    assert_eq!(list.next().await.unwrap().unwrap().namespace(), Some("b"));
    assert!(list.next().await.is_none());
    let end = list.end().unwrap();
    assert_eq!((end.kind.as_str(), end.resource_version.as_str()), ("PodList", "70"));
    assert_eq!(script.only().query(), "limit=2&timeoutSeconds=3&timeout=3s");
}

#[tokio::test]
async fn an_item_that_cannot_be_read_does_not_end_a_raw_list() {
    let list = r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[
        {"metadata":{"name":"a"}},
        {"metadata":{"name":"bad","labels":["no","map"]}},
        {"metadata":{"name":"b"}}]}"#;
    let (_, client) = Script::new([text(200, "application/json", list)]);
    let mut list = client.everywhere::<Pod>().list_raw(&Default::default()).await.unwrap();
    assert_eq!(list.next().await.unwrap().unwrap().name(), "a");
    let error = list.next().await.unwrap().unwrap_err();
    assert!(error.is_decode() && error.to_string().contains("bad"), "{error}");
    assert_eq!(list.next().await.unwrap().unwrap().name(), "b");
    assert!(list.next().await.is_none());
    assert_eq!(list.end().unwrap().resource_version, "7");
}

#[tokio::test]
async fn a_list_that_was_not_read_has_no_end() {
    let (_, client) = Script::new([text(200, "application/json", &pod_list())]);
    let mut list = client.everywhere::<Pod>().list_raw(&Default::default()).await.unwrap();
    list.next().await.unwrap().unwrap();
    assert!(list.end().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_list_that_stops_in_the_middle_times_out_but_a_slow_reader_does_not() {
    let (_, client) =
        Script::new([stream([r#"{"items":[{"metadata":{"name":"a"}},"#], Then::Hang)]);
    let mut list = client.everywhere::<Pod>().list_raw(&Default::default()).await.unwrap();
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert!(list.next().await.unwrap().is_ok());
    let error = list.next().await.unwrap().unwrap_err();
    assert!(error.is_timeout(), "{error}");
    assert!(list.next().await.is_none());
}

fn event(kind: &str, name: &str, version: &str) -> String {
    value!({"type": kind, "object": {"kind": "Pod", "apiVersion": "v1", "metadata":
        {"name": name, "namespace": "a", "resourceVersion": version, "annotations": {"名": "é🦀"}}}})
    .to_string()
}

#[tokio::test]
async fn a_watch_is_the_same_wherever_its_chunks_are_cut() {
    let body = format!("{}\r\n\n{}", event("ADDED", "p", "11"), event("DELETED", "p", "12"));
    for cut in 0..body.len() {
        let chunks =
            [&body.as_bytes()[..cut], &body.as_bytes()[cut..]].map(bytes::Bytes::copy_from_slice);
        let (_, client) = Script::new([stream(chunks, Then::End)]);
        let mut watch = client.everywhere::<Pod>().watch(&Default::default()).await.unwrap();
        let Some(Ok(WatchEvent::Added(pod))) = watch.next().await else { panic!("cut at {cut}") };
        assert_eq!(pod.annotations()["名"], "é🦀");
        let Some(Ok(WatchEvent::Deleted(pod))) = watch.next().await else { panic!("cut at {cut}") };
        assert_eq!(pod.resource_version(), "12");
        assert!(watch.next().await.is_none());
    }
}

#[tokio::test]
async fn a_watch_ends_quietly_also_within_an_event() {
    let body = event("ADDED", "p", "11") + &event("MODIFIED", "p", "12")[..40];
    let (_, client) = Script::new([stream([body], Then::End)]);
    let mut watch = client.everywhere::<Pod>().watch_raw(&Default::default()).await.unwrap();
    assert!(matches!(watch.next().await, Some(Ok(RawWatchEvent::Added(_)))));
    assert!(watch.next().await.is_none());
    assert!(watch.next().await.is_none());
}

#[tokio::test]
async fn a_watch_whose_connection_breaks_says_so_once() {
    let (_, client) = Script::new([stream([event("ADDED", "p", "11")], Then::Break)]);
    let mut watch = client.everywhere::<Pod>().watch(&Default::default()).await.unwrap();
    assert!(watch.next().await.unwrap().is_ok());
    assert!(watch.next().await.unwrap().unwrap_err().is_transport());
    assert!(watch.next().await.is_none());
}

#[tokio::test]
async fn bookmarks_and_errors_are_delivered() {
    let bookmark = value!({"type": "BOOKMARK", "object": {"kind": "Pod", "apiVersion": "v1",
        "metadata": {"resourceVersion": "500", "annotations": {"k8s.io/initial-events-end": "true"}}}});
    let expired = value!({"type": "ERROR", "object": {"kind": "Status", "apiVersion": "v1",
        "status": "Failure", "reason": "Expired", "code": 410}});
    let (script, client) = Script::new([stream([format!("{bookmark}\n{expired}\n")], Then::End)]);
    let options =
        WatchOptions { send_initial_events: Some(true), ..WatchOptions::from_version("10") };
    let mut watch = client.in_namespace::<Pod>("a").watch(&options).await.unwrap();
    let Some(Ok(WatchEvent::Bookmark { resource_version, initial_events_end })) =
        watch.next().await
    else {
        panic!("no bookmark")
    };
    assert_eq!((resource_version.as_str(), initial_events_end), ("500", true));
    let Some(Ok(WatchEvent::Error(status))) = watch.next().await else { panic!("no error") };
    assert!(status.is_expired());
    assert!(watch.next().await.is_none());
    assert_eq!(
        script.only().line(),
        "GET /api/v1/namespaces/a/pods?watch=true&resourceVersion=10&allowWatchBookmarks=true&sendInitialEvents=true"
    );
}

#[tokio::test]
async fn an_event_that_does_not_fit_does_not_end_the_watch() {
    let bad = value!({"type": "ADDED", "object": {"metadata": {"name": "bad", "namespace": "a"}, "spec": 7}});
    let body = format!("{bad}\n{}\n", event("ADDED", "good", "12"));
    let (_, client) = Script::new([stream([body], Then::End)]);
    let mut watch = client.everywhere::<Pod>().watch(&Default::default()).await.unwrap();
    let error = watch.next().await.unwrap().unwrap_err();
    assert!(error.is_decode() && error.to_string().contains("a/bad"), "{error}");
    assert!(matches!(watch.next().await, Some(Ok(WatchEvent::Added(_)))));
}

#[tokio::test(start_paused = true)]
async fn a_watch_needs_code_200_and_has_no_deadline() {
    let (_, client) = Script::new([text(204, "", ""), stream([""], Then::Hang)]);
    let pods = client.everywhere::<Pod>();
    let error = pods.watch(&Default::default()).await.unwrap_err();
    assert!(error.is_decode() && error.to_string().contains("200"), "{error}");
    let mut watch = pods.watch(&Default::default()).await.unwrap();
    assert!(tokio::time::timeout(Duration::from_secs(86_400), watch.next()).await.is_err());
}

#[tokio::test]
async fn an_object_of_another_kind_is_an_error_that_names_it() {
    let node = value!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}});
    let status =
        value!({"kind": "Status", "apiVersion": "v1", "status": "Success", "message": "done"});
    let (_, client) = Script::new([json(200, node), json(200, status)]);
    let pods = client.in_namespace::<Pod>("a");
    assert!(pods.get("n", &Default::default()).await.unwrap_err().is_decode());
    let error = pods.get("n", &Default::default()).await.unwrap_err();
    assert!(error.is_decode() && error.to_string().contains("Status"), "{error}");
}

#[tokio::test]
async fn scale_and_other_subresources() {
    let scale = || {
        json(
            200,
            value!({"kind": "Scale", "apiVersion": "autoscaling/v1",
        "metadata": {"name": "web"}, "spec": {"replicas": 3}}),
        )
    };
    let done = json(201, value!({"kind": "Status", "apiVersion": "v1", "status": "Success"}));
    let (script, client) = Script::new([scale(), scale(), scale(), done]);
    let sets = client.in_namespace::<ReplicaSet>("a");
    let read = sets.get_scale("web", &Default::default()).await.unwrap();
    sets.replace_scale("web", &read, &Default::default()).await.unwrap();
    let patch = Patch::merge(value!({"spec": {"replicas": 3}})).unwrap();
    let patched: Scale = sets.patch_scale("web", &patch, &Default::default()).await.unwrap();
    assert_eq!(patched.spec.unwrap().replicas, Some(3));
    let pods = client.in_namespace::<Pod>("a");
    let binding = Binding::default();
    let status: Status =
        pods.create_subresource("web-1", "binding", &binding, &Default::default()).await.unwrap();
    assert_eq!(status.status.as_deref(), Some("Success"));
    let base = "/apis/apps/v1/namespaces/a/replicasets/web/scale";
    assert_eq!(
        script.lines(),
        [
            format!("GET {base}"),
            format!("PUT {base}"),
            format!("PATCH {base}"),
            "POST /api/v1/namespaces/a/pods/web-1/binding".to_owned(),
        ]
    );
}
