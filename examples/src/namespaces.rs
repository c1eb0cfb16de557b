//! Namespace deletion: empties a namespace that is being deleted, then lets it go.

use std::error::Error;
use std::future::Future;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Namespace;
use kubewright::cache::{SharedInformer, SharedInformerFactory};
use kubewright::client::{Client, RestClient};
use kubewright::controller::{Action, Controller};
use kubewright::meta::{
    DeleteOptions, GroupVersion, Kind, ListOptions, Object, ObjectKey, PropagationPolicy, Scope,
    Unstructured,
};

use crate::served;

/// The finalizer that a namespace's spec carries until it is empty.
const FINALIZER: &str = "kubernetes";

/// How soon to look again at what takes its time to go, such as pods with a grace period; and how soon at what
/// has been going for long, such as objects whose finalizers nobody removes.
const SOONEST: Duration = Duration::from_millis(250);
const LATEST: Duration = Duration::from_secs(15);

type BoxError = Box<dyn Error + Send + Sync>;

/// Runs the controller until `shutdown` ends; starts what it needs of `factory`.
///
/// # Errors
/// If the informer cannot be used.
pub async fn run(
    client: &Client,
    factory: &SharedInformerFactory,
    shutdown: impl Future<Output = ()> + Send,
) -> Result<(), BoxError> {
    let namespaces: SharedInformer<Namespace> = factory.informer();
    let controller = Controller::new("namespaces", &namespaces).workers(2);
    factory.start();
    let client = client.clone();
    let reconcile = move |key: ObjectKey| {
        let (client, found) = (client.clone(), namespaces.lister().get(&key));
        async move {
            match found.map(|namespace| namespace.get()).transpose()? {
                Some(namespace) => reconcile(&client, &namespace).await,
                None => Ok(Action::done()),
            }
        }
    };
    Ok(controller.run(shutdown, reconcile).await?)
}

async fn reconcile(client: &Client, namespace: &Namespace) -> Result<Action, BoxError> {
    let spec = namespace.spec.as_ref().and_then(|spec| spec.finalizers.as_deref());
    let is_ours = spec.unwrap_or_default().iter().any(|finalizer| finalizer == FINALIZER);
    if !namespace.is_being_deleted() || !is_ours {
        return Ok(Action::done());
    }
    // Asked anew each time, so that kinds that came since are emptied too.
    let served = served::kinds(client, &["list", "deletecollection"]).await?;
    let namespaced = served.kinds.into_iter().filter(|kind| kind.scope() == Scope::Namespaced);
    let mut is_empty = true;
    for kind in namespaced {
        is_empty &= empty(client, kind, namespace.name()).await?;
    }
    // What the server does not tell about may hold objects, which would outlive their namespace.
    if !is_empty || !served.refused.is_empty() {
        return Ok(Action::requeue_after(look_again(namespace, Timestamp::now())));
    }
    finalize(client, namespace).await
}

/// A quarter of the time it has taken so far, within bounds.
fn look_again(namespace: &Namespace, now: Timestamp) -> Duration {
    let since = namespace.metadata.deletion_timestamp.as_ref().map_or(now, |time| time.0);
    let taken = Duration::try_from(now.duration_since(since)).unwrap_or_default();
    (taken / 4).clamp(SOONEST, LATEST)
}

/// Deletes every object of a kind in a namespace; whether none is left.
async fn empty(
    client: &Client,
    kind: Kind<Unstructured>,
    namespace: &str,
) -> Result<bool, BoxError> {
    let objects = client.api(kind).in_namespace(namespace);
    let one = ListOptions { limit: Some(1), ..ListOptions::default() };
    if objects.list(&one).await?.items.is_empty() {
        return Ok(true);
    }
    // Some kinds would by default orphan what they own, which is to go too.
    let options = DeleteOptions::with_propagation(PropagationPolicy::Background);
    objects.delete_collection(&options, &ListOptions::default()).await?;
    Ok(objects.list(&one).await?.items.is_empty())
}

/// Takes our finalizer away; with the last one the server removes the namespace.
async fn finalize(client: &Client, namespace: &Namespace) -> Result<Action, BoxError> {
    let mut namespace = namespace.clone();
    if let Some(finalizers) = namespace.spec.as_mut().and_then(|spec| spec.finalizers.as_mut()) {
        finalizers.retain(|finalizer| finalizer != FINALIZER);
    }
    let rest = RestClient::for_group_version(client, &GroupVersion::new("", "v1"));
    let request = rest.put().resource("namespaces").name(namespace.name()).subresource("finalize");
    match request.json(&namespace).send().await {
        Ok(_) => Ok(Action::done()),
        Err(error) if error.is_not_found() => Ok(Action::done()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

    use super::*;

    #[test]
    fn the_longer_it_takes_the_seldomer_it_is_looked_at() {
        let now = Timestamp::UNIX_EPOCH;
        let mut namespace = Namespace::default();
        assert_eq!(look_again(&namespace, now), SOONEST);
        for (seconds, wait) in [(-5, 250), (0, 250), (4, 1_000), (40, 10_000), (600, 15_000)] {
            let since = now.checked_sub(SignedDuration::from_secs(seconds)).unwrap();
            namespace.metadata.deletion_timestamp = Some(Time(since));
            assert_eq!(look_again(&namespace, now), Duration::from_millis(wait), "{seconds} s");
        }
    }
}
