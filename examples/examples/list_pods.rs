//! Lists the pods of a namespace: `cargo run -p kubewright-examples --example list_pods [NAMESPACE]`.

use k8s_openapi::api::core::v1::Pod;
use kubewright::prelude::*;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::new(Config::infer()?)?;
    let namespace =
        std::env::args().nth(1).unwrap_or_else(|| client.default_namespace().to_owned());
    // Labels, fields and pages are options too: `ListOptions { limit: Some(500), .. }`.
    let pods = client.in_namespace::<Pod>(&namespace).list(&ListOptions::default()).await?;
    for pod in &pods {
        let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
        println!("{}\t{}", pod.name(), phase.unwrap_or("Unknown"));
    }
    println!("{} pods in {namespace} at version {}", pods.items.len(), pods.resource_version());
    Ok(())
}
