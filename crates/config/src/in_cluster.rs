//! Configuration of a process that runs in a pod: the API server's address is in the environment, the credentials of
//! the pod's service account are in files.

use std::io;

use crate::{
    config::{Config, Credentials},
    environment::{Environment, POD_NAMESPACE, SERVICE_HOST, SERVICE_PORT},
    error::{Error, Kind, Problem},
    material,
    origin::{Origin, Setting},
    server::join_host_port,
    token_file::TokenFile,
};

impl Config {
    /// The configuration of a pod's service account: client-go's `InClusterConfig`.
    ///
    /// # Errors
    /// See [`Environment::in_cluster_config`].
    pub fn in_cluster() -> Result<Self, Error> {
        Environment::process().in_cluster_config()
    }
}

impl Environment {
    /// The in-cluster configuration this environment describes.
    ///
    /// The token file is read once here, so that a broken mount is noticed at the start, and again by the client as
    /// the token is renewed. A missing `ca.crt` is logged and the system's authorities are used, as client-go does.
    ///
    /// # Errors
    /// [`is_not_in_cluster`](Error::is_not_in_cluster) where a variable or the token is missing, and
    /// [`is_invalid`](Error::is_invalid) where what is there cannot be used, or the environment asks for a proxy.
    pub fn in_cluster_config(&self) -> Result<Config, Error> {
        if let Some(missing) = self.why_not_in_cluster() {
            return Err(Kind::NotInCluster(missing).into());
        }
        let mut problems = Vec::new();
        let host = self.text(SERVICE_HOST, &mut problems);
        let port = self.text(SERVICE_PORT, &mut problems);
        let mut config = Config::new(format!("https://{}", join_host_port(&host, &port)));
        config.origins.insert(Setting::Server, Origin::variable(SERVICE_HOST));

        config.tls.ca = self.authority(&mut problems);
        config.origins.insert(
            Setting::CertificateAuthority,
            Origin::of_file(&self.service_account_file("ca.crt")),
        );

        let path = self.token_file();
        let token = TokenFile::new(&path);
        if let Err(failure) = token.token(std::time::Instant::now()) {
            problems.push(Problem::new(None, failure.to_string()));
        }
        config.credentials = Credentials::TokenFile(token);
        config.origins.insert(Setting::Credentials, Origin::of_file(&path));

        if let Some((namespace, origin)) = self.pod_namespace() {
            config.namespace = namespace;
            config.origins.insert(Setting::Namespace, origin);
        }
        problems.extend(config.contradictions());
        problems.extend(self.unsupported_proxy(&config));
        match problems.is_empty() {
            true => Ok(config),
            false => Err(Kind::Invalid(problems).into()),
        }
    }

    /// The namespace of the pod: `POD_NAMESPACE`, else the service account's, trimmed; `None` where neither says one.
    pub(crate) fn pod_namespace(&self) -> Option<(String, Origin)> {
        if let Some(namespace) = self.get(POD_NAMESPACE) {
            return Some((
                namespace.to_string_lossy().into_owned(),
                Origin::variable(POD_NAMESPACE),
            ));
        }
        let path = self.service_account_file("namespace");
        let bytes = material::read(&path)
            .inspect_err(
                |error| tracing::debug!(path = %path.display(), %error, "no namespace file"),
            )
            .ok()?;
        let content = String::from_utf8_lossy(&bytes);
        let namespace = content.trim();
        (!namespace.is_empty()).then(|| (namespace.to_owned(), Origin::of_file(&path)))
    }

    fn authority(&self, problems: &mut Vec<Problem>) -> Option<Vec<u8>> {
        let path = self.service_account_file("ca.crt");
        match material::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                tracing::warn!(path = %path.display(), "no certificate authority, using those of the system");
                None
            }
            Err(error) => {
                problems.push(
                    Problem::new(Some(Origin::of_file(&path)), "cannot be read").with_source(error),
                );
                None
            }
            Ok(bytes) => match material::check(material::Pem::Certificate, &bytes) {
                Ok(()) => Some(bytes),
                Err(why) => {
                    problems.push(Problem::new(Some(Origin::of_file(&path)), why));
                    None
                }
            },
        }
    }

    fn text(&self, name: &'static str, problems: &mut Vec<Problem>) -> String {
        match self.get(name).and_then(|value| value.to_str()) {
            Some(text) => text.trim().to_owned(),
            None => {
                problems.push(Problem::new(Some(Origin::variable(name)), "is not UTF-8 text"));
                String::new()
            }
        }
    }
}

#[cfg(test)]
#[path = "in_cluster_tests.rs"]
mod tests;
