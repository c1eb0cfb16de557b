//! Serves a development server until Ctrl-C.
//!
//! ```text
//! cargo run -p kubewright-devserver --example serve -- /tmp/kubeconfig
//! kubectl --kubeconfig /tmp/kubeconfig get namespaces
//! ```
//!
//! Without a path the kubeconfig goes to a temporary file that is removed at the end.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use kubewright_devserver::{CustomKind, DevServer, ServeOptions};
use kubewright_meta::{GroupVersionKind, Scope};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let started = Instant::now();
    let widgets = GroupVersionKind::new("lab.test", "v1", "Widget");
    let widgets =
        CustomKind::new(widgets, "widgets", Scope::Namespaced).status().scale().short_name("wd");
    let server = DevServer::builder().kind(widgets).build();
    let serving = server.serve(ServeOptions::default()).await?;
    let took = started.elapsed();

    // A temporary file is readable by its owner only, as a file with a token should be.
    let mut file = tempfile::NamedTempFile::new()?;
    file.write_all(serving.kubeconfig().as_bytes())?;
    let path = match std::env::args_os().nth(1).map(PathBuf::from) {
        Some(path) => {
            fs::copy(file.path(), &path)?;
            path
        }
        None => file.path().to_owned(),
    };
    println!("serving {} after {took:?}, kubeconfig in {}", serving.url(), path.display());
    tokio::signal::ctrl_c().await?;
    serving.shutdown().await;
    Ok(())
}
