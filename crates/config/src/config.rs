//! The finished answer of this crate: where the API server is, and as whom to call it.

use std::{collections::BTreeMap, fmt, time::Duration};

use http::Uri;

use crate::{
    error::{Error, Kind, Problem},
    origin::{Origin, Setting},
    secret::Secret,
    server::{self, ServerUrl},
    token_file::TokenFile,
};

/// How to reach an API server and as whom: client-go's `rest.Config`.
///
/// Made by [`Config::infer`] and its kin, or by hand with [`Config::new`] and the public fields.
#[derive(Clone)]
#[non_exhaustive]
pub struct Config {
    /// The server's address, `https://host:port` with an optional base path. Loaded configurations hold the normal
    /// form; [`base_url`](Self::base_url) makes it from any other.
    pub server: String,
    /// The namespace to use where none is named; never empty, `default` by default.
    pub namespace: String,
    /// How the server is recognised, and the certificate shown to it.
    pub tls: TlsConfig,
    /// What is sent to the server to say who calls.
    pub credentials: Credentials,
    /// The `User-Agent`; `None` lets the client use its own.
    pub user_agent: Option<String>,
    /// A limit for each request that is not a watch; `None`, the default, leaves it to the client (60 s).
    pub timeout: Option<Duration>,
    pub(crate) origins: BTreeMap<Setting, Origin>,
}

/// The TLS part of a [`Config`].
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TlsConfig {
    /// PEM certificates of the authorities the server is checked against; `None` means those of the system.
    pub ca: Option<Vec<u8>>,
    /// Do not check the server's certificate at all. Cannot stand together with [`ca`](Self::ca).
    pub insecure_skip_tls_verify: bool,
    /// The name expected in the server's certificate, and sent as SNI, where it is not the host of the address.
    pub server_name: Option<String>,
    /// The certificate that says who calls, and its key.
    pub client_identity: Option<ClientIdentity>,
}

/// A client certificate with its key.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientIdentity {
    /// The certificate chain as PEM.
    pub certificate: Vec<u8>,
    /// The private key as PEM.
    pub key: Secret,
}

/// What is sent with each request to say who calls. A client certificate is in [`TlsConfig`] and may come on top.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Credentials {
    /// Nothing: `system:anonymous`, or the client certificate alone.
    #[default]
    Anonymous,
    /// A bearer token that stays as it is.
    Token(Secret),
    /// A file with a bearer token, read again as it is renewed (service accounts do so every hour).
    TokenFile(TokenFile),
}

impl Config {
    /// The name of the namespace that is used where nothing names one.
    pub const DEFAULT_NAMESPACE: &'static str = "default";

    /// A configuration for `server` with nothing else set. The address is checked by [`validate`](Self::validate).
    pub fn new(server: impl Into<String>) -> Self {
        Self {
            server: server.into(),
            namespace: Self::DEFAULT_NAMESPACE.to_owned(),
            tls: TlsConfig::default(),
            credentials: Credentials::Anonymous,
            user_agent: None,
            timeout: None,
            origins: BTreeMap::new(),
        }
    }

    /// The server's address in its normal form: scheme, authority, and the base path without a slash at its end
    /// (a bare host gives the path `/`, as every [`Uri`] has one).
    ///
    /// # Errors
    /// The address has another scheme than http or https, no host, user information, a bad port, or cannot be parsed.
    pub fn base_url(&self) -> Result<Uri, Error> {
        let url = self.server_url().map_err(|problem| Kind::Invalid(vec![problem]))?;
        url.as_str().parse().map_err(|_| {
            Kind::Invalid(vec![self.problem(Setting::Server, "server", "is not an address")]).into()
        })
    }

    /// Where a setting came from; `None` for what the caller set on a hand-made configuration.
    pub fn origin(&self, setting: Setting) -> Option<&Origin> {
        self.origins.get(&setting)
    }

    /// Checks that the parts fit together; loaded configurations have passed, clients call it for hand-made ones.
    ///
    /// Over plain `http` nothing that needs TLS can have an effect, so a certificate authority, a server name or a
    /// client certificate is refused (client-go ignores them in silence). A token would travel readable: it is
    /// refused too, except to a loopback address, where it stays in this machine. (client-go drops it in silence, and
    /// the calls go out anonymous.)
    ///
    /// # Errors
    /// All problems together, see [`Error::problems`].
    pub fn validate(&self) -> Result<(), Error> {
        let problems = self.contradictions();
        match problems.is_empty() {
            true => Ok(()),
            false => Err(Kind::Invalid(problems).into()),
        }
    }

    pub(crate) fn contradictions(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        match self.server_url() {
            Err(problem) => problems.push(problem),
            Ok(url) if url.is_https() => {}
            Ok(url) => self.check_plain_http(&url, &mut problems),
        }
        if self.tls.insecure_skip_tls_verify && self.tls.ca.is_some() {
            problems.push(self.problem(
                Setting::CertificateAuthority,
                "insecure-skip-tls-verify",
                "is set together with a certificate authority; keep one of them",
            ));
        }
        if let Err(why) = check_namespace(&self.namespace) {
            problems.push(self.problem(Setting::Namespace, "namespace", why));
        }
        if let Credentials::Token(token) = &self.credentials
            && let Err(why) = check_token(token)
        {
            problems.push(self.problem(Setting::Credentials, "token", why));
        }
        problems
    }

    /// Puts the server's address into its normal form, if it has one.
    pub(crate) fn normalize_server(&mut self) {
        if let Ok(url) = self.server_url() {
            self.server = url.as_str().to_owned();
        }
    }

    pub(crate) fn server_url(&self) -> Result<ServerUrl, Problem> {
        ServerUrl::parse(&self.server, self.tls.is_configured())
            .map_err(|why| self.problem(Setting::Server, "server", why))
    }

    fn check_plain_http(&self, url: &ServerUrl, problems: &mut Vec<Problem>) {
        let unused =
            "has no effect over plain http; use https:// in the server's address or remove it";
        if self.tls.ca.is_some() {
            problems.push(self.problem(
                Setting::CertificateAuthority,
                "certificate-authority",
                unused,
            ));
        }
        if self.tls.server_name.is_some() {
            problems.push(self.problem(Setting::TlsServerName, "tls-server-name", unused));
        }
        if self.tls.client_identity.is_some() {
            problems.push(self.problem(Setting::ClientIdentity, "client-certificate", unused));
        }
        if !matches!(self.credentials, Credentials::Anonymous) && !url.is_loopback() {
            problems.push(self.problem(
                Setting::Credentials,
                "token",
                format!(
                    "would be sent readable to {}; use https:// in the server's address",
                    url.as_str()
                ),
            ));
        }
    }

    fn problem(
        &self,
        setting: Setting,
        field: &'static str,
        message: impl Into<String>,
    ) -> Problem {
        let origin = self.origins.get(&setting).cloned().unwrap_or_else(Origin::caller);
        Problem::field(&origin, field, message)
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("server", &server::redact(&self.server))
            .field("namespace", &self.namespace)
            .field("tls", &self.tls)
            .field("credentials", &self.credentials)
            .field("user_agent", &self.user_agent)
            .field("timeout", &self.timeout)
            .field("origins", &self.origins)
            .finish()
    }
}

// PEM is shown by its length: it is long, and now and then a key stands beside the certificate.
impl fmt::Debug for TlsConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsConfig")
            .field("ca_bytes", &self.ca.as_ref().map(Vec::len))
            .field("insecure_skip_tls_verify", &self.insecure_skip_tls_verify)
            .field("server_name", &self.server_name)
            .field("client_identity", &self.client_identity)
            .finish()
    }
}

impl fmt::Debug for ClientIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientIdentity")
            .field("certificate_bytes", &self.certificate.len())
            .field("key", &self.key)
            .finish()
    }
}

impl TlsConfig {
    /// Whether any setting says that the server is meant to speak TLS; decides for an address without a scheme.
    fn is_configured(&self) -> bool {
        self.ca.is_some() || self.insecure_skip_tls_verify || self.client_identity.is_some()
    }
}

/// A namespace is a DNS label (RFC 1123). The error is the rest of a sentence that begins with `namespace`.
pub(crate) fn check_namespace(namespace: &str) -> Result<(), String> {
    let inner = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit();
    let bytes = namespace.as_bytes();
    let fits = (1..=63).contains(&bytes.len())
        && bytes.iter().all(|&c| inner(c) || c == b'-')
        && inner(bytes[0])
        && inner(bytes[bytes.len() - 1]);
    match fits {
        true => Ok(()),
        false => Err(format!(
            "{namespace:?} is not a name a namespace can have: up to 63 lower case letters, digits and '-', with a letter or digit at both ends"
        )),
    }
}

/// A token goes into an HTTP header. The error is the rest of a sentence that begins with `token`.
pub(crate) fn check_token(token: &Secret) -> Result<(), &'static str> {
    let bytes = token.expose();
    if bytes.trim_ascii().is_empty() {
        return Err("is blank");
    }
    match bytes.iter().all(|&c| (0x21..=0x7e).contains(&c)) {
        true => Ok(()),
        false => Err("contains white space or characters that an HTTP header cannot carry"),
    }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
