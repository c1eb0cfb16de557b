//! Relative paths in a kubeconfig are relative to the file that holds them, whatever the working directory is.

use std::path::{Component, Path, PathBuf, is_separator};

use super::types::Kubeconfig;

impl Kubeconfig {
    /// Makes every path absolute and notes the file in every entry. `file` must be absolute.
    pub(crate) fn place_in(&mut self, file: &Path) {
        let folder = file.parent().unwrap_or(file);
        let resolve = |path: &mut Option<PathBuf>| {
            if let Some(path) = path {
                *path = join(folder, path);
            }
        };
        for cluster in self.clusters.values_mut() {
            resolve(&mut cluster.certificate_authority);
            cluster.file = Some(file.to_owned());
        }
        for user in self.users.values_mut() {
            resolve(&mut user.client_certificate);
            resolve(&mut user.client_key);
            resolve(&mut user.token_file);
            if let Some(command) = user.exec.as_mut().and_then(|exec| exec.command.as_mut())
                && command.contains(is_separator)
            {
                *command = join(folder, Path::new(command.as_str())).to_string_lossy().into_owned();
            }
            user.file = Some(file.to_owned());
        }
        for context in self.contexts.values_mut() {
            context.file = Some(file.to_owned());
        }
        if self.current_context.is_some() {
            self.current_context_file = Some(file.to_owned());
        }
    }
}

/// `folder` with `path` after it, `.` and `..` resolved by their spelling, as `kubectl` does (so a symbolic link to the
/// folder does not matter). An absolute path stays as it is.
fn join(folder: &Path, path: &Path) -> PathBuf {
    if path.is_absolute() {
        return path.to_owned();
    }
    let mut joined = PathBuf::new();
    for part in folder.join(path).components() {
        match part {
            Component::CurDir => {}
            // At the root `pop` does nothing, which is what the root's parent is.
            Component::ParentDir => drop(joined.pop()),
            part => joined.push(part),
        }
    }
    joined
}

#[cfg(test)]
#[path = "paths_tests.rs"]
mod tests;
