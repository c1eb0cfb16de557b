//! Ending a control plane, whoever does it and however often.

use std::fs;
use std::path::Path;

use rustix::process::Signal;

use super::process::{signal_group, signal_process};
use super::state::{self, LockedState};
use crate::error::{Context, Result};

/// What becomes of a control plane's folder after its end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Folder {
    /// The user named it: data and logs stay.
    Kept,
    /// It was made for this one run.
    Removed,
}

/// Ends every process the state file names and, where asked, removes the folder.
pub(crate) fn teardown(folder: &Path, kept: Folder) -> Result<()> {
    // Without a state file nothing was started, or another has been here and removed the folder.
    if state::read(folder).is_ok() {
        end_processes(folder)?;
    }
    if matches!(kept, Folder::Removed) && folder.exists() {
        fs::remove_dir_all(folder).context(|| format!("cannot remove {}", folder.display()))?;
    }
    Ok(())
}

fn end_processes(folder: &Path) -> Result<()> {
    let mut locked = LockedState::of(folder)?;
    locked.state.stopped = true;
    if let Some(command) = locked.state.command.take() {
        if command.leads_group {
            signal_group(command.pid, Signal::KILL);
        } else {
            signal_process(command.pid, Signal::KILL);
        }
    }
    locked.save()?;
    // Nothing is lost: what etcd has acknowledged is in its files, which outlive the process.
    locked.state.apiserver.signal(Signal::KILL);
    locked.state.etcd.signal(Signal::KILL);
    locked.state.apiserver.kill()?;
    locked.state.etcd.kill()
}
