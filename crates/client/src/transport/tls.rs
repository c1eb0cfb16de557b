//! TLS as a cluster wants it: its own authority or the system's, a client certificate, or no check at all.
//!
//! The crypto provider is passed in; nothing is installed for the whole process.

use std::sync::Arc;

use kubewright_config::TlsConfig;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::error::{Error, Kind};

/// The protocols offered, best first.
const ALPN: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// The client's side of TLS for `tls`.
pub(crate) fn client_config(tls: &TlsConfig) -> Result<Arc<ClientConfig>, Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = verifier(tls, provider.clone())?;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable("no TLS version can be used", error))?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let mut config = match &tls.client_identity {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let chain = certificates(&identity.certificate, "the client certificate")?;
            // The parser's own error is left out: it could show a piece of the key.
            let key = PrivateKeyDer::from_pem_slice(identity.key.expose())
                .map_err(|_| broken("the client key holds no PEM private key"))?;
            builder
                .with_client_auth_cert(chain, key)
                .map_err(|error| unusable("the client certificate and key cannot be used", error))?
        }
    };
    config.alpn_protocols = ALPN.iter().map(|name| name.to_vec()).collect();
    Ok(Arc::new(config))
}

/// The name the server must prove: that of the configuration, else the address's host.
pub(crate) fn server_name(tls: &TlsConfig, host: &str) -> Result<ServerName<'static>, Error> {
    let name = tls.server_name.as_deref().unwrap_or(host);
    ServerName::try_from(name.to_owned())
        .map_err(|error| unusable(format!("{name:?} is no name a certificate can carry"), error))
}

fn verifier(
    tls: &TlsConfig,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, Error> {
    if tls.insecure_skip_tls_verify {
        return Ok(Arc::new(NoVerifier(provider)));
    }
    let Some(pem) = &tls.ca else {
        let verifier = rustls_platform_verifier::Verifier::new(provider)
            .map_err(|error| unusable("the system's certificate authorities", error))?;
        return Ok(Arc::new(verifier));
    };
    let mut roots = RootCertStore::empty();
    for certificate in certificates(pem, "the certificate authority")? {
        roots
            .add(certificate)
            .map_err(|error| unusable("a certificate of the certificate authority", error))?;
    }
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
        .build()
        .map_err(|error| unusable("the certificate authority cannot be used", error))?;
    Ok(verifier)
}

fn certificates(pem: &[u8], what: &str) -> Result<Vec<CertificateDer<'static>>, Error> {
    let found: Vec<_> = CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(|error| unusable(format!("{what} is not PEM"), error))?;
    match found.is_empty() {
        true => Err(broken(format!("{what} holds no PEM certificate"))),
        false => Ok(found),
    }
}

fn broken(what: impl Into<String>) -> Error {
    Kind::Tls { what: what.into(), source: None }.into()
}

fn unusable(
    what: impl Into<String>,
    error: impl std::error::Error + Send + Sync + 'static,
) -> Error {
    Kind::Tls { what: what.into(), source: Some(Box::new(error)) }.into()
}

/// Takes any certificate, as `insecure-skip-tls-verify` asks for.
#[derive(Debug)]
struct NoVerifier(Arc<CryptoProvider>);

impl ServerCertVerifier for NoVerifier {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
