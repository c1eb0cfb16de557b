//! The way past everything that calls do for their users.

use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{Request, Response, Uri};

use crate::body::Body;
use crate::client::Client;
use crate::error::{CallName, Error, Kind};
use crate::transport::Lane;

impl Client {
    /// Sends a request as it is and gives the answer as it is, whatever its code: no repetition, no reading of
    /// refusals, no check of the path. For proxies and for tests of servers; [`RestClient`](crate::RestClient) is
    /// the way for the rest.
    ///
    /// The URI is a path with its query, already encoded; the base path of the server's address is put in front, and
    /// credentials are added unless there is an `Authorization` header. The client's timeout counts to the head of
    /// the answer; the body may take its time.
    ///
    /// # Errors
    /// No answer: [`Error::is_transport`], [`Error::is_connect`], [`Error::is_timeout`].
    pub async fn send(&self, mut request: Request<Body>) -> Result<Response<Body>, Error> {
        let path = format!("{}{}", self.base_path(), request.uri().path());
        let call = CallName { method: request.method().clone(), path };
        let target = match request.uri().query() {
            Some(query) => format!("{}?{query}", call.path),
            None => call.path.clone(),
        };
        let target = PathAndQuery::from_maybe_shared(Bytes::from(target))
            .map_err(|error| Error::invalid(format!("the path cannot be sent: {error}")).at(&call))?;
        *request.uri_mut() = Uri::from(target);
        request.headers_mut().entry(http::header::USER_AGENT).or_insert(self.user_agent().clone());
        request.extensions_mut().insert(Lane::Held);
        let answer = self.carrier().call(request);
        let answer = match self.timeout() {
            None => answer.await,
            Some(limit) => match tokio::time::timeout(limit, answer).await {
                Ok(answer) => answer,
                Err(_) => return Err(Error::from(Kind::Timeout { limit, last: None }).at(&call)),
            },
        };
        answer.map_err(|error| Error::from(Kind::Transport(error)).at(&call))
    }
}
