//! Keeps a local copy of all pods and prints what changes, until Ctrl-C:
//! `cargo run -p kubewright-examples --example follow_pods`.
//!
//! The informer lists once, then watches; it goes on after broken connections, restarted servers and expired
//! versions. Reads of the copy cost no request.

use k8s_openapi::api::core::v1::Pod;
use kubewright::prelude::*;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::new(Config::infer()?)?;
    let factory = SharedInformerFactory::new(&client);
    let pods = factory.informer::<Pod>();
    pods.add_handler(|event: Event<Pod>| match event {
        // What was there at the start comes as an addition too, marked as initial.
        Event::Added { initial: true, .. } => {}
        Event::Added { object, .. } => println!("+ {}", object.key()),
        Event::Updated { old, new } if old.resource_version() == new.resource_version() => {}
        Event::Updated { new, .. } => println!("~ {} is {}", new.key(), phase(&new)),
        Event::Deleted { object, .. } => println!("- {}", object.key()),
    })?;
    factory.start();
    factory.wait_for_sync().await?;
    println!("{} pods; following", pods.lister().len());
    kubewright::shutdown_signal().await;
    factory.shutdown().await;
    Ok(())
}

/// One field, read from the bytes: the pod is not decoded for it.
fn phase(pod: &CachedObject<Pod>) -> String {
    match pod.raw().field("status.phase") {
        Ok(Some(phase)) => phase.as_str().unwrap_or_default().to_owned(),
        Ok(None) => "without phase".to_owned(),
        Err(error) => format!("unreadable: {error}"),
    }
}
