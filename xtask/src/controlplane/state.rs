//! The state file of a control plane: which processes are its own now. Several programs change it (the supervisor, and
//! `restart-apiserver` beside it), each while it holds the lock.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::process::Process;
use crate::error::{Context, Error, Result};

/// What is written down.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct State {
    /// The release of Kubernetes, like `v1.37.2`.
    pub(crate) version: String,
    /// Where the API server is, like `https://127.0.0.1:20001`.
    pub(crate) url: String,
    /// Set before the processes are ended, after which none may be started any more.
    pub(crate) stopped: bool,
    pub(crate) etcd: Process,
    pub(crate) apiserver: Process,
    /// The command it is up for.
    pub(crate) command: Option<Command>,
}

/// The command of `controlplane run`.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct Command {
    pub(crate) pid: i32,
    /// Whether it leads a process group of its own.
    pub(crate) leads_group: bool,
}

/// The state of the control plane in a folder, with the right to change it.
pub(crate) struct LockedState {
    file: PathBuf,
    pub(crate) state: State,
    // Released when dropped.
    _lock: File,
}

impl LockedState {
    /// Waits for the lock, then reads.
    pub(crate) fn of(folder: &Path) -> Result<Self> {
        let lock = lock(folder)?;
        Ok(Self { file: file_in(folder), state: read(folder)?, _lock: lock })
    }

    /// Writes the state of a control plane that has none yet, or only that of an earlier run.
    pub(crate) fn begin(folder: &Path, state: State) -> Result<Self> {
        let locked = Self { file: file_in(folder), state, _lock: lock(folder)? };
        locked.save()?;
        Ok(locked)
    }

    /// Replaces the file as a whole.
    pub(crate) fn save(&self) -> Result<()> {
        let failed = || format!("cannot write {}", self.file.display());
        let text = serde_json::to_vec_pretty(&self.state).context(failed)?;
        let partial = self.file.with_extension("partial");
        fs::write(&partial, text).context(failed)?;
        fs::rename(&partial, &self.file).context(failed)
    }
}

/// The state as it is at this moment.
pub(crate) fn read(folder: &Path) -> Result<State> {
    let file = file_in(folder);
    let text = fs::read(&file).map_err(|error| {
        Error::new(format!(
            "no control plane in {}: cannot read {}: {error}",
            folder.display(),
            file.display()
        ))
    })?;
    serde_json::from_slice(&text).context(|| format!("{} is damaged", file.display()))
}

/// Whether a control plane in this folder is still running.
pub(crate) fn is_live(folder: &Path) -> bool {
    read(folder).is_ok_and(|state| state.etcd.is_running() || state.apiserver.is_running())
}

fn file_in(folder: &Path) -> PathBuf {
    folder.join("controlplane.json")
}

fn lock(folder: &Path) -> Result<File> {
    let path = folder.join("controlplane.lock");
    let failed = || format!("cannot lock {}", path.display());
    let file = File::options().create(true).append(true).open(&path).context(failed)?;
    file.lock().context(failed)?;
    Ok(file)
}
