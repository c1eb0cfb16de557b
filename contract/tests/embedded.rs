//! Every check against the development server: as a service in this process, and over TLS on loopback.

use std::error::Error;

use kubewright_client::Client;
use kubewright_config::{Kubeconfig, LoadOptions};
use kubewright_contract::{checks, run};
use kubewright_devserver::{CustomKind, DevServer, ServeOptions};
use kubewright_meta::{GroupVersionKind, Scope};

const AT_ONCE: usize = 8;

#[tokio::test(flavor = "multi_thread")]
async fn in_process() -> Result<(), Box<dyn Error>> {
    all_pass(&Client::from_service(server().service())).await
}

#[tokio::test(flavor = "multi_thread")]
async fn over_tls() -> Result<(), Box<dyn Error>> {
    let serving = server().serve(ServeOptions::default()).await?;
    let kubeconfig = Kubeconfig::parse(serving.kubeconfig())?;
    let client = Client::new(kubeconfig.to_config(&LoadOptions::default())?)?;
    all_pass(&client).await?;
    serving.shutdown().await;
    Ok(())
}

/// With the kinds that a real server learns by CustomResourceDefinitions.
fn server() -> DevServer {
    let gvk = |kind| GroupVersionKind::new("contract.kubewright.test", "v1", kind);
    let widgets = CustomKind::new(gvk("Widget"), "widgets", Scope::Namespaced)
        .status()
        .scale_at("spec.replicas", "status.replicas", Some("status.selector"))
        .selectable_field("spec.size");
    let plains = CustomKind::new(gvk("Plain"), "plains", Scope::Namespaced);
    DevServer::builder().kind(widgets).kind(plains).build()
}

async fn all_pass(client: &Client) -> Result<(), Box<dyn Error>> {
    let report = run(client, &checks(), AT_ONCE).await?;
    assert!(report.is_success(), "{report}");
    assert!(report.passed.len() > 100, "{report}: some checks did not run");
    Ok(())
}
