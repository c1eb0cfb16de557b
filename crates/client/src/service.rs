//! The seam between calls and how they travel: any `tower` service can stand in for the network.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use tower_service::Service;

use crate::body::{Body, BoxError};
use crate::transport::Transport;

type Answer = Pin<Box<dyn Future<Output = Result<Response<Body>, BoxError>> + Send>>;

/// Whatever carries requests.
#[derive(Clone)]
pub(crate) enum Carrier {
    Network(Arc<Transport>),
    Service(Arc<dyn Call>),
}

pub(crate) trait Call: Send + Sync {
    fn call(&self, request: Request<Body>) -> Answer;
}

struct Erased<S>(S);

impl<S, B> Call for Erased<S>
where
    S: Service<Request<Body>, Response = Response<B>> + Clone + Send + Sync + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    fn call(&self, request: Request<Body>) -> Answer {
        let mut service = self.0.clone();
        Box::pin(async move {
            poll_fn(|cx| service.poll_ready(cx)).await.map_err(Into::into)?;
            let response = service.call(request).await.map_err(Into::into)?;
            Ok(response.map(Body::stream))
        })
    }
}

impl Carrier {
    pub(crate) fn of_service<S, B>(service: S) -> Self
    where
        S: Service<Request<Body>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Self::Service(Arc::new(Erased(service)))
    }

    pub(crate) async fn call(&self, request: Request<Body>) -> Result<Response<Body>, BoxError> {
        match self {
            Self::Network(transport) => transport.call(request).await.map_err(Into::into),
            Self::Service(service) => service.call(request).await,
        }
    }
}

/// What carries a client's requests, as a service to put layers around; see
/// [`Client::with_layer`](crate::Client::with_layer).
#[derive(Clone)]
pub struct CarrierService(pub(crate) Carrier);

impl Service<Request<Body>> for CarrierService {
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = Answer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Answer {
        let carrier = self.0.clone();
        Box::pin(async move { carrier.call(request).await })
    }
}
