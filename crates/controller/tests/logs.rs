//! What a user reads in the log when something is not as it should be.

use std::fmt::{self, Write};
use std::future::{Future, Ready, pending, ready};
use std::io;
use std::sync::Mutex;
use std::sync::Once;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response};
use k8s_openapi::api::core::v1::{ConfigMap, ObjectReference, Secret};
use kubewright_cache::SharedInformerFactory;
use kubewright_client::{Body, Client};
use kubewright_controller::{Action, BoxError, Controller, EventRecorder};
use kubewright_devserver::DevServer;
use kubewright_meta::{CreateOptions, Object, ObjectKey, PatchOptions, ReplaceOptions};
use tokio::sync::oneshot;
use tokio::time::sleep;
use tower_service::Service;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Level, Metadata, Subscriber};

/// Lines of all tests of this program; each looks for those with its own names.
static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Lines;

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("kubewright_controller") && *metadata.level() <= Level::DEBUG
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        LINES.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tracing::subscriber::set_global_default(Lines).unwrap());
}

fn lines(with: &str) -> Vec<String> {
    let lines = LINES.lock().unwrap();
    lines.iter().filter(|line| line.contains(with)).cloned().collect()
}

/// Answers every request alike.
#[derive(Clone)]
struct Always<F>(F);

impl<F> Service<Request<Body>> for Always<F>
where
    F: Fn(&Request<Body>) -> io::Result<Response<String>>,
{
    type Response = Response<String>;
    type Error = io::Error;
    type Future = Ready<io::Result<Response<String>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        ready(self.0(&request))
    }
}

fn answered<F>(answer: F) -> Client
where
    F: Fn(&Request<Body>) -> io::Result<Response<String>> + Clone + Send + Sync + 'static,
{
    Client::from_service(Always(answer))
}

async fn nothing(_: ObjectKey) -> Result<Action, BoxError> {
    Ok(Action::done())
}

/// Runs `task` for a while, then lets `shutdown` end.
async fn until_stopped<T>(time: Duration, run: impl FnOnce(oneshot::Receiver<()>) -> T) -> T::Output
where
    T: Future,
{
    let (stop, stopped) = oneshot::channel::<()>();
    let (output, ()) = tokio::join!(run(stopped), async {
        sleep(time).await;
        drop(stop);
    });
    output
}

#[tokio::test(start_paused = true)]
async fn a_controller_that_waits_says_for_whom_and_why() {
    listen();
    let client = answered(|request| {
        if request.uri().path().ends_with("/secrets") {
            let body = r#"{"kind":"Status","status":"Failure","reason":"Unauthorized","code":401}"#;
            return Ok(Response::builder().status(401).body(body.into()).unwrap());
        }
        let refused = io::ErrorKind::ConnectionRefused;
        Err(io::Error::new(refused, "Connection refused"))
    });
    let factory = SharedInformerFactory::new(&client);
    let maps = factory.informer::<ConfigMap>();
    let controller =
        Controller::new("waits", &maps).owns(&maps).owns(&factory.informer::<Secret>());
    factory.start();
    let error = until_stopped(Duration::from_secs(25), |stopped| {
        controller.run(async { drop(stopped.await) }, nothing)
    })
    .await
    .unwrap_err();
    assert!(error.is_not_synced());
    let error = error.to_string();
    let said = lines("controller=\"waits\"");
    assert_eq!(said.len(), 2, "{said:#?}");
    for text in [&said[0], &said[1], &error] {
        assert_eq!(text.matches("configmaps/v1 (").count(), 1, "{text}");
        assert!(text.contains("secrets/v1 ("), "{text}");
        assert!(text.contains("Connection refused"), "{text}");
        assert!(text.contains("Unauthorized"), "{text}");
    }
    assert!(said[0].starts_with("WARN"), "{said:#?}");
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_controller_whose_informer_was_not_started_says_how() {
    listen();
    let factory = SharedInformerFactory::new(&Client::from_service(DevServer::new().service()));
    factory.start();
    let controller = Controller::new("unstarted", &factory.informer::<ConfigMap>());
    let error = until_stopped(Duration::from_secs(11), |stopped| {
        controller.run(async { drop(stopped.await) }, nothing)
    })
    .await
    .unwrap_err();
    let said = lines("controller=\"unstarted\"");
    let how = "configmaps/v1 (not started: call the factory's start()";
    assert!(said.len() == 1 && said[0].contains(how), "{said:#?}");
    assert!(error.to_string().contains(how), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_retry_says_which_it_is_and_when() {
    listen();
    let client = Client::from_service(DevServer::new().service());
    let factory = SharedInformerFactory::new(&client);
    let controller = Controller::new("fails", &factory.informer::<Secret>()).max_retries(2);
    controller.enqueuer().enqueue(ObjectKey::cluster("x"));
    factory.start();
    let reconcile = |_| async { Err::<Action, BoxError>("not yet".into()) };
    let run = controller.run(pending(), reconcile);
    drop(tokio::time::timeout(Duration::from_secs(60), run).await);
    let said = lines("controller=\"fails\"");
    let said: Vec<_> = said.iter().filter(|line| line.contains("key=x")).collect();
    let [first, second, last] = &said[..] else { panic!("{said:#?}") };
    assert!(first.contains("attempt=1 delay=5ms"), "{first}");
    assert!(second.contains("attempt=2 delay=10ms"), "{second}");
    assert!(last.starts_with("ERROR") && last.contains("attempt=3"), "{last}");
    factory.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_conflict_is_no_warning_however_it_is_wrapped() {
    #[derive(Debug)]
    struct Wrapped(kubewright_client::Error);

    impl fmt::Display for Wrapped {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("write the status")
        }
    }

    impl std::error::Error for Wrapped {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }

    listen();
    let client = Client::from_service(DevServer::new().service());
    let maps = client.in_namespace::<ConfigMap>("default");
    let mut map = ConfigMap::default();
    map.metadata.name = Some("m".into());
    let old = maps.create(&map, &CreateOptions::default()).await.unwrap();
    let patch = kubewright_meta::Patch::merge(serde_json::json!({"data": {"a": "b"}})).unwrap();
    maps.patch("m", &patch, &PatchOptions::default()).await.unwrap();
    let factory = SharedInformerFactory::new(&client);
    let controller = Controller::new("conflicts", &factory.informer::<ConfigMap>()).max_retries(1);
    factory.start();
    let reconcile = move |key: ObjectKey| {
        let (maps, old) = (maps.clone(), old.clone());
        async move {
            if key.name() == old.name() {
                let replaced = maps.replace(&old, &ReplaceOptions::default()).await;
                replaced.map_err(Wrapped)?;
            }
            Ok::<_, BoxError>(Action::done())
        }
    };
    let run = controller.run(pending(), reconcile);
    drop(tokio::time::timeout(Duration::from_secs(60), run).await);
    let said = lines("key=default/m");
    assert!(said[0].starts_with("DEBUG"), "{said:#?}");
    assert!(said[0].contains("met a conflict"), "{said:#?}");
    assert!(said[1].starts_with("ERROR"), "conflicts count: {said:#?}");
    factory.shutdown().await;
}

fn about(namespace: &str, name: &str) -> ObjectReference {
    ObjectReference {
        api_version: Some("v1".into()),
        kind: Some("ConfigMap".into()),
        namespace: Some(namespace.into()),
        name: Some(name.into()),
        ..ObjectReference::default()
    }
}

#[tokio::test(start_paused = true)]
async fn events_in_a_namespace_that_is_gone_are_no_warning() {
    listen();
    let client = Client::from_service(DevServer::new().service());
    let recorder = EventRecorder::new(&client, "late");
    recorder.normal(&about("gone", "last"), "Done", "Doing", "bye");
    recorder.flush().await;
    let stats = recorder.stats();
    assert_eq!((stats.dropped, stats.failed, stats.sent), (1, 0, 0));
    let said = lines("regarding=\"last\"");
    assert_eq!(said.len(), 1, "{said:#?}");
    assert!(said[0].starts_with("DEBUG") && said[0].contains("NamespaceGone"), "{said:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_server_without_events_is_a_warning_once() {
    listen();
    let client = answered(|_| {
        let response = Response::builder().status(404);
        Ok(response.body("404 page not found\n".into()).unwrap())
    });
    let recorder = EventRecorder::new(&client, "old");
    for name in ["one", "two", "three"] {
        recorder.normal(&about("shop", name), "Done", "Doing", "");
    }
    recorder.flush().await;
    assert_eq!(recorder.stats().failed, 3);
    let said = lines("does not serve events.k8s.io/v1");
    assert!(said.len() == 1 && said[0].starts_with("WARN"), "{said:#?}");
}
