//! The command lines of etcd and kube-apiserver, and starting both on ports that are free.

use std::path::Path;
use std::thread;
use std::time::Instant;

use super::binaries::Binaries;
use super::certs::Certs;
use super::process::Process;
use super::state::{LockedState, State};
use super::{Options, POLL, START_PATIENCE, ports};
use crate::error::{Error, Result};
use crate::signals;

/// Another program must take a chosen port this often, in the milliseconds between, before the start is given up.
const ATTEMPTS: usize = 5;

/// What a start needs.
pub(crate) struct Launch<'a> {
    pub(crate) binaries: &'a Binaries,
    pub(crate) certs: &'a Certs,
    pub(crate) dir: &'a Path,
    pub(crate) options: &'a Options,
}

/// Starts both, writes the state file, and returns the API server's URL; it need not be ready yet.
pub(crate) fn launch(launch: &Launch<'_>) -> Result<String> {
    for _ in 0..ATTEMPTS {
        let [client, peer, secure] = ports::free()?;
        let log = |name: &str| launch.dir.join(name);
        let etcd = Process::start(launch.etcd_argv(client, peer), client, &log("etcd.log"))?;
        let url = format!("https://127.0.0.1:{secure}");
        // Written at once, without the API server's pid: whatever happens now, the guard finds etcd in it.
        let mut locked = LockedState::begin(
            launch.dir,
            State {
                version: launch.binaries.version.clone(),
                url: url.clone(),
                stopped: false,
                etcd,
                apiserver: Process {
                    pid: 0,
                    birth: String::new(),
                    port: secure,
                    argv: launch.apiserver_argv(client, secure),
                    log: log("apiserver.log"),
                    log_from: 0,
                },
                command: None,
            },
        )?;
        if !etcd_serves(&locked.state.etcd)? {
            continue;
        }
        locked.state.apiserver = locked.state.apiserver.start_again()?;
        locked.save()?;
        return Ok(url);
    }
    Err(Error::new(format!("etcd found its ports taken {ATTEMPTS} times in a row")))
}

/// Waits until etcd itself says that it serves; `false` if another program took a port first. Asking the port would not
/// do: the other program may be somebody else's etcd.
fn etcd_serves(etcd: &Process) -> Result<bool> {
    let deadline = Instant::now() + START_PATIENCE;
    loop {
        let output = etcd.output();
        if signals::stop_requested() {
            return Err(Error::new("interrupted while etcd was starting"));
        }
        let problem = if output.contains("ready to serve client requests") {
            return Ok(true);
        } else if etcd.lost_its_port() {
            return Ok(false);
        } else if !etcd.is_running() {
            "etcd ended while starting"
        } else if Instant::now() >= deadline {
            "etcd did not become ready"
        } else {
            thread::sleep(POLL);
            continue;
        };
        return Err(Error::new(format!("{problem}\n{}", etcd.output_tail())));
    }
}

impl Launch<'_> {
    fn etcd_argv(&self, client: u16, peer: u16) -> Vec<String> {
        let client = format!("http://127.0.0.1:{client}");
        let peer = format!("http://127.0.0.1:{peer}");
        vec![
            self.binaries.etcd().display().to_string(),
            format!("--data-dir={}", self.dir.join("etcd").display()),
            format!("--listen-client-urls={client}"),
            format!("--advertise-client-urls={client}"),
            format!("--listen-peer-urls={peer}"),
            format!("--initial-advertise-peer-urls={peer}"),
            format!("--initial-cluster=default={peer}"),
            // The data is for tests: it need not outlive the machine, only the process.
            "--unsafe-no-fsync".to_owned(),
            "--quota-backend-bytes=8589934592".to_owned(),
        ]
    }

    fn apiserver_argv(&self, etcd: u16, secure: u16) -> Vec<String> {
        let certs = self.certs;
        let file = |flag: &str, path: &Path| format!("--{flag}={}", path.display());
        let mut argv = vec![
            self.binaries.kube_apiserver().display().to_string(),
            format!("--etcd-servers=http://127.0.0.1:{etcd}"),
            "--bind-address=127.0.0.1".to_owned(),
            format!("--secure-port={secure}"),
            file("cert-dir", &self.dir.join("pki")),
            file("tls-cert-file", &certs.serving_certificate()),
            file("tls-private-key-file", &certs.serving_key()),
            file("token-auth-file", &certs.tokens()),
            file("service-account-key-file", &certs.service_account_public_key()),
            file("service-account-signing-key-file", &certs.service_account_key()),
            "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
            "--service-cluster-ip-range=10.96.0.0/16".to_owned(),
            "--authorization-mode=RBAC".to_owned(),
            // Without a controller manager no namespace has a service account, and no pod would be admitted.
            "--disable-admission-plugins=ServiceAccount".to_owned(),
            "--max-requests-inflight=3000".to_owned(),
            "--max-mutating-requests-inflight=1000".to_owned(),
        ];
        if let Some(config) = &self.options.runtime_config {
            argv.push(format!("--runtime-config={config}"));
        }
        argv.extend(self.options.extra_apiserver_args.iter().cloned());
        argv
    }
}
