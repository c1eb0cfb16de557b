//! Where the repository and its caches are on this machine.

use std::env;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The root of the repository: the parent of this package's folder.
///
/// Cargo tells it at run time; the folder it was built in serves a binary that is started directly.
pub(crate) fn root() -> Result<PathBuf> {
    let package = env::var_os("CARGO_MANIFEST_DIR")
        .map(PathBuf::from)
        .filter(|folder| folder.ends_with("xtask"))
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
    match package.parent() {
        Some(root) if root.join("Cargo.toml").is_file() => Ok(root.to_path_buf()),
        _ => Err(Error::new(format!(
            "cannot find the repository above {}: run this as `cargo xtask`",
            package.display()
        ))),
    }
}

/// Where built things are kept between runs: `$KUBEWRIGHT_CACHE`, else `$XDG_CACHE_HOME/kubewright`, else `~/.cache/kubewright`.
pub(crate) fn cache() -> Result<PathBuf> {
    cache_from(|name| env::var_os(name).map(PathBuf::from))
}

fn cache_from(variable: impl Fn(&str) -> Option<PathBuf>) -> Result<PathBuf> {
    let absolute = |name: &str| variable(name).filter(|path| path.is_absolute());
    if let Some(chosen) = variable("KUBEWRIGHT_CACHE").filter(|path| path != Path::new("")) {
        return std::path::absolute(&chosen).map_err(|error| {
            Error::new(format!("KUBEWRIGHT_CACHE is not a usable path: {error}"))
        });
    }
    absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
        .map(|caches| caches.join("kubewright"))
        .ok_or_else(|| Error::new("no place for a cache: set KUBEWRIGHT_CACHE or HOME"))
}

#[cfg(test)]
#[path = "workspace_tests.rs"]
mod tests;
