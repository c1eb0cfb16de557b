//! Programs in the background that outlive the process which started them only on purpose.
//!
//! Each is the leader of its own process group, so that a Ctrl-C at the terminal does not reach it before its supervisor
//! decides. It is known by its pid *and* the time it was started: a pid that the kernel has given to another program since is
//! never signalled, and a dead one nobody has waited for does not count as running.

use std::fs::{self, OpenOptions};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde::{Deserialize, Serialize};

use crate::error::{Context, Error, Result};

const POLL: Duration = Duration::from_millis(10);

/// A program in the background, as the state file knows it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    /// When it was started, which tells it from a later process with the same pid.
    pub(crate) birth: String,
    /// The port it serves on.
    pub(crate) port: u16,
    pub(crate) argv: Vec<String>,
    pub(crate) log: PathBuf,
    /// Where in the log this start begins.
    pub(crate) log_from: u64,
}

impl Process {
    /// Starts `argv` with its output appended to `log`.
    pub(crate) fn start(argv: Vec<String>, port: u16, log: &Path) -> Result<Self> {
        let program = argv.first().cloned().unwrap_or_default();
        let open = || {
            OpenOptions::new()
                .create(true)
                .append(true)
                .open(log)
                .context(|| format!("cannot write {}", log.display()))
        };
        let (output, errors) = (open()?, open()?);
        let log_from = output.metadata().map_or(0, |metadata| metadata.len());
        let mut child = Command::new(&program)
            .args(argv.iter().skip(1))
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .process_group(0)
            .spawn()
            .context(|| format!("cannot start {program}"))?;
        let pid = child.id().cast_signed();
        // One that has ended already is not waited for yet, so its pid is nobody else's.
        let birth = birth(pid).unwrap_or_default();
        // Waited for at once, so that it does not stay as a zombie when another process ends it.
        thread::spawn(move || child.wait());
        Ok(Self { pid, birth, port, argv, log: log.to_path_buf(), log_from })
    }

    /// Starts the same again: the same arguments, port and log.
    pub(crate) fn start_again(&self) -> Result<Self> {
        Self::start(self.argv.clone(), self.port, &self.log)
    }

    pub(crate) fn is_running(&self) -> bool {
        birth(self.pid).is_some_and(|birth| birth == self.birth)
    }

    /// Sends a signal, if it still runs.
    pub(crate) fn signal(&self, signal: Signal) {
        if self.is_running() {
            signal_process(self.pid, signal);
        }
    }

    /// Whether it was gone within `patience`.
    pub(crate) fn wait_gone(&self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        while self.is_running() {
            if Instant::now() >= deadline {
                return false;
            }
            thread::sleep(POLL);
        }
        true
    }

    /// Ends it with SIGKILL and waits until it is gone.
    pub(crate) fn kill(&self) -> Result<()> {
        self.signal(Signal::KILL);
        if self.wait_gone(Duration::from_secs(10)) {
            return Ok(());
        }
        Err(Error::new(format!(
            "process {} ({}) survives SIGKILL",
            self.pid,
            self.argv.first().map_or("", String::as_str)
        )))
    }

    /// What it has written since this start.
    pub(crate) fn output(&self) -> String {
        let log = fs::read(&self.log).unwrap_or_default();
        let from = usize::try_from(self.log_from).unwrap_or(usize::MAX);
        String::from_utf8_lossy(log.get(from..).unwrap_or_default()).into_owned()
    }

    /// Whether it ended because another program has its port.
    pub(crate) fn lost_its_port(&self) -> bool {
        !self.is_running() && self.output().contains("address already in use")
    }

    /// The last lines of its output, for a person to read.
    pub(crate) fn output_tail(&self) -> String {
        const LINES: usize = 20;
        let output = self.output();
        let lines: Vec<&str> = output.lines().collect();
        let tail = &lines[lines.len().saturating_sub(LINES)..];
        format!("--- {} ---\n{}\n", self.log.display(), tail.join("\n"))
    }
}

/// Signals one process; that it is gone already is no error.
pub(crate) fn signal_process(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid).filter(|_| pid > 1) {
        // The only other failure is EPERM, and these processes are our own.
        let _ = kill_process(pid, signal);
    }
}

/// Signals all of a process group; that nobody is left in it is no error.
pub(crate) fn signal_group(leader: i32, signal: Signal) {
    if let Some(leader) = Pid::from_raw(leader).filter(|_| leader > 1) {
        let _ = kill_process_group(leader, signal);
    }
}

/// When a process that has not ended was started, in the words of the system; `None` for one that has, waited for or not.
fn birth(pid: i32) -> Option<String> {
    if Path::new("/proc/self/stat").exists() {
        return birth_in_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?);
    }
    let output =
        Command::new("ps").args(["-o", "state=,lstart=", "-p", &pid.to_string()]).output().ok()?;
    birth_from_ps(&String::from_utf8_lossy(&output.stdout))
}

/// Linux: `pid (name) state …`, the 20th word after the name being the start in clock ticks since boot.
fn birth_in_stat(stat: &str) -> Option<String> {
    // The name may hold anything, blanks and parentheses too.
    let (_, words) = stat.rsplit_once(')')?;
    let mut words = words.split_whitespace();
    let state = words.next()?;
    (!matches!(state, "Z" | "X")).then(|| words.nth(18).map(str::to_owned))?
}

/// Elsewhere: the state, then the date.
fn birth_from_ps(line: &str) -> Option<String> {
    let (state, started) = line.trim().split_once(' ')?;
    (!state.starts_with('Z')).then(|| started.trim().to_owned())
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;
