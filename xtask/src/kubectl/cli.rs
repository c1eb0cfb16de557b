//! `cargo xtask kubectl`.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;

use clap::Args as ClapArgs;

use super::devserver::DevServer;
use super::runner::{Output, Runner};
use super::script::Step;
use super::{allowed, report, script};
use crate::controlplane::{self, ControlPlane};
use crate::error::{Context, Error, Result};
use crate::{signals, workspace};

/// Runs xtask/kubectl/commands.txt with kubectl ($KUBECTL) against both servers and compares.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// A server to compare instead of a newly started development server; it must be fresh
    #[arg(long, value_name = "FILE")]
    devserver_kubeconfig: Option<PathBuf>,
    /// A server to compare with instead of a newly started control plane; it must be fresh
    #[arg(long, value_name = "FILE")]
    real_kubeconfig: Option<PathBuf>,
    /// Print what each command says on the real control plane, as it is compared
    #[arg(long)]
    verbose: bool,
}

/// Fails if an output differs without a listed reason.
pub(crate) fn run(args: Args) -> Result<ExitCode> {
    let folder = workspace::root()?.join("xtask/kubectl");
    let read = |name: &str| {
        let path = folder.join(name);
        fs::read_to_string(&path).context(|| format!("cannot read {}", path.display()))
    };
    let steps = script::parse(&read("commands.txt")?)?;
    let allowed = allowed::parse(&read("allowed.txt")?, &steps)?;
    if args.real_kubeconfig.is_none() {
        controlplane::build()?;
    }
    // Between commands the flag is looked at; nobody needs the events.
    let (sender, _events) = mpsc::channel();
    signals::forward(sender, |signal| signal)?;

    let dev_server;
    let dev = match args.devserver_kubeconfig {
        Some(file) => file,
        None => {
            dev_server = DevServer::start()?;
            dev_server.kubeconfig()
        }
    };
    let plane;
    let real = match args.real_kubeconfig {
        Some(file) => file,
        None => {
            plane = ControlPlane::start(&controlplane::Options::default())?;
            plane.kubeconfig().to_path_buf()
        }
    };
    let mut runners = [Runner::new(&real, &folder)?, Runner::new(&dev, &folder)?];
    let [real, dev] = run_both(&mut runners, &steps)?;
    let outcomes: Vec<_> = steps
        .iter()
        .zip(real.iter().zip(&dev))
        .map(|(step, (real, dev))| report::compare(step, real, dev, &allowed))
        .collect();
    if args.verbose {
        report::print_real(&steps, &real)?;
    }
    report::print(&steps, &outcomes)?;
    if outcomes.iter().any(report::Outcome::is_failure) {
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// Both sides at the same time: neither waits for the other.
fn run_both(runners: &mut [Runner; 2], steps: &[Step]) -> Result<[Vec<Output>; 2]> {
    let [real, dev] = runners;
    thread::scope(|scope| {
        let real = scope.spawn(|| real.run(steps));
        let dev = dev.run(steps);
        let real = real
            .join()
            .map_err(|_| Error::new("running kubectl against the real control plane panicked"))?;
        Ok([real?, dev?])
    })
}
