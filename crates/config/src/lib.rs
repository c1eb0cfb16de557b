//! Where the cluster is and who calls it.
//!
//! A [`Config`] is the finished answer: the server's address, how to recognise it, the credentials, the default
//! namespace. It is found as `kubectl` finds it:
//!
//! 1. the files listed in `KUBECONFIG`, else `~/.kube/config`, merged into one [`Kubeconfig`];
//! 2. the chosen context in it, or `current-context`;
//! 3. where that says nothing at all: the service account of the pod the process runs in.
//!
//! ```no_run
//! # fn main() -> Result<(), kubewright_config::Error> {
//! let config = kubewright_config::Config::infer()?;
//! println!("{} in namespace {}", config.server, config.namespace);
//! # Ok(())
//! # }
//! ```
//!
//! Errors name the file and the entry, and all problems of the chosen context come at once. Credentials are held as
//! [`Secret`] and show up in no `Debug` form and no error.
//!
//! # What a kubeconfig may hold
//! All fields are read, and entries that are not used may hold anything. In the *chosen* cluster and user these are
//! refused by name until they are supported, never ignored: `exec`, `auth-provider`, `username` and `password`, the
//! impersonation fields `as`, `as-uid`, `as-groups` and `as-user-extra`, `proxy-url`, and `disable-compression: true`.
//!
//! # Where this differs from client-go, and why
//! - Over plain `http` client-go drops credentials and TLS settings in silence, and calls go out anonymous; here that
//!   is an error ([`Config::validate`]). A token to a loopback address is sent.
//! - A context that names a missing cluster or user is an error; client-go takes empty ones, and so ends up
//!   anonymous, or in the pod's own cluster.
//! - An explicitly named file that has no current context is an error; client-go would go on to the pod's own
//!   cluster.
//! - A client key without a certificate is an error; client-go ignores it.
//!
//! # Proxies
//! They are not supported yet, and never ignored. Where `HTTPS_PROXY` (for an `http` server: `HTTP_PROXY`) would send
//! the calls to the chosen server through a proxy by Go's rules, loading fails with an error that says how to exempt
//! the server by `NO_PROXY`. Servers at `localhost` or a loopback address are always exempt, and a configuration made
//! by hand ([`Config::new`]) does not look at the environment.

mod config;
mod environment;
mod error;
mod in_cluster;
mod kubeconfig;
mod load;
mod material;
mod origin;
mod proxy;
mod resolve;
mod secret;
mod server;
mod token_file;

pub use self::{
    config::{ClientIdentity, Config, Credentials, TlsConfig},
    environment::Environment,
    error::{Error, Problem},
    kubeconfig::{
        AuthProvider, Cluster, Context, Exec, ExecEnv, Extensions, Kubeconfig, Loaded, Preferences,
        User, Warning,
    },
    load::LoadOptions,
    origin::{Origin, Setting},
    secret::Secret,
    token_file::{TokenCache, TokenFailure, TokenFile},
};
