//! Leaves a server as it was found.

use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use kubewright_client::Client;
use serde_json::{Value, json};

use crate::Context;
use crate::context::{At, RUN_LABEL, names};
use crate::custom::DEFINITIONS;

/// What the checks create in namespaces.
const RESOURCES: [&str; 10] = [
    "pods",
    "replicasets",
    "deployments",
    "configmaps",
    "secrets",
    "services",
    "leases",
    "events",
    "widgets",
    "plains",
];
const AT_ONCE: usize = 8;
/// A namespace controller, where there is one, may take so long.
const PATIENCE: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(500);

/// Removes all that a run has created.
pub(crate) async fn clean(client: &Client, run: &str) -> Result<(), String> {
    let context = Context::new(client.clone(), run.to_owned(), String::new());
    let selector = format!("labelSelector={RUN_LABEL}%3D{run}");
    context.delete(&format!("nodes?{selector}")).await?.expect(200)?;
    let namespaces = context.names(&format!("namespaces?{selector}")).await?;
    stream::iter(namespaces)
        .map(Ok)
        .try_for_each_concurrent(AT_ONCE, |namespace| clean_namespace(client, run, namespace))
        .await?;
    if context.get(DEFINITIONS).await?.code == 200 {
        context.delete(&format!("{DEFINITIONS}?{selector}")).await?.expect(200)?;
    }
    Ok(())
}

async fn clean_namespace(client: &Client, run: &str, namespace: String) -> Result<(), String> {
    let context = Context::new(client.clone(), run.to_owned(), namespace.clone());
    // Services have no deletion of collections everywhere, so all go one by one.
    for resource in RESOURCES {
        let listed = context.get(resource).await?;
        if listed.code == 404 {
            // A custom kind that nobody needed.
            continue;
        }
        for object in names(&listed.expect(200)?) {
            remove(&context, &format!("{resource}/{object}")).await?;
        }
    }
    let path = format!("namespaces/{namespace}");
    context.delete(&path).await?;
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        let answer = context.get(&path).await?;
        if answer.code == 404 {
            return Ok(());
        }
        let left = answer.expect(200)?;
        // Only a server without controllers leaves that to others.
        if context.get("serviceaccounts/default").await?.code == 404 {
            return finalize(&context, &path, left).await;
        }
        ensure!(tokio::time::Instant::now() < deadline, "{path} is not removed");
        tokio::time::sleep(POLL).await;
    }
}

/// Removes an object, whatever holds it. One that is gone meanwhile is well.
async fn remove(context: &Context, path: &str) -> Result<(), String> {
    let deleted = context.delete_with(path, json!({"gracePeriodSeconds": 0})).await?;
    if deleted.code != 404 && deleted.body.pointer("/metadata/finalizers").is_some() {
        context.merge(path, json!({"metadata": {"finalizers": null}})).await?;
    }
    Ok(())
}

async fn finalize(context: &Context, path: &str, mut namespace: Value) -> Result<(), String> {
    namespace["spec"]["finalizers"] = json!([]);
    let answer = context.put(&format!("{path}/finalize"), &namespace).await?;
    ensure!(
        matches!(answer.code, 200 | 404 | 409),
        "cannot finalize {}: {answer}",
        namespace.at("/metadata/name")
    );
    Ok(())
}
