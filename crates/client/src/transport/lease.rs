//! Who holds a stream, and how it comes back: on every way out, a dropped future included.

use std::sync::Arc;

use super::connect::Sender;
use super::error::TransportError;
use super::policy::{ConnectionId, Lane, Protocol};
use super::pool::{Shared, gone};
use crate::body::Body;

/// The right to one stream of a connection; given back when dropped.
pub(crate) struct Lease {
    shared: Arc<Shared>,
    lane: Lane,
    id: ConnectionId,
    sender: Option<Sender>,
}

/// A request that was not answered.
pub(crate) struct Unanswered {
    pub(crate) error: TransportError,
    /// The request, if it never left this process.
    pub(crate) unsent: Option<http::Request<Body>>,
}

impl Lease {
    pub(super) fn new(
        shared: Arc<Shared>,
        lane: Lane,
        id: ConnectionId,
        sender: Option<Sender>,
    ) -> Self {
        Self { shared, lane, id, sender }
    }

    pub(crate) fn protocol(&self) -> Option<Protocol> {
        self.sender.as_ref().map(Sender::protocol)
    }

    /// Sends the request. Dropping the future cancels it.
    pub(crate) async fn send(
        &mut self,
        request: http::Request<Body>,
    ) -> Result<http::Response<hyper::body::Incoming>, Box<Unanswered>> {
        let outcome = match &mut self.sender {
            Some(Sender::Http1(sender)) => sender.try_send_request(request).await,
            Some(Sender::Http2(sender)) => sender.try_send_request(request).await,
            None => {
                return Err(Box::new(Unanswered { error: gone(), unsent: Some(request) }));
            }
        };
        outcome.map_err(|mut failure| {
            let unsent = failure.take_message();
            if unsent.is_some() {
                // The connection takes no more requests, and its driver may not have noticed yet.
                self.shared.retire(self.lane, self.id);
            }
            let error = TransportError::of_request(failure.into_error());
            Box::new(Unanswered { error, unsent })
        })
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let (shared, lane, id) = (self.shared.clone(), self.lane, self.id);
        let Some(Sender::Http1(mut sender)) = self.sender.take() else {
            return shared.release(lane, id);
        };
        if sender.is_ready() {
            return shared.put_back(lane, id, sender);
        }
        // HTTP/1.1 takes the next request when the response is read to its end; where that was not done hyper
        // closes the connection, and the driver retires it. A peer that has answered but does not take the rest of
        // the request would keep it for ever.
        let limit = shared.connector.settings.idle;
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(async move {
                match tokio::time::timeout(limit, sender.ready()).await {
                    Ok(Ok(())) => shared.put_back(lane, id, sender),
                    Ok(Err(_)) => {}
                    Err(_) => shared.retire(lane, id),
                }
            })),
            Err(_) => drop(sender),
        }
    }
}
