//! Running the list against one server.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::script::{Action, Step};
use crate::error::{Context, Error, Result};
use crate::signals;

/// No command of the list takes a second on a healthy server.
const PATIENCE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(5);

/// What kubectl said.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Output {
    /// `None` for a watch that was ended when it had said enough, or a command ended by a signal.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// It had to be killed.
    pub(crate) timed_out: bool,
}

/// One server's side of the comparison.
pub(crate) struct Runner {
    kubectl: OsString,
    kubeconfig: PathBuf,
    /// kubectl's working directory, with copies of the fixtures, and its home, so that it shares no cache with others.
    scratch: tempfile::TempDir,
    running: BTreeMap<String, Background>,
    started: usize,
}

struct Background {
    child: Started,
    total: usize,
}

/// A kubectl that has been started, and where it writes.
struct Started {
    child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
}

impl Runner {
    pub(crate) fn new(kubeconfig: &Path, fixtures: &Path) -> Result<Self> {
        let scratch = tempfile::tempdir().context(|| "cannot create a temporary folder")?;
        let failed = || format!("cannot copy the fixtures of {}", fixtures.display());
        for entry in fs::read_dir(fixtures).context(failed)? {
            let path = entry.context(failed)?.path();
            if path.extension().is_some_and(|extension| extension == "yaml") {
                let name = path.file_name().unwrap_or_default();
                fs::copy(&path, scratch.path().join(name)).context(failed)?;
            }
        }
        Ok(Self {
            kubectl: env::var_os("KUBECTL").unwrap_or_else(|| "kubectl".into()),
            kubeconfig: std::path::absolute(kubeconfig)
                .context(|| format!("cannot use {}", kubeconfig.display()))?,
            scratch,
            running: BTreeMap::new(),
            started: 0,
        })
    }

    /// All steps in order; one output each. The first failure of the machinery itself ends it.
    pub(crate) fn run(&mut self, steps: &[Step]) -> Result<Vec<Output>> {
        steps
            .iter()
            .map(|step| {
                if signals::stop_requested() {
                    return Err(Error::new("interrupted"));
                }
                self.step(&step.action)
            })
            .collect()
    }

    fn step(&mut self, action: &Action) -> Result<Output> {
        match action {
            Action::Run { args, save, .. } => {
                let mut started = self.start(args)?;
                let output = started.finish(PATIENCE)?;
                if let Some(file) = save {
                    let path = self.scratch.path().join(file);
                    fs::write(&path, &output.stdout)
                        .context(|| format!("cannot write {}", path.display()))?;
                }
                Ok(output)
            }
            Action::Begin { name, first, total, args } => {
                let child = self.start(args)?;
                let mut background = Background { child, total: *total };
                // What it fails to say in time shows in the output of `end`.
                background.child.wait_for_lines(*first)?;
                self.running.insert(name.clone(), background);
                Ok(Output { code: Some(0), ..Output::default() })
            }
            Action::End { name } => {
                let mut background = self
                    .running
                    .remove(name)
                    .ok_or_else(|| Error::new(format!("no command `{name}` was begun")))?;
                let said_all = background.child.wait_for_lines(background.total)?;
                let mut output = background.child.finish(Duration::ZERO)?;
                output.timed_out = !said_all;
                Ok(output)
            }
        }
    }

    fn start(&mut self, args: &[String]) -> Result<Started> {
        self.started += 1;
        let file = |kind: &str| self.scratch.path().join(format!(".{}.{kind}", self.started));
        let (stdout, stderr) = (file("stdout"), file("stderr"));
        let create =
            |path: &Path| File::create(path).context(|| format!("cannot write {}", path.display()));
        let child = Command::new(&self.kubectl)
            .args(args)
            .current_dir(self.scratch.path())
            .env("KUBECONFIG", &self.kubeconfig)
            .env("HOME", self.scratch.path())
            .stdin(Stdio::null())
            .stdout(create(&stdout)?)
            .stderr(create(&stderr)?)
            .spawn()
            .context(|| {
                format!("cannot run {}: install kubectl or set KUBECTL", self.kubectl.display())
            })?;
        Ok(Started { child, stdout, stderr })
    }
}

impl Started {
    /// Waits for its end, and brings it about when `patience` is over.
    fn finish(&mut self, patience: Duration) -> Result<Output> {
        let failed = || "cannot wait for kubectl";
        let deadline = Instant::now() + patience;
        let mut timed_out = false;
        let status = loop {
            if let Some(status) = self.child.try_wait().context(failed)? {
                break status;
            }
            if Instant::now() >= deadline {
                timed_out = true;
                self.child.kill().context(failed)?;
                break self.child.wait().context(failed)?;
            }
            thread::sleep(POLL);
        };
        Ok(Output {
            code: status.code(),
            stdout: read(&self.stdout)?,
            stderr: read(&self.stderr)?,
            timed_out,
        })
    }

    /// Whether it has printed that many lines before it ended or patience did.
    fn wait_for_lines(&mut self, lines: usize) -> Result<bool> {
        let deadline = Instant::now() + PATIENCE / 3;
        loop {
            let ended = self.child.try_wait().context(|| "cannot wait for kubectl")?.is_some();
            if read(&self.stdout)?.matches('\n').count() >= lines {
                return Ok(true);
            }
            if ended || Instant::now() >= deadline || signals::stop_requested() {
                return Ok(false);
            }
            thread::sleep(POLL);
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // Both fail only if it has ended and been waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(path: &Path) -> Result<String> {
    let bytes = fs::read(path).context(|| format!("cannot read {}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
