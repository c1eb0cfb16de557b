//! A custom resource written by hand, and a controller for it, on a server in this process:
//! `cargo run -p kubewright-examples --example custom_resource`.
//!
//! The controller keeps a ConfigMap for each Greeting. Ownership makes the garbage collector remove it with the
//! Greeting. On a cluster, use `Client::new(Config::infer()?)?` and install the definition of the kind first.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright::prelude::*;
use kubewright::testing::{CustomKind, DevServer};
use serde::{Deserialize, Serialize};

/// A greeting to someone.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Greeting {
    metadata: ObjectMeta,
    spec: GreetingSpec,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct GreetingSpec {
    to: String,
}

impl k8s_openapi::Resource for Greeting {
    const API_VERSION: &'static str = "lab.test/v1";
    const GROUP: &'static str = "lab.test";
    const KIND: &'static str = "Greeting";
    const VERSION: &'static str = "v1";
    const URL_PATH_SEGMENT: &'static str = "greetings";
    type Scope = k8s_openapi::NamespaceResourceScope;
}

impl k8s_openapi::Metadata for Greeting {
    type Ty = ObjectMeta;

    fn metadata(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn metadata_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let server = DevServer::builder().kind(CustomKind::of::<Greeting>()).start().await?;
    let client = server.client();

    let factory = SharedInformerFactory::new(&client);
    let greetings = factory.informer::<Greeting>();
    let maps = factory.informer::<ConfigMap>();
    let controller = Controller::new("greetings", &greetings).owns(&maps);
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = {
        let client = client.clone();
        let (greetings, maps) = (greetings.lister(), maps.lister());
        let reconcile = move |key: ObjectKey| {
            let (client, greetings, maps) = (client.clone(), greetings.clone(), maps.clone());
            async move { reconcile(&client, &greetings, &maps, &key).await }
        };
        let shutdown = async move {
            let _ = stopped.await;
        };
        tokio::spawn(async move { controller.run(shutdown, reconcile).await })
    };
    factory.start();

    let hello = Greeting {
        metadata: ObjectMeta { name: Some("hello".into()), ..ObjectMeta::default() },
        spec: GreetingSpec { to: "world".into() },
    };
    client.in_namespace::<Greeting>("default").create(&hello, &CreateOptions::default()).await?;
    let mut watch =
        client.in_namespace::<ConfigMap>("default").watch(&WatchOptions::default()).await?;
    while let Some(event) = watch.next().await {
        if let WatchEvent::Added(map) = event? {
            let owner = controller_of(map.owner_references()).map(|owner| &owner.name);
            println!("{} says {:?}, owned by {owner:?}", map.key(), map.data);
            break;
        }
    }
    drop(stop);
    running.await??;
    factory.shutdown().await;
    Ok(())
}

/// Makes the ConfigMap of a Greeting what it should be.
async fn reconcile(
    client: &Client,
    greetings: &Lister<Greeting>,
    maps: &Lister<ConfigMap>,
    key: &ObjectKey,
) -> Result<Action, BoxError> {
    let Some(greeting) = greetings.get(key) else {
        return Ok(Action::done());
    };
    let greeting = greeting.get()?;
    let data = BTreeMap::from([("text".to_owned(), format!("hello, {}", greeting.spec.to))]);
    let wanted = ConfigMap {
        metadata: ObjectMeta {
            name: greeting.metadata.name.clone(),
            owner_references: Some(vec![owner_reference_of(&*greeting, &Kind::of())]),
            ..ObjectMeta::default()
        },
        data: Some(data),
        ..ConfigMap::default()
    };
    let api = client.in_namespace::<ConfigMap>(key.namespace().unwrap_or_default());
    match maps.get(key) {
        None => {
            api.create(&wanted, &CreateOptions::default()).await?;
        }
        Some(held) if held.get()?.data != wanted.data => {
            let patch = Patch::merge(serde_json::json!({"data": wanted.data}))?;
            api.patch(key.name(), &patch, &PatchOptions::default()).await?;
        }
        Some(_) => {}
    }
    Ok(Action::done())
}
