//! A server whose answers the test gives one by one.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Frame;
use kubewright_client::{Body, Client};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tower_service::Service;

type Answer = Result<Response<Chunks>, std::io::Error>;

/// The side of the test.
pub(crate) struct Server {
    calls: mpsc::UnboundedReceiver<Call>,
}

/// A request that waits for its answer. Dropped without one, it is a connection that was refused.
pub(crate) struct Call {
    pub(crate) path: String,
    pub(crate) at: Instant,
    query: String,
    answer: oneshot::Sender<Answer>,
}

impl Server {
    pub(crate) fn new() -> (Self, Client) {
        let (sender, calls) = mpsc::unbounded_channel();
        (Self { calls }, Client::from_service(Script(sender)))
    }

    /// The next request.
    pub(crate) async fn call(&mut self) -> Call {
        self.calls.recv().await.expect("a client")
    }

    /// The next request, which is a list.
    pub(crate) async fn list(&mut self) -> Call {
        let call = self.call().await;
        assert_eq!(call.param("watch"), None, "{}", call.query);
        call
    }

    /// The next request, which is a watch.
    pub(crate) async fn watch(&mut self) -> Call {
        let call = self.call().await;
        assert_eq!(call.param("watch").as_deref(), Some("true"), "{}", call.query);
        call
    }

    /// Answers a first list and the watch behind it.
    pub(crate) async fn listed(&mut self, version: &str, items: &[String]) -> Stream {
        self.list().await.items(version, items);
        self.watch().await.stream()
    }
}

impl Call {
    /// A parameter of the query.
    pub(crate) fn param(&self, name: &str) -> Option<String> {
        let pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
    }

    /// `resourceVersion`.
    pub(crate) fn version(&self) -> Option<String> {
        self.param("resourceVersion")
    }

    pub(crate) fn items(self, version: &str, items: &[String]) {
        self.body(200, list(version, items));
    }

    pub(crate) fn body(self, code: u16, body: String) {
        self.stream_of(code).send(&body);
    }

    pub(crate) fn status(self, code: u16, reason: &str) {
        let body = format!(
            r#"{{"kind":"Status","apiVersion":"v1","status":"Failure","message":"for a test","reason":"{reason}","code":{code}}}"#
        );
        self.body(code, body);
    }

    pub(crate) fn refuse(self) {
        let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        self.answer.send(Err(refused)).ok();
    }

    /// An answer that stays open.
    pub(crate) fn stream(self) -> Stream {
        self.stream_of(200)
    }

    fn stream_of(self, code: u16) -> Stream {
        let (sender, chunks) = mpsc::unbounded_channel();
        let response = Response::builder()
            .status(code)
            .header("content-type", "application/json")
            .body(Chunks(chunks))
            .unwrap();
        self.answer.send(Ok(response)).ok();
        Stream(sender)
    }
}

/// An open answer; dropped, it ends.
pub(crate) struct Stream(mpsc::UnboundedSender<Result<Bytes, std::io::Error>>);

impl Stream {
    pub(crate) fn send(&self, text: impl AsRef<[u8]>) {
        self.0.send(Ok(Bytes::copy_from_slice(text.as_ref()))).ok();
    }

    pub(crate) fn event(&self, kind: &str, object: &str) {
        self.send(format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n"));
    }

    pub(crate) fn bookmark(&self, version: &str) {
        let object = format!(
            r#"{{"kind":"ConfigMap","apiVersion":"v1","metadata":{{"resourceVersion":"{version}"}}}}"#
        );
        self.event("BOOKMARK", &object);
    }

    /// The connection breaks.
    pub(crate) fn reset(self) {
        self.0.send(Err(std::io::ErrorKind::ConnectionReset.into())).ok();
    }

    /// The client has closed it.
    pub(crate) async fn closed(&self) {
        self.0.closed().await;
    }
}

/// A list's body.
pub(crate) fn list(version: &str, items: &[String]) -> String {
    format!(
        r#"{{"kind":"ConfigMapList","apiVersion":"v1","metadata":{{"resourceVersion":"{version}"}},"items":[{}]}}"#,
        items.join(",")
    )
}

/// An object of namespace `n`.
pub(crate) fn object(name: &str, version: &str) -> String {
    format!(
        r#"{{"metadata":{{"name":"{name}","namespace":"n","uid":"uid-{name}","resourceVersion":"{version}","labels":{{"app":"{name}"}},"managedFields":[{{"manager":"m"}}]}},"data":{{"version":"{version}"}}}}"#
    )
}

#[derive(Clone)]
struct Script(mpsc::UnboundedSender<Call>);

impl Service<Request<Body>> for Script {
    type Response = Response<Chunks>;
    type Error = std::io::Error;
    type Future = Pin<Box<dyn Future<Output = Answer> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (answer, answered) = oneshot::channel();
        let call = Call {
            path: request.uri().path().to_owned(),
            at: Instant::now(),
            query: request.uri().query().unwrap_or_default().to_owned(),
            answer,
        };
        self.0.send(call).ok();
        Box::pin(async move {
            answered.await.unwrap_or_else(|_| Err(std::io::ErrorKind::ConnectionRefused.into()))
        })
    }
}

pub(crate) struct Chunks(mpsc::UnboundedReceiver<Result<Bytes, std::io::Error>>);

impl http_body::Body for Chunks {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(cx).map(|chunk| chunk.map(|chunk| chunk.map(Frame::data)))
    }
}
