//! Holds 250 watches on one client, one of them never read, and a list that is held unread, and shows that calls go on
//! beside them: 1,000 at once, then 20 a second, and the update of a Lease each second.
//!
//! ```text
//! KUBECONFIG=... cargo run --release --example streams -- [--seconds 60] [--watches 250]
//! ```
//!
//! It exits with 1 if any call took longer than a second, a watch missed an event, or more than six connections were
//! open.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use k8s_openapi::ByteString;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret, Service};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_client::{Api, Client, RawWatch};
use kubewright_config::Config;
use kubewright_meta::{DeleteOptions, ListOptions, Object, Patch, WatchOptions};
use kubewright_wire::RawWatchEvent;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;

type AnyError = Box<dyn std::error::Error + Send + Sync>;

const NAMESPACE: &str = "default";
const LABEL: &str = "example.kubewright/streams";
/// Together far more than a stream may send unread.
const BALLAST: usize = 60;
const BALLAST_BYTES: usize = 200_000;
const MOST_CONNECTIONS: usize = 6;
const SLOW: Duration = Duration::from_secs(1);

struct Arguments {
    seconds: u64,
    watches: usize,
}

#[tokio::main]
async fn main() -> ExitCode {
    let filter = tracing_subscriber::EnvFilter::from_default_env();
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let outcome = match arguments() {
        Ok(arguments) => run(&arguments).await,
        Err(error) => Err(error),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("streams: {error}");
            ExitCode::FAILURE
        }
    }
}

fn arguments() -> Result<Arguments, AnyError> {
    let mut found = Arguments { seconds: 60, watches: 250 };
    let mut given = std::env::args().skip(1);
    while let Some(name) = given.next() {
        let value = given.next().ok_or_else(|| format!("{name} needs a number"))?;
        match name.as_str() {
            "--seconds" => found.seconds = value.parse()?,
            "--watches" => found.watches = value.parse()?,
            _ => return Err(format!("{name} is not known; --seconds and --watches are").into()),
        }
    }
    if found.watches < 5 {
        return Err("at least five watches are needed: one of each kind, and one unread".into());
    }
    Ok(found)
}

async fn run(arguments: &Arguments) -> Result<bool, AnyError> {
    let client = Client::new(Config::infer()?)?;
    println!("server {}", client.server_version().await?.git_version);
    prepare(&client).await?;
    let calls = Arc::new(Calls::default());

    // Without a version a watch begins with what exists: here more than may lie unread.
    let unread = client.everywhere::<ConfigMap>().watch_raw(&WatchOptions::default()).await?;
    let (first_held, opened) = tokio::sync::oneshot::channel();
    let held = tokio::spawn(hold_lists(
        client.clone(),
        first_held,
        Duration::from_secs(arguments.seconds),
    ));
    opened.await.map_err(|_| "the held list could not be opened")?;
    let watchers = Watchers::open(&client, arguments.watches - 1).await?;
    let most = watch_connections(&client);
    println!(
        "{} watches and a held list on {} connections",
        arguments.watches,
        client.connections().connections
    );

    let started = Instant::now();
    let end = started + Duration::from_secs(arguments.seconds);
    let lease = tokio::spawn(update_lease(client.clone(), calls.clone(), end));
    let burst = (0..1000).map(|_| tokio::spawn(get(client.clone(), calls.clone())));
    for outcome in join_all(burst).await {
        outcome?;
    }
    println!("1,000 calls at once took {:?}, the slowest {:?}", started.elapsed(), calls.slowest());
    let mut pace = tokio::time::interval(Duration::from_millis(50));
    let mut running = Vec::new();
    while Instant::now() < end {
        pace.tick().await;
        running.push(tokio::spawn(get(client.clone(), calls.clone())));
    }
    for outcome in join_all(running).await {
        outcome?;
    }
    let updates = lease.await?;
    let missing = watchers.finish(&client, updates).await?;
    let most = *most.borrow();

    let items = held.await??;
    drop(unread);
    clean(&client).await?;

    let Totals { count, failed, slow, slowest } = calls.totals();
    println!("calls {count}, failed {failed}, over 1 s {slow}, slowest {slowest:?}");
    println!("lease updates {updates}, watches that missed an event {missing}");
    println!("connections {most} at most; {items} objects in the held list");
    println!("verbs: {}; repeated {}", client.calls(), client.calls().retries());
    let good =
        failed == 0 && slow == 0 && missing == 0 && most <= MOST_CONNECTIONS && items >= BALLAST;
    println!("{}", if good { "good" } else { "NOT good" });
    Ok(good)
}

/// How long each call took.
#[derive(Default)]
struct Calls(Mutex<Totals>);

#[derive(Clone, Default)]
struct Totals {
    count: usize,
    failed: usize,
    slow: usize,
    slowest: Duration,
}

impl Calls {
    async fn timed<T>(
        &self,
        call: impl Future<Output = Result<T, kubewright_client::Error>>,
    ) -> Option<T> {
        let started = Instant::now();
        let outcome = call.await;
        let took = started.elapsed();
        let mut totals = self.0.lock();
        totals.count += 1;
        totals.slow += usize::from(took > SLOW);
        totals.slowest = totals.slowest.max(took);
        totals.failed += usize::from(outcome.is_err());
        outcome.inspect_err(|error| eprintln!("{error}")).ok()
    }

    fn totals(&self) -> Totals {
        self.0.lock().clone()
    }

    fn slowest(&self) -> Duration {
        self.0.lock().slowest
    }
}

async fn get(client: Client, calls: Arc<Calls>) {
    let leases = client.in_namespace::<Lease>(NAMESPACE);
    calls.timed(leases.get("streams", &Default::default())).await;
}

/// Updates the Lease each second; how often it did.
async fn update_lease(client: Client, calls: Arc<Calls>, end: Instant) -> usize {
    let leases = client.in_namespace::<Lease>(NAMESPACE);
    let mut pace = tokio::time::interval(Duration::from_secs(1));
    let mut updates = 0;
    while Instant::now() < end {
        pace.tick().await;
        let Some(mut lease) = calls.timed(leases.get("streams", &Default::default())).await else {
            continue;
        };
        let spec = lease.spec.get_or_insert_default();
        spec.lease_transitions = Some(spec.lease_transitions.unwrap_or_default() + 1);
        if calls.timed(leases.replace(&lease, &Default::default())).await.is_some() {
            updates += 1;
        }
    }
    updates
}

/// Keeps a list that is unread but for its first object; how many objects it has.
///
/// Servers end a list after their request timeout, usually a minute. So it is read after 40 s at most, must then be
/// whole, and is followed by another.
async fn hold_lists(
    client: Client,
    opened: tokio::sync::oneshot::Sender<()>,
    time: Duration,
) -> Result<usize, AnyError> {
    let end = Instant::now() + time;
    let mut opened = Some(opened);
    loop {
        let mut list = client.everywhere::<ConfigMap>().list_raw(&ListOptions::default()).await?;
        list.next().await.ok_or("the held list is empty")??;
        let _ = opened.take().map(|opened| opened.send(()));
        tokio::time::sleep_until(end.min(Instant::now() + Duration::from_secs(40))).await;
        let mut items = 1;
        while let Some(item) = list.next().await {
            item?;
            items += 1;
        }
        list.end()?;
        if Instant::now() >= end {
            return Ok(items);
        }
    }
}

/// The highest number of open connections from now on.
fn watch_connections(client: &Client) -> watch::Receiver<usize> {
    let (sender, receiver) = watch::channel(0);
    let client = client.clone();
    tokio::spawn(async move {
        let mut pace = tokio::time::interval(Duration::from_millis(20));
        while !sender.is_closed() {
            let open = client.connections().connections;
            sender.send_if_modified(|most| open > std::mem::replace(most, open.max(*most)));
            pace.tick().await;
        }
    });
    receiver
}

/// Tasks that read watches, and count the changes of one object each.
struct Watchers(Vec<(&'static str, watch::Receiver<usize>)>);

impl Watchers {
    async fn open(client: &Client, count: usize) -> Result<Self, AnyError> {
        let opened = join_all((0..count).map(|index| Self::one(client, index))).await;
        Ok(Self(opened.into_iter().collect::<Result<_, _>>()?))
    }

    async fn one(
        client: &Client,
        index: usize,
    ) -> Result<(&'static str, watch::Receiver<usize>), AnyError> {
        Ok(match index % 4 {
            0 => ("lease", follow(client.in_namespace::<Lease>(NAMESPACE)).await?),
            1 => ("marker", follow(client.in_namespace::<Service>(NAMESPACE)).await?),
            2 => ("marker", follow(client.in_namespace::<Secret>(NAMESPACE)).await?),
            _ => ("none", follow(client.in_namespace::<Pod>(NAMESPACE)).await?),
        })
    }

    /// Changes the markers, and waits until every watch has seen what it should. How many have not in time.
    async fn finish(self, client: &Client, updates: usize) -> Result<usize, AnyError> {
        let patch = Patch::merge(serde_json::json!({"metadata": {"labels": {"touched": "yes"}}}))?;
        let secrets = client.in_namespace::<Secret>(NAMESPACE);
        secrets.patch("streams", &patch, &Default::default()).await?;
        let services = client.in_namespace::<Service>(NAMESPACE);
        services.patch("streams", &patch, &Default::default()).await?;
        let deadline = Instant::now() + Duration::from_secs(10);
        let mut missing = 0;
        for (kind, mut seen) in self.0 {
            let wanted = match kind {
                "lease" => updates,
                "marker" => 1,
                _ => 0,
            };
            let complete = seen.wait_for(|seen| *seen >= wanted);
            if !matches!(tokio::time::timeout_at(deadline, complete).await, Ok(Ok(_))) {
                missing += 1;
            }
        }
        Ok(missing)
    }
}

async fn follow<K: Object>(api: Api<K>) -> Result<watch::Receiver<usize>, AnyError> {
    let version = api.list(&ListOptions { limit: Some(1), ..ListOptions::default() }).await?;
    let options = WatchOptions::from_version(version.resource_version());
    let watch = api.watch_raw(&options).await?;
    let (sender, receiver) = watch::channel(0);
    tokio::spawn(read(watch, sender));
    Ok(receiver)
}

async fn read(mut watch: RawWatch, seen: watch::Sender<usize>) {
    while let Some(event) = watch.next().await {
        match event {
            Ok(RawWatchEvent::Modified(object)) if object.name() == "streams" => {
                seen.send_modify(|seen| *seen += 1);
            }
            Ok(_) => {}
            Err(error) => return eprintln!("{error}"),
        }
    }
}

fn labelled(name: String) -> ObjectMeta {
    let labels = [(LABEL.to_owned(), "yes".to_owned())];
    ObjectMeta { name: Some(name), labels: Some(labels.into()), ..ObjectMeta::default() }
}

async fn prepare(client: &Client) -> Result<(), AnyError> {
    clean(client).await?;
    let config_maps = client.in_namespace::<ConfigMap>(NAMESPACE);
    for index in 0..BALLAST {
        let ballast = ByteString(vec![index as u8; BALLAST_BYTES]);
        let object = ConfigMap {
            metadata: labelled(format!("streams-{index}")),
            binary_data: Some([("ballast".to_owned(), ballast)].into()),
            ..ConfigMap::default()
        };
        config_maps.create(&object, &Default::default()).await?;
    }
    let metadata = || labelled("streams".to_owned());
    let spec = Some(LeaseSpec { lease_transitions: Some(0), ..LeaseSpec::default() });
    let leases = client.in_namespace::<Lease>(NAMESPACE);
    leases.create(&Lease { metadata: metadata(), spec }, &Default::default()).await?;
    let secrets = client.in_namespace::<Secret>(NAMESPACE);
    let secret = Secret { metadata: metadata(), ..Secret::default() };
    secrets.create(&secret, &Default::default()).await?;
    let spec = serde_json::from_value(
        serde_json::json!({"type": "ExternalName", "externalName": "a.test"}),
    )?;
    let service = Service { metadata: metadata(), spec: Some(spec), ..Service::default() };
    client.in_namespace::<Service>(NAMESPACE).create(&service, &Default::default()).await?;
    Ok(())
}

/// Removes what an earlier run has left.
async fn clean(client: &Client) -> Result<(), AnyError> {
    let ours = ListOptions::with_labels(LABEL.parse()?);
    let options = DeleteOptions::default();
    client.in_namespace::<ConfigMap>(NAMESPACE).delete_collection(&options, &ours).await?;
    client.in_namespace::<Lease>(NAMESPACE).delete_collection(&options, &ours).await?;
    client.in_namespace::<Secret>(NAMESPACE).delete_collection(&options, &ours).await?;
    client.in_namespace::<Service>(NAMESPACE).delete_collection(&options, &ours).await?;
    Ok(())
}
