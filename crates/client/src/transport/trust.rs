//! What to try when a TLS handshake fails: nearly always a mistake of the configuration that can be named.

use std::io;

use kubewright_config::{Config, Origin, Setting};
use rustls::CertificateError as Refused;

/// What the server is checked against, as advice names it.
pub(crate) struct Trust {
    has_authority: bool,
    origin: Option<Origin>,
}

impl Trust {
    pub(crate) fn of(config: &Config) -> Self {
        Self {
            has_authority: config.tls.ca.is_some(),
            origin: config.origin(Setting::CertificateAuthority).cloned(),
        }
    }

    /// The advice for a failed handshake, where its reason allows one.
    pub(crate) fn hint(&self, error: &io::Error) -> Option<String> {
        let error = error.get_ref()?.downcast_ref::<rustls::Error>()?;
        match error {
            rustls::Error::InvalidCertificate(refused) => Some(self.certificate_hint(refused)),
            rustls::Error::InvalidMessage(_) => {
                Some("does the server speak TLS on this port?".to_owned())
            }
            _ => None,
        }
    }

    fn certificate_hint(&self, refused: &Refused) -> String {
        let of = match &self.origin {
            Some(origin) => format!(" ({origin})"),
            None => String::new(),
        };
        match refused {
            Refused::NotValidForName | Refused::NotValidForNameContext { .. } => {
                "the certificate is for another name; tls-server-name can say which".to_owned()
            }
            Refused::Expired
            | Refused::ExpiredContext { .. }
            | Refused::NotValidYet
            | Refused::NotValidYetContext { .. } => {
                "is this machine's clock right, and the server's certificate renewed?".to_owned()
            }
            // Many clusters name their authority "kubernetes", so a wrong one often shows in the signature only.
            Refused::UnknownIssuer | Refused::BadSignature if self.has_authority => {
                format!("is the certificate-authority{of} the one of this cluster?")
            }
            // The verifiers of some systems have reasons of their own.
            Refused::UnknownIssuer | Refused::BadSignature | Refused::Other(_)
                if !self.has_authority =>
            {
                format!(
                    "no certificate-authority is set{of}, so those of the system were used; set the one of this cluster"
                )
            }
            _ => {
                "the server's certificate has to be replaced by one that can be accepted".to_owned()
            }
        }
    }
}
