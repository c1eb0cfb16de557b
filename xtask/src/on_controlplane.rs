//! Chores that run one of this workspace's programs on a real control plane.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Args as ClapArgs;

use crate::controlplane::{self, Options};
use crate::error::{Context, Result};
use crate::programs::{self, Profile, Target};

/// Arguments for the program itself.
#[derive(ClapArgs)]
pub(crate) struct Streams {
    /// How long it lasts, in seconds
    #[arg(long, value_name = "S", default_value_t = 60)]
    seconds: u64,
}

/// Arguments for the program itself.
#[derive(ClapArgs)]
pub(crate) struct Chaos {
    /// How many seeds to play
    #[arg(long, default_value_t = 20)]
    seeds: u64,
    /// The first seed
    #[arg(long, default_value_t = 1)]
    first_seed: u64,
}

/// Arguments for the program itself.
#[derive(ClapArgs)]
pub(crate) struct Conformance {
    /// Only checks whose name contains this
    #[arg(long, value_name = "NAME")]
    filter: Option<String>,
}

/// The story of `kubewright demo`, told on the real API server.
pub(crate) fn demo() -> Result<ExitCode> {
    let program = programs::build("kubewright-cli", Target::Bin, "kubewright", Profile::Release)?;
    // The shell knows the kubeconfig only once the control plane is up.
    let script = r#"exec "$0" demo --kubeconfig "$KUBECONFIG""#;
    run(vec!["sh".into(), "-c".into(), script.into(), program.into()])
}

/// 250 watches on one client, among them one that is never read, while calls go on.
pub(crate) fn streams(args: &Streams) -> Result<ExitCode> {
    let program =
        programs::build("kubewright-client", Target::Example, "streams", Profile::Release)?;
    run(vec![program.into(), "--seconds".into(), args.seconds.to_string().into()])
}

/// The API server killed between a create and its answer.
pub(crate) fn chaos(args: &Chaos) -> Result<ExitCode> {
    let program =
        programs::build("kubewright-chaos", Target::Bin, "kubewright-chaos", Profile::Dev)?;
    let restart = std::env::current_exe().context(|| "cannot tell which program this is")?;
    run(vec![
        program.into(),
        "--seeds".into(),
        args.seeds.to_string().into(),
        "--first-seed".into(),
        args.first_seed.to_string().into(),
        "--".into(),
        restart.into(),
        "controlplane".into(),
        "restart-apiserver".into(),
    ])
}

/// What an API server does for a client, asked of the reference.
pub(crate) fn conformance(args: &Conformance) -> Result<ExitCode> {
    let name = "kubewright-contract";
    let program = programs::build(name, Target::Bin, name, Profile::Dev)?;
    let mut command = vec![program.into()];
    if let Some(filter) = &args.filter {
        command.extend(["--filter".into(), filter.into()]);
    }
    run(command)
}

fn run(command: Vec<OsString>) -> Result<ExitCode> {
    controlplane::cli::run_with(&Options::default(), &command)
}
