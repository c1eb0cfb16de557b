//! From a kubeconfig and a choice to a [`Config`]: the entries of one context, checked together.
//!
//! All problems of the chosen entries are collected; entries that are not chosen are not looked at.

use std::{collections::BTreeMap, time::Instant};

use crate::{
    config::{ClientIdentity, Config, Credentials, check_token},
    error::{Error, Kind, Problem},
    kubeconfig::{Cluster, Context, Kubeconfig, User},
    load::{LoadOptions, given},
    material::{Material, Pem},
    origin::{EntryKind, Origin, Setting},
    secret::Secret,
    token_file::TokenFile,
};

impl Kubeconfig {
    /// The configuration of one context: the one named in the options, else the current one.
    ///
    /// The files that the chosen entries refer to are read here. The namespace is the options', else the context's,
    /// else that of the pod the process runs in, else `default`.
    ///
    /// # Errors
    /// - [`is_empty`](Error::is_empty): no context is chosen or current.
    /// - [`is_context_not_found`](Error::is_context_not_found): there is no context of that name.
    /// - [`is_invalid`](Error::is_invalid): with all problems of the chosen entries. One of them can be a proxy that
    ///   the environment asks for.
    pub fn to_config(&self, options: &LoadOptions) -> Result<Config, Error> {
        let chosen = self.choose(options)?;
        let mut problems = Vec::new();
        let mut config = Config::new("");
        let cluster = self.entry(
            Lookup { kind: EntryKind::Cluster, entries: &self.clusters, from: &chosen },
            given(&options.cluster),
            chosen.context.and_then(|context| context.cluster.as_deref()),
            &mut problems,
        );
        let user = self.entry(
            Lookup { kind: EntryKind::User, entries: &self.users, from: &chosen },
            given(&options.user),
            chosen.context.and_then(|context| context.user.as_deref()),
            &mut problems,
        );
        let server_known = cluster.is_some_and(|(_, cluster)| cluster.server.is_some());
        match cluster {
            Some((name, cluster)) => apply_cluster(&mut config, name, cluster, &mut problems),
            None if problems.iter().all(|problem| problem.field_name() != Some("cluster")) => {
                problems.push(Problem::field(
                    &chosen.origin,
                    "cluster",
                    "is not set, so there is no server to call",
                ));
            }
            None => {}
        }
        if let Some((name, user)) = user {
            apply_user(&mut config, name, user, &mut problems);
        }
        apply_namespace(&mut config, &chosen, options);
        problems.extend(
            config
                .contradictions()
                .into_iter()
                .filter(|problem| server_known || problem.field_name() != Some("server")),
        );
        problems.extend(options.environment.unsupported_proxy(&config));
        config.normalize_server();
        match problems.is_empty() {
            true => Ok(config),
            false => Err(Kind::Invalid(problems).into()),
        }
    }

    fn choose<'a>(&'a self, options: &'a LoadOptions) -> Result<Chosen<'a>, Error> {
        let (name, chosen_by) = match (given(&options.context), self.current_context.as_deref()) {
            (Some(name), _) => (name, Origin::caller()),
            (None, Some(name)) => {
                (name, Origin::current_context(self.current_context_file.as_deref()))
            }
            (None, None) if given(&options.cluster).is_some() => {
                return Ok(Chosen { context: None, origin: Origin::caller() });
            }
            (None, None) => {
                let known = self.contexts.keys().cloned().collect();
                return Err(Kind::NoContext {
                    known,
                    tried: vec!["current-context: is not set".to_owned()],
                }
                .into());
            }
        };
        match self.contexts.get(name) {
            Some(context) => {
                let origin = Origin::entry(EntryKind::Context, name, context.file.as_deref());
                Ok(Chosen { context: Some(context), origin })
            }
            None => {
                let known = self.contexts.keys().cloned().collect();
                Err(Kind::ContextNotFound { name: name.to_owned(), chosen_by, known }.into())
            }
        }
    }

    /// The entry the caller chose, else the one the context names.
    fn entry<'a, T>(
        &self,
        lookup: Lookup<'a, T>,
        by_caller: Option<&'a str>,
        by_context: Option<&'a str>,
        problems: &mut Vec<Problem>,
    ) -> Option<(&'a str, &'a T)> {
        let (name, origin) = match (by_caller, by_context) {
            (Some(name), _) => (name, Origin::caller()),
            (None, Some(name)) => (name, lookup.from.origin.clone()),
            (None, None) => return None,
        };
        let found = lookup.entries.get(name);
        if found.is_none() {
            let field = match lookup.kind {
                EntryKind::User => "user",
                _ => "cluster",
            };
            problems.push(Problem::field(
                &origin,
                field,
                format!("{name:?} does not exist in any loaded file"),
            ));
        }
        found.map(|entry| (name, entry))
    }
}

/// The context in use; none where the caller chose the cluster directly.
struct Chosen<'a> {
    context: Option<&'a Context>,
    origin: Origin,
}

struct Lookup<'a, T> {
    kind: EntryKind,
    entries: &'a BTreeMap<String, T>,
    from: &'a Chosen<'a>,
}

impl Config {
    /// Puts the caller's namespace in place of the one found.
    pub(crate) fn override_namespace(&mut self, options: &LoadOptions) -> Result<(), Error> {
        if let Some(namespace) = given(&options.namespace) {
            self.namespace = namespace.to_owned();
            self.origins.insert(Setting::Namespace, Origin::caller());
            self.validate()?;
        }
        Ok(())
    }
}

fn apply_namespace(config: &mut Config, chosen: &Chosen<'_>, options: &LoadOptions) {
    let of_context = || {
        let namespace = chosen.context?.namespace.clone()?;
        Some((namespace, chosen.origin.clone()))
    };
    let of_pod = || match options.environment.in_cluster_is_possible() {
        true => options.environment.pod_namespace(),
        false => None,
    };
    let by_caller =
        given(&options.namespace).map(|namespace| (namespace.to_owned(), Origin::caller()));
    if let Some((namespace, origin)) = by_caller.or_else(of_context).or_else(of_pod) {
        config.namespace = namespace;
        config.origins.insert(Setting::Namespace, origin);
    }
}

fn apply_cluster(config: &mut Config, name: &str, cluster: &Cluster, problems: &mut Vec<Problem>) {
    let origin = Origin::entry(EntryKind::Cluster, name, cluster.file.as_deref());
    refuse_unsupported(
        &origin,
        problems,
        [
            ("proxy-url", cluster.proxy_url.is_some()),
            ("disable-compression", cluster.disable_compression),
        ],
    );
    match &cluster.server {
        Some(server) => config.server = server.clone(),
        None => problems.push(Problem::field(&origin, "server", "is not set")),
    }
    let authority = Material {
        origin: &origin,
        what: Pem::Certificate,
        path_field: "certificate-authority",
        data_field: "certificate-authority-data",
        path: cluster.certificate_authority.as_deref(),
        data: cluster.certificate_authority_data.as_deref(),
    };
    config.tls.ca = authority.read(problems);
    config.tls.insecure_skip_tls_verify = cluster.insecure_skip_tls_verify;
    config.tls.server_name = cluster.tls_server_name.clone();
    for setting in [
        Setting::Server,
        Setting::CertificateAuthority,
        Setting::InsecureSkipTlsVerify,
        Setting::TlsServerName,
    ] {
        config.origins.insert(setting, origin.clone());
    }
}

fn apply_user(config: &mut Config, name: &str, user: &User, problems: &mut Vec<Problem>) {
    let origin = Origin::entry(EntryKind::User, name, user.file.as_deref());
    refuse_unsupported(
        &origin,
        problems,
        [
            ("exec", user.exec.is_some()),
            ("auth-provider", user.auth_provider.is_some()),
            ("username", user.username.is_some()),
            ("password", user.password.is_some()),
            ("as", user.impersonate.is_some()),
            ("as-uid", user.impersonate_uid.is_some()),
            ("as-groups", !user.impersonate_groups.is_empty()),
            ("as-user-extra", !user.impersonate_user_extra.is_empty()),
        ],
    );
    config.tls.client_identity = client_identity(&origin, user, problems);
    config.credentials = credentials(&origin, user, problems);
    config.origins.insert(Setting::ClientIdentity, origin.clone());
    config.origins.insert(Setting::Credentials, origin);
}

fn client_identity(
    origin: &Origin,
    user: &User,
    problems: &mut Vec<Problem>,
) -> Option<ClientIdentity> {
    let certificate = Material {
        origin,
        what: Pem::Certificate,
        path_field: "client-certificate",
        data_field: "client-certificate-data",
        path: user.client_certificate.as_deref(),
        data: user.client_certificate_data.as_deref(),
    };
    let key = Material {
        origin,
        what: Pem::PrivateKey,
        path_field: "client-key",
        data_field: "client-key-data",
        path: user.client_key.as_deref(),
        data: user.client_key_data.as_ref().map(Secret::expose),
    };
    match (certificate.is_given(), key.is_given()) {
        (true, false) => {
            problems.push(Problem::field(
                origin,
                "client-key",
                "is missing, but there is a client certificate",
            ));
        }
        (false, true) => {
            problems.push(Problem::field(
                origin,
                "client-certificate",
                "is missing, but there is a client key",
            ));
        }
        _ => {}
    }
    let certificate = certificate.read(problems);
    let key = key.read(problems).map(Secret::new);
    Some(ClientIdentity { certificate: certificate?, key: key? })
}

/// A token file is preferred to a token beside it, which then only serves until the file can be read.
fn credentials(origin: &Origin, user: &User, problems: &mut Vec<Problem>) -> Credentials {
    let token = user.token.as_ref().map(Secret::trimmed);
    if let Some(Err(why)) = token.as_ref().map(check_token) {
        problems.push(Problem::field(origin, "token", why));
        return Credentials::Anonymous;
    }
    let Some(path) = &user.token_file else {
        return token.map_or(Credentials::Anonymous, Credentials::Token);
    };
    let file = match token {
        Some(token) => TokenFile::new(path).with_initial(token),
        None => TokenFile::new(path),
    };
    if let Err(failure) = file.token(Instant::now()) {
        problems.push(Problem::field(origin, "tokenFile", failure.to_string()));
    }
    Credentials::TokenFile(file)
}

fn refuse_unsupported<const N: usize>(
    origin: &Origin,
    problems: &mut Vec<Problem>,
    fields: [(&'static str, bool); N],
) {
    for (field, is_set) in fields {
        if is_set {
            problems.push(Problem::unsupported(origin, field));
        }
    }
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;
