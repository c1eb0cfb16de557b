//! The decision between kubeconfig and in-cluster configuration: client-go's deferred loading.

use std::path::PathBuf;

use crate::{
    config::Config,
    environment::{Environment, KUBECONFIG},
    error::{Error, Kind},
    kubeconfig::{Kubeconfig, Loaded},
};

/// Where to look for a configuration, and what to choose from it.
///
/// The default looks where `kubectl` looks and takes the current context.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoadOptions {
    /// A kubeconfig file that must exist and is used alone (`kubectl --kubeconfig`). By default the files listed in
    /// `KUBECONFIG`, else `~/.kube/config`.
    pub path: Option<PathBuf>,
    /// The context to use in place of `current-context`. It must exist.
    pub context: Option<String>,
    /// The cluster entry to use in place of the context's. It must exist.
    pub cluster: Option<String>,
    /// The user entry to use in place of the context's. It must exist.
    pub user: Option<String>,
    /// The namespace to use in place of the context's.
    pub namespace: Option<String>,
    /// The environment to look around in; by default that of the process at the time the options were made.
    pub environment: Environment,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            path: None,
            context: None,
            cluster: None,
            user: None,
            namespace: None,
            environment: Environment::process(),
        }
    }
}

impl LoadOptions {
    /// Whether the caller chose an entry of a kubeconfig, so that in-cluster configuration would be the wrong answer.
    fn chooses_entries(&self) -> bool {
        [&self.context, &self.cluster, &self.user].into_iter().any(|choice| given(choice).is_some())
    }
}

/// What the caller gave; an empty text is as good as nothing.
pub(crate) fn given(choice: &Option<String>) -> Option<&str> {
    choice.as_deref().filter(|choice| !choice.is_empty())
}

impl Config {
    /// The configuration `kubectl` would use: kubeconfig where there is one, else the pod's service account.
    ///
    /// # Errors
    /// See [`load`](Self::load).
    pub fn infer() -> Result<Self, Error> {
        Self::load(&LoadOptions::default())
    }

    /// The current context of one kubeconfig file.
    ///
    /// # Errors
    /// See [`load`](Self::load).
    pub fn from_file(path: impl Into<PathBuf>) -> Result<Self, Error> {
        Self::load(&LoadOptions { path: Some(path.into()), ..LoadOptions::default() })
    }

    /// The configuration that `options` describe.
    ///
    /// The kubeconfig is used where a context is chosen or current. Where none is, and neither a file nor an entry
    /// was named in the options, the in-cluster configuration is used, if it is possible.
    ///
    /// A file that exists but cannot be read or parsed always fails the load, even where the chosen context stands in
    /// another file: a setting of the broken file might have come first. [`Kubeconfig::load`] gives what there is.
    ///
    /// # Errors
    /// - [`is_file_not_found`](Error::is_file_not_found): the file named in the options does not exist.
    /// - [`is_context_not_found`](Error::is_context_not_found): the chosen or current context does not exist.
    /// - [`is_empty`](Error::is_empty): there is nothing to use; the text lists what was tried.
    /// - [`is_invalid`](Error::is_invalid): files or entries are wrong; all problems are listed. Where the environment
    ///   asks for a proxy to the server, which is not supported yet, that is one of them.
    pub fn load(options: &LoadOptions) -> Result<Self, Error> {
        let loaded = Kubeconfig::load(options)?;
        for warning in &loaded.warnings {
            tracing::warn!(%warning, "loading kubeconfig");
        }
        if !loaded.problems.is_empty() {
            return Err(Kind::Files(loaded.problems).into());
        }
        let chosen = options.chooses_entries() || loaded.kubeconfig.current_context.is_some();
        if chosen {
            return loaded.kubeconfig.to_config(options);
        }
        if options.path.is_none() && options.environment.in_cluster_is_possible() {
            let mut config = options.environment.in_cluster_config()?;
            config.override_namespace(options)?;
            return Ok(config);
        }
        Err(nothing_to_use(options, loaded))
    }
}

/// The error of a first day: nothing was found, so say where was looked and what was there.
fn nothing_to_use(options: &LoadOptions, loaded: Loaded) -> Error {
    let environment = &options.environment;
    let mut tried = Vec::new();
    if options.path.is_none() && environment.get(KUBECONFIG).is_none() {
        tried.push(format!("{KUBECONFIG}: is not set"));
        if environment.default_kubeconfig().is_none() {
            tried.push("~/.kube/config: there is no home folder".to_owned());
        }
    }
    for path in &loaded.missing {
        tried.push(format!("{}: does not exist", path.display()));
    }
    for path in &loaded.files {
        tried.push(format!("{}: sets no current-context", path.display()));
    }
    if loaded.files.is_empty() && loaded.missing.is_empty() && environment.get(KUBECONFIG).is_some()
    {
        tried.push(format!("{KUBECONFIG}: lists no file"));
    }
    if options.path.is_none()
        && let Some(missing) = environment.why_not_in_cluster()
    {
        tried.push(format!("in-cluster configuration: {missing}"));
    }
    let known: Vec<String> = loaded.kubeconfig.contexts.into_keys().collect();
    match known.is_empty() {
        true => Kind::Nothing(tried).into(),
        false => Kind::NoContext { known, tried }.into(),
    }
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
