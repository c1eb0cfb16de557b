//! Standing by a control plane until its time is over: that of a command, or until somebody says stop.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::ControlPlane;
use super::process::{signal_group, signal_process};
use super::state::{self, LockedState};
use crate::error::{Context, Error, Result};
use crate::signals;

/// How long a command that was asked to end may take.
const COMMAND_GRACE: Duration = Duration::from_secs(10);
const LOOK_AFTER: Duration = Duration::from_secs(2);

/// What can happen while standing by.
pub(crate) enum Event {
    Signal(Signal),
    Exited(ExitStatus),
}

/// The events of a supervisor, signals among them from now on.
pub(crate) fn events() -> Result<(Sender<Event>, Receiver<Event>)> {
    let (sender, receiver) = mpsc::channel();
    signals::forward(sender.clone(), Event::Signal)?;
    Ok((sender, receiver))
}

/// Runs a command with the control plane's kubeconfig and tells the exit status to pass on.
pub(crate) fn run(
    plane: &ControlPlane,
    command: &[OsString],
    sender: &Sender<Event>,
    events: &Receiver<Event>,
) -> Result<u8> {
    let mut running = Running::start(plane, command)?;
    let exited = sender.clone();
    let mut child = running.child.take();
    thread::spawn(move || {
        if let Some(Ok(status)) = child.as_mut().map(Child::wait) {
            // Nobody listens any more only when the process is ending anyway.
            let _ = exited.send(Event::Exited(status));
        }
    });
    let status = running.wait(events)?;
    // What the command left behind in its group ends with it.
    if running.leads_group {
        signal_group(running.pid, Signal::KILL);
    }
    let mut locked = LockedState::of(plane.dir())?;
    locked.state.command = None;
    locked.save()?;
    Ok(exit_code(status))
}

struct Running {
    child: Option<Child>,
    pid: i32,
    leads_group: bool,
}

impl Running {
    fn start(plane: &ControlPlane, command: &[OsString]) -> Result<Self> {
        let [program, args @ ..] = command else {
            return Err(Error::new("no command to run"));
        };
        // At a terminal it stays in the foreground group: it may read the keyboard, and Ctrl-C reaches it directly.
        let leads_group = !io::stdin().is_terminal();
        let mut builder = Command::new(program);
        builder
            .args(args)
            .env("KUBECONFIG", plane.kubeconfig())
            .env("KUBEWRIGHT_CONTROLPLANE_DIR", plane.dir());
        if leads_group {
            builder.process_group(0);
        }
        let mut locked = LockedState::of(plane.dir())?;
        let child = builder.spawn().context(|| format!("cannot run {}", program.display()))?;
        let pid = child.id().cast_signed();
        locked.state.command = Some(state::Command { pid, leads_group });
        locked.save()?;
        Ok(Self { child: Some(child), pid, leads_group })
    }

    /// Until the command has ended. A signal is passed on; after a while, or at the second one, the command is killed.
    fn wait(&self, events: &Receiver<Event>) -> Result<ExitStatus> {
        let mut kill_at: Option<Instant> = None;
        loop {
            let patience = kill_at.map_or(Duration::from_secs(3600), |at| {
                at.saturating_duration_since(Instant::now())
            });
            match events.recv_timeout(patience) {
                Ok(Event::Exited(status)) => return Ok(status),
                Ok(Event::Signal(_)) if kill_at.is_some() => self.signal(Signal::KILL),
                Ok(Event::Signal(signal)) => {
                    kill_at = Some(Instant::now() + COMMAND_GRACE);
                    // Ctrl-C has reached it already where it shares the terminal.
                    if self.leads_group || signal != Signal::INT {
                        self.signal(signal);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    if kill_at.is_some_and(|at| at <= Instant::now()) {
                        self.signal(Signal::KILL);
                        kill_at = Some(Instant::now() + COMMAND_GRACE);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::new("the command's end cannot be observed"));
                }
            }
        }
    }

    fn signal(&self, signal: Signal) {
        if self.leads_group {
            signal_group(self.pid, signal);
        } else {
            signal_process(self.pid, signal);
        }
    }
}

/// As a shell tells it: 128 and the number of the signal that ended the command.
fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
    u8::try_from(code).unwrap_or(1)
}

/// Serves until a signal comes. An etcd that ends by itself is an error; an API server may be restarted from outside.
pub(crate) fn serve(plane: &ControlPlane, events: &Receiver<Event>) -> Result<()> {
    // A restart is under way for a moment: only what is still so at the next look is told.
    let (mut seen, mut told) = (None, None);
    loop {
        match events.recv_timeout(LOOK_AFTER) {
            Ok(_) => return Ok(()),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Error::new("signals cannot be observed"));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let state = state::read(plane.dir())?;
        if state.stopped {
            return Ok(());
        }
        if !state.etcd.is_running() {
            return Err(Error::new(format!("etcd has ended\n{}", state.etcd.output_tail())));
        }
        if state.apiserver.is_running() {
            continue;
        }
        let ended = Some(state.apiserver.pid);
        if seen == ended && told != ended {
            told = ended;
            eprintln!(
                "the API server has ended; start it again with\n  cargo xtask controlplane restart-apiserver --dir {}",
                plane.dir().display()
            );
        }
        seen = ended;
    }
}

#[cfg(test)]
#[path = "supervise_tests.rs"]
mod tests;
