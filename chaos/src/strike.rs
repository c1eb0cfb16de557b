//! The layer that strikes: it sees every request, and at one of them has the API server killed.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Method, Request, Response};
use kubewright::client::{Body, BoxError, CarrierService};
use tokio::process::Command;
use tokio::sync::watch;
use tower_service::Service;

/// When, in the life of the struck create, the server is killed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Moment {
    /// The pod is stored and the answer is on its way; it never arrives.
    BeforeTheAnswer,
    /// So long after the request was sent: the pod may be stored or not, the answer may arrive or not.
    After(Duration),
}

/// What is struck, how, and how far it has come.
pub(crate) struct Strike {
    moment: Moment,
    /// Which create of a pod is struck, counted from one.
    nth: usize,
    restart: Vec<String>,
    creates: AtomicUsize,
    /// `Some` once the server is up again, or could not be restarted.
    outcome: watch::Sender<Option<Result<(), String>>>,
}

impl Strike {
    pub(crate) fn new(moment: Moment, nth: usize, restart: &[String]) -> Arc<Self> {
        Arc::new(Self {
            moment,
            nth,
            restart: restart.to_vec(),
            creates: AtomicUsize::new(0),
            outcome: watch::Sender::new(None),
        })
    }

    /// How many creates of pods were sent.
    pub(crate) fn creates(&self) -> usize {
        self.creates.load(Ordering::Relaxed)
    }

    /// Ends once the server was killed and is up again.
    pub(crate) async fn over(&self) -> Result<(), BoxError> {
        let mut outcome = self.outcome.subscribe();
        let outcome = outcome.wait_for(Option::is_some).await?.clone();
        outcome.unwrap_or(Ok(())).map_err(Into::into)
    }

    async fn restart_server(&self) {
        let Some((program, arguments)) = self.restart.split_first() else {
            return;
        };
        let outcome = match Command::new(program).args(arguments).output().await {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(format!(
                "{program} ended with {}: {}",
                output.status,
                String::from_utf8_lossy(&output.stderr)
            )),
            Err(error) => Err(format!("cannot run {program}: {error}")),
        };
        self.outcome.send_replace(Some(outcome));
    }

    fn hits(&self, request: &Request<Body>) -> bool {
        let is_create =
            *request.method() == Method::POST && request.uri().path().ends_with("/pods");
        is_create && self.creates.fetch_add(1, Ordering::Relaxed) + 1 == self.nth
    }
}

/// A client's carrier with a [`Strike`] in front of it.
#[derive(Clone)]
pub(crate) struct Striking {
    pub(crate) inner: CarrierService,
    pub(crate) strike: Arc<Strike>,
}

impl Service<Request<Body>> for Striking {
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let hit = self.strike.hits(&request);
        let answer = self.inner.call(request);
        if !hit {
            return answer;
        }
        let strike = self.strike.clone();
        match strike.moment {
            Moment::BeforeTheAnswer => Box::pin(async move {
                let stored = answer.await.map(|response| response.status());
                tokio::spawn(async move { strike.restart_server().await });
                match stored {
                    Ok(status) if status.is_success() => {
                        Err("the API server was killed before its answer arrived".into())
                    }
                    Ok(status) => Err(format!("the struck create was refused: {status}").into()),
                    Err(error) => Err(error),
                }
            }),
            Moment::After(delay) => Box::pin(async move {
                tokio::spawn(async move {
                    tokio::time::sleep(delay).await;
                    strike.restart_server().await;
                });
                answer.await
            }),
        }
    }
}
