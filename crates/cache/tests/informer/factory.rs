//! Factories: which informers are shared, and how they begin and end together.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use kubewright_cache::{Event, InformerOptions, Phase, SharedInformerFactory};
use kubewright_meta::{GroupVersionKind, Kind, Scope, Selector, Unstructured};

use crate::Bench;
use crate::script::{Server, list, object};

#[tokio::test(start_paused = true)]
async fn equal_choices_share_an_informer_and_others_do_not() {
    let (_server, client) = Server::new();
    let factory = SharedInformerFactory::new(&client);
    let all = factory.informer::<ConfigMap>();
    all.add_index("app", |o| o.label("app").map(String::from)).unwrap();
    let again = factory.informer_of(Kind::<ConfigMap>::of(), InformerOptions::default()).unwrap();
    assert!(again.add_index("app", |_| None::<String>).unwrap_err().is_index_exists());
    let one =
        factory.informer_of(Kind::<ConfigMap>::of(), InformerOptions::in_namespace("n")).unwrap();
    one.add_index("app", |_| None::<String>).unwrap();
    let names: Vec<_> = factory.status().into_iter().map(|status| status.name).collect();
    assert_eq!(names, ["configmaps/v1", "configmaps/v1 in n"]);
}

#[tokio::test(start_paused = true)]
async fn a_choice_is_asked_of_the_server() {
    let (mut server, client) = Server::new();
    let factory = SharedInformerFactory::new(&client);
    let options = InformerOptions {
        labels: "app=web".parse().unwrap(),
        fields: "metadata.name=x".parse().unwrap(),
        ..InformerOptions::in_namespace("shop")
    };
    let informer = factory.informer_of(Kind::<ConfigMap>::of(), options).unwrap();
    factory.start();
    let list = server.list().await;
    assert_eq!(list.path, "/api/v1/namespaces/shop/configmaps");
    assert_eq!(list.param("labelSelector").as_deref(), Some("app%3Dweb"));
    list.items("10", &[]);
    let watch = server.watch().await;
    assert_eq!(watch.param("fieldSelector").as_deref(), Some("metadata.name%3Dx"));
    assert_eq!(watch.path, "/api/v1/namespaces/shop/configmaps");
    assert_eq!(
        informer.name(),
        "configmaps/v1 in shop with labels app=web with fields metadata.name=x"
    );
}

#[tokio::test(start_paused = true)]
async fn a_namespace_for_a_cluster_wide_kind_is_an_error() {
    let (_server, client) = Server::new();
    let factory = SharedInformerFactory::new(&client);
    let options = InformerOptions::in_namespace("n");
    let error = factory.informer_of(Kind::<Namespace>::of(), options).unwrap_err();
    assert!(error.is_scope_mismatch());
    assert!(error.to_string().contains("namespaces/v1"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn start_begins_only_what_was_not_begun() {
    let (mut server, client) = Server::new();
    let factory = SharedInformerFactory::new(&client);
    let _first = factory.informer::<ConfigMap>();
    factory.start();
    factory.start();
    assert_eq!(server.list().await.path, "/api/v1/configmaps");
    let _second = factory.informer::<Secret>();
    factory.start();
    // The first list was refused when it was dropped: it comes again, later.
    assert_eq!(server.list().await.path, "/api/v1/secrets");
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_ends_says_who_is_missing_and_why() {
    let mut bench = Bench::start();
    let _secrets = bench.factory.informer::<Secret>();
    bench.factory.start();
    let answers = async {
        loop {
            let call = bench.server.call().await;
            match call.path.as_str() {
                "/api/v1/secrets" => call.status(403, "Forbidden"),
                _ if call.param("watch").is_none() => call.items("10", &[]),
                _ => std::mem::forget(call.stream()),
            }
        }
    };
    let wait = bench.factory.wait_for_sync().timeout(Duration::from_secs(30)).into_future();
    let error = tokio::select! {
        result = wait => result.unwrap_err(),
        () = answers => unreachable!(),
    };
    assert!(error.is_not_synced());
    let [missing] = error.missing() else { panic!("{error}") };
    assert!(
        missing.starts_with("secrets/v1 (backing off; last error: GET /api/v1/secrets"),
        "{missing}"
    );
    assert!(missing.contains("Forbidden"), "{missing}");
    assert!(error.to_string().contains("30s"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_an_informer_that_nobody_starts_is_an_error() {
    let mut bench = Bench::start();
    let _stream = bench.server.listed("10", &[]).await;
    bench.factory.wait_for_sync().await.unwrap();
    let _late = bench.factory.informer::<Secret>();
    let error = bench.factory.wait_for_sync().await.unwrap_err();
    assert!(error.is_not_synced());
    let [missing] = error.missing() else { panic!("{error}") };
    assert!(missing.starts_with("secrets/v1 (not started: call"), "{missing}");
    let wait = bench.factory.wait_for_sync().timeout(Duration::ZERO);
    assert!(wait.await.unwrap_err().to_string().contains("not started"));
}

#[tokio::test(start_paused = true)]
async fn a_wait_covers_an_informer_that_another_is_about_to_start() {
    let (mut server, client) = Server::new();
    let factory = SharedInformerFactory::new(&client);
    let _informer = factory.informer::<ConfigMap>();
    let wait = tokio::spawn(factory.wait_for_sync().into_future());
    tokio::time::sleep(Duration::from_secs(9)).await;
    factory.start();
    let list = server.list().await;
    tokio::time::sleep(Duration::from_secs(15)).await;
    assert!(!wait.is_finished());
    list.items("10", &[]);
    wait.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_is_asked_for_after_a_shutdown_never_syncs() {
    let mut bench = Bench::start();
    let _stream = bench.server.listed("10", &[]).await;
    bench.factory.wait_for_sync().await.unwrap();
    bench.factory.shutdown().await;
    bench.factory.wait_for_sync().await.unwrap();
    let _late = bench.factory.informer::<Secret>();
    bench.factory.start();
    let error = bench.factory.wait_for_sync().await.unwrap_err();
    assert!(error.is_not_synced());
    assert!(error.missing()[0].starts_with("secrets/v1 (never started"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn shutdown_ends_every_task_and_handler() {
    let mut bench = Bench::start();
    let held = Arc::new(());
    let inside = held.clone();
    let handler = move |_: Event<ConfigMap>| drop(inside.clone());
    let registration = bench.informer.add_handler(handler).unwrap();
    let stream = bench.server.listed("10", &[object("a", "5")]).await;
    bench.factory.wait_for_sync().await.unwrap();
    bench.factory.shutdown().await;
    stream.closed().await;
    assert_eq!(Arc::strong_count(&held), 1, "the handler's code is dropped");
    assert!(bench.informer.is_stopped());
    assert_eq!(bench.informer.status().reflector.phase, Phase::Stopped);
    assert!(bench.informer.add_handler(|_| {}).unwrap_err().is_stopped());
    registration.remove().await;
    bench.factory.start();
    assert_eq!(bench.stored(), ["a@5"], "what was read can still be read");
    bench.factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn waits_end_when_the_factory_is_shut_down() {
    let bench = Bench::start();
    let registration = bench.informer.add_handler(|_| {}).unwrap();
    let wait = tokio::spawn(bench.factory.wait_for_sync().into_future());
    let informer = bench.informer.clone();
    let synced = tokio::spawn(async move { informer.synced().await });
    tokio::task::yield_now().await;
    bench.factory.shutdown().await;
    assert!(wait.await.unwrap().unwrap_err().is_not_synced());
    assert!(synced.await.unwrap().unwrap_err().is_stopped());
    assert!(registration.synced().await.unwrap_err().is_stopped());
}

#[tokio::test(start_paused = true)]
async fn an_informer_that_nobody_knows_stops() {
    let mut bench = Bench::start();
    let stream = bench.server.listed("10", &[]).await;
    let lister = bench.informer.lister();
    let Bench { factory, informer, .. } = bench;
    drop((factory, informer));
    stream.event("ADDED", &object("a", "11"));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(lister.len(), 1, "a lister keeps it running");
    drop(lister);
    stream.closed().await;
}

#[tokio::test(start_paused = true)]
async fn listers_select_by_label_without_decoding_and_share_what_is_decoded() {
    let mut bench = Bench::start();
    let _stream = bench.server.listed("10", &[object("a", "5"), object("b", "7")]).await;
    bench.factory.wait_for_sync().await.unwrap();
    let lister = bench.informer.lister();
    let selected = lister.list(&"app in (b, c)".parse::<Selector>().unwrap());
    assert_eq!(selected.iter().map(|o| o.name()).collect::<Vec<_>>(), ["b"]);
    assert_eq!(lister.in_namespace("other").list(&Selector::everything()).len(), 0);
    assert_eq!(bench.informer.status().decodes, 0);
    let first = selected[0].get().unwrap();
    let second = lister.get(selected[0].key()).unwrap().get().unwrap();
    assert!(first.ptr_eq(&second));
    assert_eq!(bench.informer.status().decodes, 1);
    assert_eq!(first.metadata.managed_fields, None, "dropped unless asked for");
}

#[tokio::test(start_paused = true)]
async fn managed_fields_are_kept_when_asked_for() {
    let (mut server, client) = Server::new();
    let factory = SharedInformerFactory::new(&client);
    let options = InformerOptions { keep_managed_fields: true, ..InformerOptions::default() };
    let informer = factory.informer_of(Kind::<ConfigMap>::of(), options).unwrap();
    factory.start();
    let _stream = server.listed("10", &[object("a", "5")]).await;
    factory.wait_for_sync().await.unwrap();
    let object = informer.lister().in_namespace("n").get("a").unwrap();
    assert_eq!(object.get().unwrap().metadata.managed_fields.as_ref().map(Vec::len), Some(1));
}

#[tokio::test(start_paused = true)]
async fn unstructured_objects_get_the_types_that_lists_leave_out() {
    let (mut server, client) = Server::new();
    let factory = SharedInformerFactory::new(&client);
    let gvk = GroupVersionKind::new("", "v1", "ConfigMap");
    let kind = Kind::<Unstructured>::dynamic(gvk.clone(), "configmaps", Scope::Namespaced);
    let informer = factory.informer_of(kind, InformerOptions::default()).unwrap();
    factory.start();
    server.list().await.body(200, list("10", &[object("a", "5")]));
    factory.wait_for_sync().await.unwrap();
    let object = informer.lister().in_namespace("n").get("a").unwrap().get().unwrap();
    assert_eq!(object.types.gvk().unwrap(), gvk);
}

/// Index functions run while a batch is applied. Whoever asks how things are does not wait for them, and holds nothing
/// that they could need.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_index_function_holds_up_no_status_and_may_ask_the_factory() {
    let mut bench = Bench::start();
    let (running, mut runs) = tokio::sync::mpsc::unbounded_channel();
    let (open, gate) = std::sync::mpsc::channel::<()>();
    let gate = parking_lot::Mutex::new(gate);
    let factory = bench.factory.clone();
    let index = move |_: &kubewright_cache::CachedObject<ConfigMap>| {
        running.send(()).unwrap();
        gate.lock().recv().ok();
        Some(factory.lister::<Secret>().len().to_string())
    };
    bench.informer.add_index("secrets", index).unwrap();
    bench.server.list().await.items("10", &[object("a", "5")]);
    runs.recv().await.unwrap();
    assert_eq!(bench.factory.status().len(), 1);
    drop(open);
    // Not the factory's wait: nobody starts the informer of secrets.
    bench.informer.synced().await.unwrap();
    let values = bench.informer.lister().index_values("secrets").unwrap();
    assert_eq!(values, ["0"]);
    bench.factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn the_empty_namespace_is_all() {
    let (_server, client) = Server::new();
    let factory = SharedInformerFactory::new(&client);
    let options = InformerOptions::in_namespace("");
    let kind = Kind::<Namespace>::of();
    factory.informer_of(kind, options.clone()).unwrap();
    let kind = Kind::<ConfigMap>::of();
    factory.informer_of(kind, options).unwrap();
    factory.informer::<ConfigMap>();
    assert_eq!(factory.status().len(), 2);
}
