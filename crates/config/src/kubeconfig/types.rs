//! The entries of a kubeconfig with all their fields, in Rust's spelling.
//!
//! An empty text in a file means the same as an absent field, as it does for `kubectl`, and is `None` here. Every
//! entry remembers the file it came from.

use std::{
    collections::BTreeMap,
    fmt,
    ops::{Deref, DerefMut},
    path::PathBuf,
};

use serde_json::Value;

use crate::{secret::Secret, server};

/// One kubeconfig, or several merged: named clusters, users and contexts, and which context is current.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Kubeconfig {
    /// API servers by name.
    pub clusters: BTreeMap<String, Cluster>,
    /// Who to call as, by name.
    pub users: BTreeMap<String, User>,
    /// Pairs of cluster and user, by name.
    pub contexts: BTreeMap<String, Context>,
    /// The context used where none is chosen.
    pub current_context: Option<String>,
    /// The file that set [`current_context`](Self::current_context).
    pub current_context_file: Option<PathBuf>,
    /// Settings of `kubectl`, without a meaning here.
    pub preferences: Preferences,
    /// Data of other programs.
    pub extensions: Extensions,
}

/// An API server (`clusters[].cluster`).
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Cluster {
    /// The address, `https://host:port`.
    pub server: Option<String>,
    /// The name expected in the server's certificate where it is not the host.
    pub tls_server_name: Option<String>,
    /// Do not check the server's certificate.
    pub insecure_skip_tls_verify: bool,
    /// A file with the PEM certificates of the authorities; absolute once loaded.
    pub certificate_authority: Option<PathBuf>,
    /// The same certificates inline, decoded from base64.
    pub certificate_authority_data: Option<Vec<u8>>,
    /// The proxy to use for all requests to this server. May hold a password, so `Debug` shows it without.
    pub proxy_url: Option<String>,
    /// Do not ask the server for compressed answers.
    pub disable_compression: bool,
    /// Data of other programs.
    pub extensions: Extensions,
    /// The file this entry stands in; `None` for one that was never in a file.
    pub file: Option<PathBuf>,
}

/// Who to call as (`users[].user`, client-go's `AuthInfo`).
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct User {
    /// A file with the PEM client certificate; absolute once loaded.
    pub client_certificate: Option<PathBuf>,
    /// The client certificate inline, decoded from base64.
    pub client_certificate_data: Option<Vec<u8>>,
    /// A file with the PEM private key of the client certificate; absolute once loaded.
    pub client_key: Option<PathBuf>,
    /// The private key inline, decoded from base64.
    pub client_key_data: Option<Secret>,
    /// A bearer token.
    pub token: Option<Secret>,
    /// A file with a bearer token, preferred to [`token`](Self::token); absolute once loaded.
    pub token_file: Option<PathBuf>,
    /// The user to act as (`as`).
    pub impersonate: Option<String>,
    /// The uid to act as (`as-uid`).
    pub impersonate_uid: Option<String>,
    /// The groups to act as (`as-groups`).
    pub impersonate_groups: Vec<String>,
    /// More facts about the user to act as (`as-user-extra`).
    pub impersonate_user_extra: BTreeMap<String, Vec<String>>,
    /// The name for basic authentication.
    pub username: Option<String>,
    /// The password for basic authentication.
    pub password: Option<Secret>,
    /// A built-in way to obtain credentials, such as `oidc`.
    pub auth_provider: Option<AuthProvider>,
    /// A program that obtains credentials.
    pub exec: Option<Exec>,
    /// Data of other programs.
    pub extensions: Extensions,
    /// The file this entry stands in; `None` for one that was never in a file.
    pub file: Option<PathBuf>,
}

/// A cluster, a user and a namespace under one name (`contexts[].context`).
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Context {
    /// The name of the cluster entry.
    pub cluster: Option<String>,
    /// The name of the user entry; none means anonymous.
    pub user: Option<String>,
    /// The namespace to use where none is named.
    pub namespace: Option<String>,
    /// Data of other programs.
    pub extensions: Extensions,
    /// The file this entry stands in; `None` for one that was never in a file.
    pub file: Option<PathBuf>,
}

/// The `auth-provider` of a user.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct AuthProvider {
    /// The provider's name, for example `oidc`.
    pub name: String,
    /// Its settings; they hold tokens and client secrets, so all of them are treated as secret.
    pub config: BTreeMap<String, Secret>,
}

/// The `exec` of a user: a program that prints credentials.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Exec {
    /// The version of the exchange, for example `client.authentication.k8s.io/v1`.
    pub api_version: Option<String>,
    /// The program. A relative path with a separator is absolute once loaded; a bare name is looked up on `PATH`.
    pub command: Option<String>,
    /// Arguments. They may hold secrets, so `Debug` shows only how many there are.
    pub args: Vec<String>,
    /// Variables added to the program's environment.
    pub env: Vec<ExecEnv>,
    /// What to tell a user who lacks the program.
    pub install_hint: Option<String>,
    /// Whether the program is told about the cluster.
    pub provide_cluster_info: bool,
    /// Whether the program may use the terminal: `Never`, `IfAvailable` or `Always`.
    pub interactive_mode: Option<String>,
}

/// A variable for an [`Exec`] program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExecEnv {
    /// The variable's name.
    pub name: String,
    /// Its value; programs are given secrets this way.
    pub value: Secret,
}

/// Settings of `kubectl` (`preferences`), long since moved elsewhere.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Preferences {
    /// Whether output is coloured.
    pub colors: bool,
    /// Data of other programs.
    pub extensions: Extensions,
}

/// Data of other programs by name, kept as it is. `Debug` shows the names only, for nobody knows what is in them.
#[derive(Clone, Default, PartialEq)]
pub struct Extensions(pub BTreeMap<String, Value>);

impl Deref for Extensions {
    type Target = BTreeMap<String, Value>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Extensions {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster")
            .field("server", &self.server.as_deref().map(server::redact))
            .field("tls_server_name", &self.tls_server_name)
            .field("insecure_skip_tls_verify", &self.insecure_skip_tls_verify)
            .field("certificate_authority", &self.certificate_authority)
            .field(
                "certificate_authority_data",
                &self.certificate_authority_data.as_ref().map(Vec::len),
            )
            .field("proxy_url", &self.proxy_url.as_deref().map(server::redact))
            .field("disable_compression", &self.disable_compression)
            .field("extensions", &self.extensions)
            .field("file", &self.file)
            .finish()
    }
}

impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("User")
            .field("client_certificate", &self.client_certificate)
            .field("client_certificate_data", &self.client_certificate_data.as_ref().map(Vec::len))
            .field("client_key", &self.client_key)
            .field("client_key_data", &self.client_key_data)
            .field("token", &self.token)
            .field("token_file", &self.token_file)
            .field("impersonate", &self.impersonate)
            .field("impersonate_uid", &self.impersonate_uid)
            .field("impersonate_groups", &self.impersonate_groups)
            .field("impersonate_user_extra", &self.impersonate_user_extra)
            .field("username", &self.username)
            .field("password", &self.password)
            .field("auth_provider", &self.auth_provider)
            .field("exec", &self.exec)
            .field("extensions", &self.extensions)
            .field("file", &self.file)
            .finish()
    }
}

impl fmt::Debug for Exec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exec")
            .field("api_version", &self.api_version)
            .field("command", &self.command)
            .field("args", &self.args.len())
            .field("env", &self.env)
            .field("install_hint", &self.install_hint)
            .field("provide_cluster_info", &self.provide_cluster_info)
            .field("interactive_mode", &self.interactive_mode)
            .finish()
    }
}
