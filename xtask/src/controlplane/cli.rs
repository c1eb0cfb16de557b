//! `cargo xtask controlplane …`.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::{Args as ClapArgs, Subcommand};

use super::teardown::Folder;
use super::{ControlPlane, Ending, Options, binaries, guard, kubeconfig, supervise};
use crate::error::{Error, Result};
use crate::say::say;

/// The folder's name, for the commands of `run`.
const FOLDER_VARIABLE: &str = "KUBEWRIGHT_CONTROLPLANE_DIR";

/// A real control plane: etcd and kube-apiserver, no controllers, no scheduler, no nodes.
#[derive(ClapArgs)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Build both programs into the cache, unless they are there
    Build,
    /// Run a command with KUBECONFIG set, then stop everything and give the command's exit status
    Run(Run),
    /// Serve until Ctrl-C or SIGTERM
    Up(Up),
    /// Kill the API server and start it again on the same port and data
    RestartApiserver(Restart),
    /// End what is left when the supervisor's end of the pipe on stdin is closed
    #[command(hide = true)]
    Guard {
        folder: PathBuf,
        #[arg(long)]
        remove: bool,
    },
}

#[derive(ClapArgs)]
struct Start {
    /// Keep data, logs and state in this folder instead of a temporary one; an earlier run's data is used again
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// The API server's --runtime-config, like api/all=true
    #[arg(long, value_name = "CONFIG")]
    runtime_config: Option<String>,
    /// A further argument of the API server, like --extra-apiserver-arg=--v=4; may be repeated
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    extra_apiserver_arg: Vec<String>,
}

#[derive(ClapArgs)]
struct Run {
    #[command(flatten)]
    start: Start,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[derive(ClapArgs)]
struct Up {
    #[command(flatten)]
    start: Start,
    /// Write a kubeconfig here once the server is ready
    #[arg(long, value_name = "FILE")]
    write_kubeconfig: Option<PathBuf>,
}

#[derive(ClapArgs)]
struct Restart {
    /// The control plane's folder; else $KUBEWRIGHT_CONTROLPLANE_DIR, else the one $KUBECONFIG was written for
    #[arg(long, value_name = "DIR", conflicts_with = "kubeconfig")]
    dir: Option<PathBuf>,
    /// A kubeconfig that `up` or `run` has written
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// End it with SIGTERM and wait, instead of SIGKILL
    #[arg(long)]
    graceful: bool,
}

/// Does what was asked and tells the exit status.
pub(crate) fn run(args: Args) -> Result<ExitCode> {
    match args.action {
        Action::Build => build()?,
        Action::Run(args) => return run_command(args),
        Action::Up(args) => up(args)?,
        Action::RestartApiserver(args) => restart(args)?,
        Action::Guard { folder, remove } => {
            let kept = if remove { Folder::Removed } else { Folder::Kept };
            guard::watch(folder, kept)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn build() -> Result<()> {
    let binaries = binaries::ensure()?;
    say(binaries.etcd().display())?;
    say(binaries.kube_apiserver().display())?;
    Ok(())
}

fn run_command(args: Run) -> Result<ExitCode> {
    run_with(&args.start.into_options(), &args.command)
}

/// Runs a command on a control plane of its own, and gives the command's exit status.
pub(crate) fn run_with(options: &Options, command: &[OsString]) -> Result<ExitCode> {
    // Before the signals are taken over, so that Ctrl-C ends a build as usual.
    super::build()?;
    let (sender, events) = supervise::events()?;
    let plane = ControlPlane::start(options)?;
    let code = supervise::run(&plane, command, &sender, &events)?;
    drop(plane);
    Ok(ExitCode::from(code))
}

fn up(args: Up) -> Result<()> {
    super::build()?;
    let (_sender, events) = supervise::events()?;
    let started = Instant::now();
    let plane = ControlPlane::start(&args.start.into_options())?;
    let file = match args.write_kubeconfig {
        Some(file) => {
            kubeconfig::write(&file, &plane.kubeconfig_text())?;
            file
        }
        None => plane.kubeconfig().to_path_buf(),
    };
    say(format!(
        "Kubernetes {} is ready after {:.1} s at {}",
        plane.version(),
        started.elapsed().as_secs_f64(),
        plane.url()
    ))?;
    say(format!("  kubectl --kubeconfig {} get namespaces", file.display()))?;
    say(format!("  data, logs and state: {}", plane.dir().display()))?;
    say("Ctrl-C stops it.")?;
    supervise::serve(&plane, &events)
}

fn restart(args: Restart) -> Result<()> {
    let plane = ControlPlane::attach(&folder_of(&args)?)?;
    let started = Instant::now();
    plane.restart_apiserver(if args.graceful { Ending::Graceful } else { Ending::Killed })?;
    say(format!(
        "the API server at {} is ready again after {:.1} s",
        plane.url(),
        started.elapsed().as_secs_f64()
    ))?;
    Ok(())
}

fn folder_of(args: &Restart) -> Result<PathBuf> {
    let variable = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(dir) = &args.dir {
        return Ok(dir.clone());
    }
    if let Some(file) = &args.kubeconfig {
        return kubeconfig::folder_of(file);
    }
    if let Some(dir) = variable(FOLDER_VARIABLE) {
        return Ok(dir);
    }
    match variable("KUBECONFIG") {
        Some(file) => kubeconfig::folder_of(&file),
        None => Err(Error::new(format!(
            "which control plane? Give --dir or --kubeconfig, or set {FOLDER_VARIABLE} or KUBECONFIG"
        ))),
    }
}

impl Start {
    fn into_options(self) -> Options {
        Options {
            dir: self.dir,
            runtime_config: self.runtime_config,
            extra_apiserver_args: self.extra_apiserver_arg,
        }
    }
}
