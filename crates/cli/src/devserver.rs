//! `kubewright devserver`: an API server for kubectl and programs, on loopback.

use std::error::Error;
use std::future::Future;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::task::Poll;
use std::time::Duration;

use kubewright::client::Client;
use kubewright::devserver::{DevServer, ServeOptions};
use kubewright::shutdown_signal;
use kubewright_examples::{Controllers, Settings};

type BoxError = Box<dyn Error + Send + Sync>;

const NOT_SERVED: &str = "not served yet: strategic merge patches (kubectl apply of a changed file), tables, custom \
                          resource definitions, logs and exec";
const CONTROLLERS: &str = "controllers: ReplicaSet, garbage collector, namespaces, nodes that simulate pods; none for \
                           Deployments, so these make no ReplicaSets";
const NO_CONTROLLERS: &str =
    "controllers: none, so nothing acts on what is stored; --controllers starts some";

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
    #[arg(long, value_name = "MS", default_value_t = 200, requires = "controllers")]
    ready_delay: u64,
}

pub(crate) async fn run(arguments: Arguments) -> Result<(), BoxError> {
    let server = DevServer::new();
    let serving =
        server.serve(ServeOptions { port: arguments.port, ..ServeOptions::default() }).await?;
    let controllers = arguments.controllers.then(|| {
        let client = Client::from_service(server.service());
        let mut settings = Settings::default();
        settings.nodes.ready_after = Duration::from_millis(arguments.ready_delay);
        Controllers::start(&client, settings)
    });
    // Listened for before the file tells others that the server is there, since they may end it at once.
    let mut shutdown = std::pin::pin!(shutdown_signal());
    if std::future::poll_fn(|context| Poll::Ready(shutdown.as_mut().poll(context).is_ready())).await
    {
        return Ok(());
    }
    let path = std::path::absolute(&arguments.write_kubeconfig)?;
    write_private(&path, &serving.kubeconfig())
        .map_err(|error| format!("cannot write the kubeconfig {}: {error}", path.display()))?;
    let greeting = format!(
        "serving at {}; kubeconfig written to {}\ntry: kubectl --kubeconfig {} get namespaces\n\
         {NOT_SERVED}\n{}\n",
        serving.url(),
        path.display(),
        quoted(&path.display().to_string()),
        match controllers {
            Some(_) => CONTROLLERS,
            None => NO_CONTROLLERS,
        },
    );
    // The server serves whether or not somebody reads this.
    if let Err(error) = std::io::stdout().write_all(greeting.as_bytes()) {
        tracing::warn!(%error, "cannot write to standard output");
    }

    let result = match controllers {
        None => {
            shutdown.await;
            Ok(())
        }
        Some(mut controllers) => {
            let ended = tokio::select! {
                () = shutdown => Ok(()),
                failed = controllers.ended() => failed,
            };
            let stopped = controllers.shutdown().await;
            ended.and(stopped)
        }
    };
    serving.shutdown().await;
    result
}

/// As a shell takes it for one word.
fn quoted(text: &str) -> String {
    let is_plain = |char: char| char.is_alphanumeric() || "/._-+@%:,=".contains(char);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Writes a file that only its owner may read, since it holds a token; whoever waits for the file sees it whole.
fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_can_be_pasted_into_a_shell() {
        assert_eq!(quoted("/tmp/a-b_c.yaml"), "/tmp/a-b_c.yaml");
        assert_eq!(quoted("/tmp/my file"), "'/tmp/my file'");
        assert_eq!(quoted("it's $HOME"), r"'it'\''s $HOME'");
    }

    #[test]
    fn the_file_is_for_its_owner_and_replaces_an_older_one() {
        use std::os::unix::fs::PermissionsExt;
        let folder = std::env::temp_dir().join(format!("kubewright-cli-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("kubeconfig");
        std::fs::write(&path, "older and longer").expect("written");
        write_private(&path, "new").expect("written");
        assert_eq!(std::fs::read_to_string(&path).expect("read"), "new");
        let mode = std::fs::metadata(&path).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let left = std::fs::read_dir(&folder).expect("read").count();
        assert_eq!(left, 1, "nothing unfinished stays");
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
