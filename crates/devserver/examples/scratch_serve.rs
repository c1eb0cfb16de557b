//! scratch
use kubewright_devserver::*;
use kubewright_meta::{GroupVersionKind, Scope};
#[tokio::main]
async fn main() {
    let widgets = CustomKind::new(GroupVersionKind::new("lab.test", "v1", "Widget"), "widgets", Scope::Namespaced).status().scale().selectable_field("spec.size");
    let server = DevServer::builder().kind(widgets).build();
    let serving = server.serve(ServeOptions::default()).await.unwrap();
    std::fs::write("/tmp/dev-cp/dev", format!("{} {}", serving.url(), serving.token())).unwrap();
    tokio::time::sleep(std::time::Duration::from_secs(3600)).await;
}
