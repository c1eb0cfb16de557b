//! A real control plane on this machine: etcd and kube-apiserver as two processes on loopback.
//!
//! The truth that everything else is compared with. It has no controller manager and no scheduler: nothing is done to an
//! object but what the API server does itself.

mod binaries;
mod certs;
pub(crate) mod cli;
mod guard;
mod kubeconfig;
mod launch;
mod ports;
pub(crate) mod process;
mod ready;
mod state;
mod supervise;
mod teardown;

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use self::binaries::Binaries;
use self::certs::Certs;
use self::guard::Guard;
use self::ready::Probe;
use self::state::LockedState;
use self::teardown::{Folder, teardown};
use crate::error::{Context, Error, Result};
use crate::signals;

/// How long a start may take on a slow machine.
const START_PATIENCE: Duration = Duration::from_secs(120);
/// How long a graceful end of the API server may take: it first lets its watches run out.
const GRACE: Duration = Duration::from_secs(70);
const POLL: Duration = Duration::from_millis(25);

/// What may differ between control planes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    /// Where data, logs and state live; a temporary folder if absent.
    pub(crate) dir: Option<PathBuf>,
    /// The API server's `--runtime-config`, like `api/all=true`.
    pub(crate) runtime_config: Option<String>,
    /// Further arguments of the API server, after the usual ones.
    pub(crate) extra_apiserver_args: Vec<String>,
}

/// Builds the programs now, for chores that would rather wait before they begin anything else.
pub(crate) fn build() -> Result<()> {
    binaries::ensure().map(drop)
}

/// A control plane that serves. The one that started it ends it when dropped.
pub(crate) struct ControlPlane {
    dir: PathBuf,
    kubeconfig: PathBuf,
    url: String,
    version: String,
    token: String,
    ca_pem: String,
    owned: Option<Owned>,
}

/// What the one who started it holds.
struct Owned {
    kept: Folder,
    _guard: Guard,
}

/// How the API server is ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ending {
    /// SIGKILL: connections break, nothing is said goodbye to.
    Killed,
    /// SIGTERM, as an upgrade does it.
    Graceful,
}

impl ControlPlane {
    /// Starts one and waits until it is ready.
    pub(crate) fn start(options: &Options) -> Result<Self> {
        let binaries = binaries::ensure()?;
        let (dir, kept) = folder_for(options)?;
        let guard = Guard::start(&dir, kept)?;
        // From here on a failure ends what was started, by dropping this.
        let mut plane = Self {
            kubeconfig: dir.join("kubeconfig"),
            url: String::new(),
            version: binaries.version.clone(),
            token: String::new(),
            ca_pem: String::new(),
            dir,
            owned: Some(Owned { kept, _guard: guard }),
        };
        plane.bring_up(&binaries, options)?;
        Ok(plane)
    }

    /// The one another process has started in `dir`; dropping this does not end it.
    pub(crate) fn attach(dir: &Path) -> Result<Self> {
        let state = state::read(dir)?;
        let certs = Certs::ensure(&dir.join("pki"))?;
        Ok(Self {
            dir: dir.to_path_buf(),
            kubeconfig: dir.join("kubeconfig"),
            url: state.url,
            version: state.version,
            token: certs.token()?,
            ca_pem: certs.ca_pem()?,
            owned: None,
        })
    }

    /// The folder of its data, logs and state.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// A kubeconfig with all rights.
    pub(crate) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Where it serves, like `https://127.0.0.1:20001`.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The release of Kubernetes, like `v1.37.2`.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// Ends the API server; etcd and its data stay.
    pub(crate) fn kill_apiserver(&self, ending: Ending) -> Result<()> {
        let locked = LockedState::of(&self.dir)?;
        end_apiserver(&locked, ending)
    }

    /// Starts the API server again on the same port and data, and waits until it is ready.
    pub(crate) fn start_apiserver(&self) -> Result<()> {
        let mut locked = LockedState::of(&self.dir)?;
        self.respawn(&mut locked)?;
        drop(locked);
        self.wait_ready()
    }

    /// Both, one after the other.
    pub(crate) fn restart_apiserver(&self, ending: Ending) -> Result<()> {
        self.kill_apiserver(ending)?;
        self.start_apiserver()
    }

    fn bring_up(&mut self, binaries: &Binaries, options: &Options) -> Result<()> {
        let certs = Certs::ensure(&self.dir.join("pki"))?;
        self.token = certs.token()?;
        self.ca_pem = certs.ca_pem()?;
        self.url =
            launch::launch(&launch::Launch { binaries, certs: &certs, dir: &self.dir, options })?;
        self.wait_ready()?;
        kubeconfig::write(&self.kubeconfig, &self.kubeconfig_text())
    }

    /// The kubeconfig's text, for a file elsewhere.
    pub(crate) fn kubeconfig_text(&self) -> String {
        kubeconfig::text(&self.dir, &self.url, &self.ca_pem, &self.token)
    }

    fn respawn(&self, locked: &mut LockedState) -> Result<()> {
        if locked.state.stopped {
            return Err(Error::new(format!(
                "the control plane in {} has been stopped",
                self.dir.display()
            )));
        }
        if !locked.state.etcd.is_running() {
            return Err(Error::new(format!(
                "the etcd of the control plane in {} does not run",
                self.dir.display()
            )));
        }
        if locked.state.apiserver.is_running() {
            return Err(Error::new("the API server already runs"));
        }
        locked.state.apiserver = locked.state.apiserver.start_again()?;
        locked.save()
    }

    /// Waits for the API server, and starts it once more where another program had its port for a while.
    fn wait_ready(&self) -> Result<()> {
        let deadline = Instant::now() + START_PATIENCE;
        let probe = {
            let port = state::read(&self.dir)?.apiserver.port;
            Probe::new(port, &self.ca_pem, &self.token)?
        };
        loop {
            let state = state::read(&self.dir)?;
            let apiserver = &state.apiserver;
            if signals::stop_requested() {
                return Err(Error::new("interrupted while the API server was starting"));
            }
            if state.stopped {
                return Err(Error::new("the control plane was stopped meanwhile"));
            }
            let problem = if apiserver.lost_its_port() && Instant::now() < deadline {
                thread::sleep(Duration::from_secs(1));
                return self.start_apiserver();
            } else if !apiserver.is_running() {
                "the API server ended while starting"
            } else if probe.is_ready() {
                return Ok(());
            } else if Instant::now() >= deadline {
                "the API server did not become ready"
            } else {
                thread::sleep(POLL);
                continue;
            };
            let etcd_tail =
                if state.etcd.is_running() { String::new() } else { state.etcd.output_tail() };
            return Err(Error::new(format!("{problem}\n{etcd_tail}{}", apiserver.output_tail())));
        }
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        if let Some(owned) = &self.owned
            && let Err(error) = teardown(&self.dir, owned.kept)
        {
            eprintln!("warning: {}", error.with_causes());
        }
    }
}

fn end_apiserver(locked: &LockedState, ending: Ending) -> Result<()> {
    let apiserver = &locked.state.apiserver;
    if matches!(ending, Ending::Graceful) {
        apiserver.signal(Signal::TERM);
        if !apiserver.wait_gone(GRACE) {
            eprintln!(
                "warning: the API server still runs {} s after SIGTERM: killing it",
                GRACE.as_secs()
            );
        }
    }
    apiserver.kill()
}

fn folder_for(options: &Options) -> Result<(PathBuf, Folder)> {
    let Some(dir) = &options.dir else {
        let folder = tempfile::Builder::new()
            .prefix("kubewright-controlplane-")
            .tempdir()
            .context(|| "cannot create a temporary folder")?;
        return Ok((folder.keep(), Folder::Removed));
    };
    fs::create_dir_all(dir).context(|| format!("cannot create {}", dir.display()))?;
    let dir = dir.canonicalize().context(|| format!("cannot use {}", dir.display()))?;
    if state::is_live(&dir) {
        return Err(Error::new(format!("a control plane already runs in {}", dir.display())));
    }
    Ok((dir, Folder::Kept))
}
