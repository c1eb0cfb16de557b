//! The kubeconfig of a control plane: self-contained, and marked with the folder it came from, so that
//! `restart-apiserver --kubeconfig FILE` finds the control plane behind a file.

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::certs::write_private;
use crate::error::{Context, Error, Result};

const FOLDER_MARK: &str = "# kubewright control plane in: ";

/// The text of a kubeconfig with one cluster, one administrator and one context.
pub(crate) fn text(folder: &Path, url: &str, ca_pem: &str, token: &str) -> String {
    let ca = STANDARD.encode(ca_pem);
    format!(
        "{FOLDER_MARK}{folder}
apiVersion: v1
kind: Config
clusters:
- name: controlplane
  cluster:
    server: {url}
    certificate-authority-data: {ca}
users:
- name: admin
  user:
    token: {token}
contexts:
- name: controlplane
  context:
    cluster: controlplane
    user: admin
current-context: controlplane
",
        folder = folder.display()
    )
}

/// Writes it so that a reader who waits for the file never sees half of it.
pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(format!(".{}.partial", std::process::id()));
    let partial = PathBuf::from(partial);
    write_private(&partial, text)?;
    fs::rename(&partial, path).context(|| format!("cannot write {}", path.display()))
}

/// The folder of the control plane a kubeconfig was written for.
pub(crate) fn folder_of(path: &Path) -> Result<PathBuf> {
    let text = fs::read_to_string(path).context(|| format!("cannot read {}", path.display()))?;
    text.lines()
        .find_map(|line| line.strip_prefix(FOLDER_MARK))
        .map(PathBuf::from)
        .ok_or_else(|| {
            Error::new(format!(
                "{} was not written by `cargo xtask controlplane`: it names no control plane's folder",
                path.display()
            ))
        })
}

#[cfg(test)]
#[path = "kubeconfig_tests.rs"]
mod tests;
