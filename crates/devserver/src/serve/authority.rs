//! A certificate authority for one server and one run, and the certificate it serves with.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::Error;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Long enough for a server that is left running, short enough for every platform's verifier.
const VALIDITY: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The public certificate of the authority, and certificate and key of the server.
pub(super) struct Authority {
    ca_pem: String,
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
}

impl Authority {
    /// Makes both anew. The authority's key is forgotten at once: nothing else is ever signed with it.
    pub(super) fn new(address: IpAddr) -> Result<Self, Error> {
        make(address).map_err(|error| Error::no_certificate(Box::new(error)))
    }

    /// The authority's certificate, PEM.
    pub(super) fn ca_pem(&self) -> String {
        self.ca_pem.clone()
    }

    /// TLS with this certificate, for HTTP/2 and HTTP/1.1.
    pub(super) fn server_config(self) -> Result<Arc<ServerConfig>, Error> {
        let failed = |error| Error::no_certificate(Box::new(error));
        // The provider is passed, so that the process's own choice neither matters nor is made here.
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(failed)?
            .with_no_client_auth()
            .with_single_cert(vec![self.certificate], self.key)
            .map_err(failed)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

fn make(address: IpAddr) -> Result<Authority, rcgen::Error> {
    // ECDSA keys take no time to make.
    let ca_key = KeyPair::generate()?;
    let mut ca = parameters(Vec::new(), "kubewright development authority")?;
    ca.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    ca.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let ca_pem = ca.self_signed(&ca_key)?.pem();
    let issuer = Issuer::new(ca, ca_key);

    let mut names: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into();
    let address = address.to_string();
    if !names.contains(&address) {
        names.push(address);
    }
    let key = KeyPair::generate()?;
    let mut serving = parameters(names, "kubewright development server")?;
    serving.use_authority_key_identifier_extension = true;
    serving.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    serving.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let certificate = serving.signed_by(&key, &issuer)?.der().clone();
    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    Ok(Authority { ca_pem, certificate, key })
}

fn parameters(names: Vec<String>, common_name: &str) -> Result<CertificateParams, rcgen::Error> {
    let mut parameters = CertificateParams::new(names)?;
    parameters.distinguished_name.push(DnType::CommonName, common_name);
    let now = SystemTime::now();
    // A day back, for clients whose clock is behind.
    parameters.not_before = now.checked_sub(DAY).unwrap_or(now).into();
    parameters.not_after = now.checked_add(VALIDITY).unwrap_or(now).into();
    Ok(parameters)
}
