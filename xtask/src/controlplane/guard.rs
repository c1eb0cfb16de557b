//! The last resort: a process that does nothing but wait for the supervisor's end.
//!
//! A supervisor that is killed with SIGKILL, or aborts, ends nothing by itself. The guard reads from a pipe whose other
//! end only the supervisor holds; the kernel closes it in every case, and then the guard ends what is left.

use std::env;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::teardown::{Folder, teardown};
use crate::error::{Context, Result};

/// The supervisor's hold on its guard.
pub(crate) struct Guard(Child);

impl Guard {
    /// Starts the guard of the control plane in `folder`.
    pub(crate) fn start(folder: &Path, kept: Folder) -> Result<Self> {
        // On Linux this works even after a newer build has replaced the file.
        let itself = Path::new("/proc/self/exe");
        let program = if itself.exists() {
            itself.to_path_buf()
        } else {
            env::current_exe().context(|| "cannot find this program's own file")?
        };
        let mut command = Command::new(program);
        command
            .args(["controlplane", "guard"])
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .process_group(0);
        if matches!(kept, Folder::Removed) {
            command.arg("--remove");
        }
        let child = command.spawn().context(|| "cannot start the control plane's guard")?;
        Ok(Self(child))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Closes the pipe.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// What the guard itself does.
pub(crate) fn watch(folder: PathBuf, kept: Folder) -> Result<()> {
    let mut ignored = [0_u8; 16];
    loop {
        match io::stdin().read(&mut ignored) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    teardown(&folder, kept)
}
