//! `kubewright devserver`: an API server for kubectl and programs, on loopback.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kubewright::client::Client;
use kubewright::devserver::{DevServer, ServeOptions};
use kubewright::shutdown_signal;
use kubewright_examples::{Controllers, Settings};

type BoxError = Box<dyn Error + Send + Sync>;

/// Arguments of `kubewright devserver`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The port to listen on; 0 picks a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Write a kubeconfig here once the server is ready.
    #[arg(long, value_name = "FILE", default_value = "kubewright.kubeconfig")]
    write_kubeconfig: PathBuf,
    /// Run the example controllers beside it: ReplicaSet, garbage collector, namespaces, simulated nodes.
    #[arg(long)]
    controllers: bool,
    /// How long simulated pods take to become ready, in milliseconds; with --controllers.
    #[arg(
        long,
        value_name = "MS",
        default_value_t = 200,
        requires = "controllers"
    )]
    ready_delay: u64,
}

pub(crate) async fn run(arguments: Arguments) -> Result<(), BoxError> {
    let server = DevServer::new();
    let serving = server
        .serve(ServeOptions {
            port: arguments.port,
            ..ServeOptions::default()
        })
        .await?;
    let controllers = arguments.controllers.then(|| {
        let client = Client::from_service(server.service());
        let mut settings = Settings::default();
        settings.nodes.ready_after = Duration::from_millis(arguments.ready_delay);
        Controllers::start(&client, settings)
    });
    let path = std::path::absolute(&arguments.write_kubeconfig)?;
    write_private(&path, &serving.kubeconfig())
        .map_err(|error| format!("cannot write the kubeconfig {}: {error}", path.display()))?;
    println!(
        "serving at {}; kubeconfig written to {}",
        serving.url(),
        path.display()
    );
    println!(
        "try: kubectl --kubeconfig {} get namespaces",
        path.display()
    );

    let result = match controllers {
        None => {
            shutdown_signal().await;
            Ok(())
        }
        Some(mut controllers) => {
            let ended = tokio::select! {
                () = shutdown_signal() => Ok(()),
                failed = controllers.ended() => failed,
            };
            let stopped = controllers.shutdown().await;
            ended.and(stopped)
        }
    };
    serving.shutdown().await;
    result
}

/// Writes a file that only its owner may read, since it holds a token; whoever waits for the file sees it whole.
fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write;

    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    let unfinished = path.with_file_name(name);
    let written = options
        .open(&unfinished)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| std::fs::rename(&unfinished, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&unfinished);
    }
    written
}
