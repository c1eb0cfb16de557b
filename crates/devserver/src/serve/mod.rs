//! The server on a socket, as clients of a real one know it: HTTPS, a bearer token, a kubeconfig.
//!
//! One task accepts connections, each connection is a task, and each HTTP/2 stream too. All of them belong
//! to one [`Serving`], which ends them.

mod accept;
mod activity;
mod authentication;
mod authority;
mod body;
mod connection;
mod kubeconfig;
mod options;
mod serving;

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;

pub use options::ServeOptions;
pub use serving::Serving;

use crate::{DevServer, Error};
use authentication::Token;
use authority::Authority;
use connection::Connections;

impl DevServer {
    /// Serves HTTPS on a socket, with a certificate authority and, unless one is given, a token of its own,
    /// until [`Serving::shutdown`] or until the `Serving` is dropped. One server can be served at several
    /// addresses and can still be called in process.
    ///
    /// Requests need the token, except `GET` and `HEAD` of `/healthz`, `/livez`, `/readyz` and `/version`;
    /// others get 401. Whoever has the token may do everything.
    ///
    /// ```
    /// # use kubewright_devserver::{DevServer, ServeOptions};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), kubewright_devserver::Error> {
    /// let serving = DevServer::new().serve(ServeOptions::default()).await?;
    /// assert!(serving.url().starts_with("https://127.0.0.1:"));
    /// serving.shutdown().await;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the address cannot be listened on ([`Error::is_address_in_use`]), or the token holds characters
    /// that a bearer token cannot have.
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O and time.
    pub async fn serve(&self, options: ServeOptions) -> Result<Serving, Error> {
        serve(self.service(), options).await
    }
}

async fn serve<S: connection::ApiService>(
    service: S,
    options: ServeOptions,
) -> Result<Serving, Error> {
    let token = match &options.token {
        Some(token) => Token::given(token)?,
        None => Token::random()?,
    };
    let authority = Authority::new(options.address)?;
    let ca_pem = authority.ca_pem();
    let tls = authority.server_config()?;
    let wanted = SocketAddr::new(options.address, options.port);
    let cannot_listen = |error| Error::cannot_listen(wanted, error);
    let listener = TcpListener::bind(wanted).await.map_err(cannot_listen)?;
    let address = listener.local_addr().map_err(cannot_listen)?;

    let serving = Serving::new(address, ca_pem, token.clone(), options.shutdown_timeout);
    let connections =
        Arc::new(Connections { service, token, tls, options, tasks: serving.tasks() });
    let stop = connections.tasks.stop.clone();
    let tasks = connections.tasks.clone();
    tasks.spawn(async move {
        let accept = || async { listener.accept().await.map(|(stream, _)| stream) };
        accept::all(accept, |stream| connections.start(stream), &stop).await;
    });
    Ok(serving)
}

#[cfg(test)]
#[path = "serve_tests.rs"]
mod tests;
