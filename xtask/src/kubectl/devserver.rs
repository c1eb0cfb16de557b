//! The development server as its users start it: the `kubewright` program.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::controlplane::process::Process;
use crate::error::{Context, Error, Result};
use crate::programs::{self, Profile, Target};
use crate::signals;

const START_PATIENCE: Duration = Duration::from_secs(30);

/// A development server, ended when dropped.
pub(crate) struct DevServer {
    process: Process,
    folder: tempfile::TempDir,
}

impl DevServer {
    /// Builds the program and starts it on a free port.
    pub(crate) fn start() -> Result<Self> {
        let program = programs::build("kubewright-cli", Target::Bin, "kubewright", Profile::Dev)?;
        let folder = tempfile::tempdir().context(|| "cannot create a temporary folder")?;
        let kubeconfig = folder.path().join("kubeconfig");
        let argv = vec![
            program.display().to_string(),
            "devserver".to_owned(),
            "--port".to_owned(),
            "0".to_owned(),
            "--write-kubeconfig".to_owned(),
            kubeconfig.display().to_string(),
        ];
        let process = Process::start(argv, 0, &folder.path().join("devserver.log"))?;
        let server = Self { process, folder };
        server.wait_ready(&kubeconfig)?;
        Ok(server)
    }

    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.folder.path().join("kubeconfig")
    }

    fn wait_ready(&self, kubeconfig: &Path) -> Result<()> {
        let deadline = Instant::now() + START_PATIENCE;
        // It writes the file when it serves.
        while !kubeconfig.is_file() {
            let over = Instant::now() >= deadline || signals::stop_requested();
            if over || !self.process.is_running() {
                return Err(Error::new(format!(
                    "the development server did not start\n{}",
                    self.process.output_tail()
                )));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

impl Drop for DevServer {
    fn drop(&mut self) {
        if let Err(error) = self.process.kill() {
            eprintln!("warning: {}", error.with_causes());
        }
    }
}
