//! What this crate reads from around the process, in one value, so that tests and unusual hosts can bring their own.

use std::{
    collections::BTreeMap,
    env,
    ffi::{OsStr, OsString},
    fmt,
    path::{Path, PathBuf},
};

pub(crate) const KUBECONFIG: &str = "KUBECONFIG";
pub(crate) const SERVICE_HOST: &str = "KUBERNETES_SERVICE_HOST";
pub(crate) const SERVICE_PORT: &str = "KUBERNETES_SERVICE_PORT";
pub(crate) const POD_NAMESPACE: &str = "POD_NAMESPACE";

/// The names of a proxy variable; the first that is set counts, as in Go.
pub(crate) const HTTPS_PROXY: [&str; 2] = ["HTTPS_PROXY", "https_proxy"];
pub(crate) const HTTP_PROXY: [&str; 2] = ["HTTP_PROXY", "http_proxy"];
pub(crate) const NO_PROXY: [&str; 2] = ["NO_PROXY", "no_proxy"];

const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// The environment a configuration is found in: a few variables, the home folder, the service account's folder.
///
/// The variables are `KUBECONFIG`, `KUBERNETES_SERVICE_HOST`, `KUBERNETES_SERVICE_PORT`, `POD_NAMESPACE`, and those of
/// proxies: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in upper or lower case. An empty one counts as unset.
#[derive(Clone)]
pub struct Environment {
    variables: BTreeMap<String, OsString>,
    home: Option<PathBuf>,
    service_account: PathBuf,
}

impl Environment {
    /// The environment of this process, as it is now.
    pub fn process() -> Self {
        let read = |name: &str| env::var_os(name).map(|value| (name.to_owned(), value));
        Self {
            variables: [KUBECONFIG, SERVICE_HOST, SERVICE_PORT, POD_NAMESPACE]
                .into_iter()
                .chain(HTTPS_PROXY)
                .chain(HTTP_PROXY)
                .chain(NO_PROXY)
                .filter_map(read)
                .collect(),
            home: env::home_dir().filter(|home| !home.as_os_str().is_empty()),
            service_account: SERVICE_ACCOUNT.into(),
        }
    }

    /// An environment with nothing in it: no variable, no home, and the usual service account folder.
    pub fn empty() -> Self {
        Self { variables: BTreeMap::new(), home: None, service_account: SERVICE_ACCOUNT.into() }
    }

    /// Sets a variable.
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// Sets the home folder, the one that holds `.kube/config`.
    pub fn home(mut self, folder: impl Into<PathBuf>) -> Self {
        self.home = Some(folder.into());
        self
    }

    /// Sets the folder with the service account's files `token`, `ca.crt` and `namespace`.
    pub fn service_account_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.service_account = folder.into();
        self
    }

    pub(crate) fn get(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(name).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// The first of the variables that is set.
    pub(crate) fn first_of(&self, names: [&'static str; 2]) -> Option<(&'static str, &OsStr)> {
        names.into_iter().find_map(|name| Some((name, self.get(name)?)))
    }

    pub(crate) fn default_kubeconfig(&self) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(".kube").join("config"))
    }

    pub(crate) fn service_account_file(&self, name: &str) -> PathBuf {
        self.service_account.join(name)
    }

    pub(crate) fn token_file(&self) -> PathBuf {
        self.service_account_file("token")
    }

    /// In-cluster configuration is possible with both variables set and a token file there: client-go's test.
    pub(crate) fn in_cluster_is_possible(&self) -> bool {
        self.why_not_in_cluster().is_none()
    }

    /// What is missing for in-cluster configuration, as the rest of a line.
    pub(crate) fn why_not_in_cluster(&self) -> Option<String> {
        for name in [SERVICE_HOST, SERVICE_PORT] {
            if self.get(name).is_none() {
                return Some(format!("{name} is not set"));
            }
        }
        let token = self.token_file();
        (!is_regular_file(&token)).then(|| format!("{} is not a file", token.display()))
    }
}

/// Variables by name only: the address of a proxy often holds a password.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("variables", &self.variables.keys())
            .field("home", &self.home)
            .field("service_account", &self.service_account)
            .finish()
    }
}

fn is_regular_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file())
}
