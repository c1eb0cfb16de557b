//! `kubewright demo`: the example controllers at work, told step by step.
//!
//! Each step asks for something and waits until it is seen in the cluster; one that is not seen in time fails the
//! whole. The same story runs on the server in this process and on any API server that has no controller manager.

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Node;
use kubewright::client::Client;
use kubewright::config::{Config, LoadOptions};
use kubewright::devserver::DevServer;
use kubewright::meta::{GetOptions, ListOptions, Object};
use kubewright::shutdown_signal;
use kubewright_examples::nodes::NODE_NAME_PREFIX;
use kubewright_examples::{Controllers, Settings, story};

type BoxError = Box<dyn Error + Send + Sync>;

/// Arguments of `kubewright demo`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Run on the API server of this kubeconfig, which must have no controller manager. Default: on a server
    /// in this process.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig. Default: its current context.
    #[arg(long, value_name = "NAME", requires = "kubeconfig")]
    context: Option<String>,
    /// Run even where the cluster seems to have controllers or nodes of its own, which would work against those of
    /// the demo.
    #[arg(long, requires = "kubeconfig")]
    force: bool,
    /// How long simulated pods take to become ready, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 200)]
    ready_delay: u64,
    /// How long a step may take, in seconds.
    #[arg(long, value_name = "S", default_value_t = 60)]
    step_timeout: u64,
}

pub(crate) async fn run(arguments: Arguments) -> Result<(), BoxError> {
    let client = match &arguments.kubeconfig {
        None => Client::from_service(DevServer::new().service()),
        Some(path) => {
            let mut options = LoadOptions::default();
            options.path = Some(path.clone());
            options.context = arguments.context.clone();
            Client::new(Config::load(&options)?)?
        }
    };
    let version = client.server_version().await?;
    let whose =
        if arguments.kubeconfig.is_some() { "API server" } else { "API server in this process" };
    story::say(format_args!("{whose}: {}\n", version.git_version));

    if arguments.kubeconfig.is_some() && !arguments.force {
        check_nobody_is_there(&client).await?;
    }

    let mut settings = Settings::default();
    settings.nodes.ready_after = Duration::from_millis(arguments.ready_delay);
    let mut controllers = Controllers::start(&client, settings);
    let step_timeout = Duration::from_secs(arguments.step_timeout);
    let replicaset = controllers.replicaset_client().clone();
    let told = tokio::select! {
        told = story::tell(&client, &replicaset, step_timeout) => told,
        ended = controllers.ended() => {
            Err(ended.err().unwrap_or_else(|| "a controller ended by itself".into()))
        }
        () = shutdown_signal() => Err("interrupted".into()),
    };
    let stopped = controllers.shutdown().await;
    told.and(stopped)
}

/// The demo brings a ReplicaSet controller, a garbage collector, a namespace controller and nodes. A cluster that
/// has them already is no place for it.
async fn check_nobody_is_there(client: &Client) -> Result<(), BoxError> {
    let nodes = client.cluster::<Node>().list(&ListOptions::default()).await?;
    let real = nodes.items.iter().find(|node| !node.name().starts_with(NODE_NAME_PREFIX));
    if let Some(node) = real {
        return Err(format!(
            "this cluster has a node of its own, {:?}; the demo is for API servers without controllers and nodes \
             (--force runs it all the same)",
            node.name()
        )
        .into());
    }
    let leases = client.in_namespace::<Lease>("kube-system");
    let manager = match leases.get("kube-controller-manager", &GetOptions::default()).await {
        Ok(lease) => lease.spec.and_then(|spec| spec.holder_identity),
        Err(error) if error.is_not_found() => None,
        Err(error) => return Err(error.into()),
    };
    match manager.filter(|holder| !holder.is_empty()) {
        None => Ok(()),
        Some(holder) => Err(format!(
            "this cluster has a controller manager, {holder:?} holds its lease; the demo is for API servers without \
             one (--force runs it all the same)"
        )
        .into()),
    }
}
