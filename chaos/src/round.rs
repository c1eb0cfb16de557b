//! One round: a ReplicaSet, a struck create, and the count at the end.

use std::time::Duration;

use k8s_openapi::api::apps::v1::ReplicaSet;
use k8s_openapi::api::core::v1::{Namespace, Pod};
use kubewright::client::Client;
use kubewright::meta::{CreateOptions, DeleteOptions, GetOptions, ListOptions, Object};
use kubewright_examples::replicaset::pod::is_active;
use kubewright_examples::{Controllers, Settings};
use serde_json::json;

use crate::BoxError;
use crate::strike::{Moment, Strike, Striking};

/// How long a round may take from the strike to the right number of pods.
const TIMEOUT: Duration = Duration::from_secs(120);
/// How long the right number must last: a controller that miscounted corrects itself at the next event, and
/// must not be caught between.
const LASTS: Duration = Duration::from_secs(2);

/// Plays one seed; tells what happened.
pub(crate) async fn play(
    client: &Client,
    seed: u64,
    restart: &[String],
) -> Result<String, BoxError> {
    let mut random = fastrand::Rng::with_seed(seed);
    let replicas = random.usize(2..=60);
    let nth = random.usize(1..=replicas);
    let moment = if random.bool() {
        Moment::BeforeTheAnswer
    } else {
        Moment::After(Duration::from_micros(random.u64(0..6_000)))
    };

    let namespace: Namespace =
        serde_json::from_value(json!({"metadata": {"name": format!("chaos-{seed}")}}))?;
    let namespaces = client.cluster::<Namespace>();
    namespaces.create(&namespace, &CreateOptions::default()).await?;
    let strike = Strike::new(moment, nth, restart);
    let struck = client.with_layer(|inner| Striking { inner, strike: strike.clone() });
    let controllers = Controllers::start(&struck, Settings::default());
    let result =
        tokio::time::timeout(TIMEOUT, until_settled(client, namespace.name(), replicas, &strike))
            .await
            .map_err(|_| BoxError::from("not settled in time"));
    let counted = match result {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) | Err(error) => Err(error),
    };
    // Emptied by its own controllers, so that rounds do not see each other.
    namespaces.delete(namespace.name(), &DeleteOptions::default()).await?;
    let gone = until_gone(client, namespace.name()).await;
    controllers.shutdown().await?;
    let what = format!(
        "{replicas} pods asked for, create {nth} struck ({moment:?}), {} creates sent",
        strike.creates()
    );
    match counted.and(gone) {
        Ok(()) => Ok(format!("{what}: exactly {replicas} at the end")),
        Err(error) => Err(format!("{what}: {error}").into()),
    }
}

async fn until_settled(
    client: &Client,
    namespace: &str,
    replicas: usize,
    strike: &Strike,
) -> Result<(), BoxError> {
    let set: ReplicaSet = serde_json::from_value(json!({
        "metadata": {"name": "web"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "registry.example/web:1"}]},
            },
        },
    }))?;
    client.in_namespace::<ReplicaSet>(namespace).create(&set, &CreateOptions::default()).await?;
    strike.over().await?;
    while !is_settled(client, namespace, replicas).await? {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    tokio::time::sleep(LASTS).await;
    match is_settled(client, namespace, replicas).await? {
        true => Ok(()),
        false => Err("the right number of pods did not last".into()),
    }
}

/// The server lists exactly as many pods as asked for, none going, and the set's status says the same.
async fn is_settled(client: &Client, namespace: &str, replicas: usize) -> Result<bool, BoxError> {
    let pods = client.in_namespace::<Pod>(namespace).list(&ListOptions::default()).await?;
    let sets = client.in_namespace::<ReplicaSet>(namespace);
    let status = sets.get("web", &GetOptions::default()).await?.status.unwrap_or_default();
    let counted = usize::try_from(status.replicas).ok();
    let ready = status.ready_replicas.and_then(|ready| usize::try_from(ready).ok());
    Ok(pods.items.len() == replicas
        && pods.items.iter().all(is_active)
        && counted == Some(replicas)
        && ready == Some(replicas))
}

async fn until_gone(client: &Client, namespace: &str) -> Result<(), BoxError> {
    let namespaces = client.cluster::<Namespace>();
    let gone = async {
        loop {
            match namespaces.get(namespace, &GetOptions::default()).await {
                Ok(_) => tokio::time::sleep(Duration::from_millis(100)).await,
                Err(error) if error.is_not_found() => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    };
    tokio::time::timeout(TIMEOUT, gone).await.map_err(|_| "the namespace does not go")?
}
