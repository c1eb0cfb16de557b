//! All the example controllers together, as one thing to start and to stop.

use std::error::Error;

use kubewright::cache::SharedInformerFactory;
use kubewright::client::Client;
use kubewright::controller::ControllerStats;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::nodes::Nodes;
use crate::replicaset::ReplicaSetController;
use crate::{Clock, garbage_collector, namespaces};

type BoxError = Box<dyn Error + Send + Sync>;

/// What to run, and how.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The simulated nodes.
    pub nodes: Nodes,
    /// By which clock pods count as available.
    pub clock: Clock,
    /// How many ReplicaSets are looked at in parallel.
    pub replicaset_workers: usize,
    /// How many objects the garbage collector looks at in parallel.
    pub garbage_collector_workers: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            nodes: Nodes::default(),
            clock: Clock::wall(),
            replicaset_workers: 5,
            garbage_collector_workers: 10,
        }
    }
}

/// The running controllers. Dropping this stops them without waiting; [`shutdown`](Self::shutdown) waits.
pub struct Controllers {
    stop: watch::Sender<bool>,
    tasks: JoinSet<Result<(), BoxError>>,
    factory: SharedInformerFactory,
    replicaset: Client,
    replicaset_stats: ControllerStats,
}

impl Controllers {
    /// Starts ReplicaSet, garbage collector, namespaces and simulated nodes. They share their informers, so
    /// that each kind is watched once.
    pub fn start(client: &Client, settings: Settings) -> Self {
        let factory = SharedInformerFactory::new(client);
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        // A client of its own, so that its calls can be told from those of the others.
        let replicaset = client.with_own_calls();
        let (workers, clock) = (settings.replicaset_workers, settings.clock);
        let controller = ReplicaSetController::new(&replicaset, &factory, workers, clock);
        let replicaset_stats = controller.stats();
        tasks.spawn(controller.run(ended(stopped.clone())));
        {
            let (client, factory) = (client.clone(), factory.clone());
            let (workers, stop) = (settings.garbage_collector_workers, ended(stopped.clone()));
            tasks.spawn(
                async move { garbage_collector::run(&client, &factory, workers, stop).await },
            );
        }
        {
            let (client, factory, stop) = (client.clone(), factory.clone(), ended(stopped.clone()));
            tasks.spawn(async move { namespaces::run(&client, &factory, stop).await });
        }
        {
            let (client, factory, stop) = (client.clone(), factory.clone(), ended(stopped));
            tasks.spawn(async move { settings.nodes.run(&client, &factory, stop).await });
        }
        Self { stop, tasks, factory, replicaset, replicaset_stats }
    }

    /// The client of the ReplicaSet controller, to read its calls from.
    pub fn replicaset_client(&self) -> &Client {
        &self.replicaset
    }

    /// What the ReplicaSet controller has done.
    pub fn replicaset_stats(&self) -> &ControllerStats {
        &self.replicaset_stats
    }

    /// The informers the controllers share.
    pub fn factory(&self) -> &SharedInformerFactory {
        &self.factory
    }

    /// Waits until a controller has ended, which none does before [`shutdown`](Self::shutdown) unless it
    /// failed.
    ///
    /// # Errors
    /// What the controller failed with.
    pub async fn ended(&mut self) -> Result<(), BoxError> {
        match self.tasks.join_next().await {
            Some(result) => result?,
            None => Ok(()),
        }
    }

    /// Stops all controllers, waits for what they are doing, and stops the informers.
    ///
    /// # Errors
    /// The first error any of them ended with.
    pub async fn shutdown(mut self) -> Result<(), BoxError> {
        self.stop.send_replace(true);
        let mut result = Ok(());
        while let Some(ended) = self.tasks.join_next().await {
            let ended = ended.map_err(BoxError::from).and_then(|ended| ended);
            result = result.and(ended);
        }
        self.factory.shutdown().await;
        result
    }
}

/// Ends when the sender says so, or is gone.
async fn ended(mut stopped: watch::Receiver<bool>) {
    let _ = stopped.wait_for(|stopped| *stopped).await;
}
