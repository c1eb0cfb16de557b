//! Asking the API server whether it is ready, over TLS that is verified against the control plane's own authority: an
//! answer can only come from the server that was meant, never from another that took its port.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::error::{Context, Error, Result};

const PATIENCE: Duration = Duration::from_secs(2);

/// Asks one API server.
pub(crate) struct Probe {
    tls: Arc<ClientConfig>,
    port: u16,
    token: String,
}

impl Probe {
    pub(crate) fn new(port: u16, ca_pem: &str, token: &str) -> Result<Self> {
        let ca = CertificateDer::from_pem_slice(ca_pem.as_bytes())
            .map_err(|error| Error::new(format!("the control plane's ca.crt: {error}")))?;
        let mut roots = RootCertStore::empty();
        roots.add(ca).context(|| "the control plane's ca.crt is unusable")?;
        let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .context(|| "no TLS")?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self { tls: Arc::new(tls), port, token: token.to_owned() })
    }

    /// Whether the server says so itself, and has created the namespace every cluster begins with.
    pub(crate) fn is_ready(&self) -> bool {
        ["/readyz", "/api/v1/namespaces/default"]
            .iter()
            .all(|path| matches!(self.status_of(path), Ok(200)))
    }

    fn status_of(&self, path: &str) -> Result<u16> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let failed = || format!("cannot get {path} from {address}");
        let socket = TcpStream::connect_timeout(&address, PATIENCE).context(failed)?;
        socket.set_read_timeout(Some(PATIENCE)).context(failed)?;
        socket.set_write_timeout(Some(PATIENCE)).context(failed)?;
        let name = ServerName::IpAddress(Ipv4Addr::LOCALHOST.into());
        let session = ClientConnection::new(Arc::clone(&self.tls), name).context(failed)?;
        let mut stream = StreamOwned::new(session, socket);
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
            self.token
        );
        stream.write_all(request.as_bytes()).context(failed)?;
        let mut head = [0_u8; 12];
        stream.read_exact(&mut head).context(failed)?;
        status_in(&head).ok_or_else(|| Error::new("the answer is not HTTP/1.1"))
    }
}

fn status_in(head: &[u8]) -> Option<u16> {
    let head = std::str::from_utf8(head).ok()?;
    head.strip_prefix("HTTP/1.")?.get(2..5)?.parse().ok()
}

#[cfg(test)]
#[path = "ready_tests.rs"]
mod tests;
