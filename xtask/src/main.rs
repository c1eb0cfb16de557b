//! The project's own chores, run as `cargo xtask CHORE`: what a contributor or CI does that is not a plain `cargo test`.

mod controlplane;
mod error;
mod kubectl;
mod say;
mod signals;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The chores of the project.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version)]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Build, run and restart a real kube-apiserver with etcd, from Go modules
    Controlplane(controlplane::cli::Args),
    /// Run kubectl against the development server and a real control plane, and compare what it says
    Kubectl(kubectl::cli::Args),
}

fn main() -> ExitCode {
    let done = match Cli::parse().chore {
        Chore::Controlplane(args) => controlplane::cli::run(args),
        Chore::Kubectl(args) => kubectl::cli::run(args),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {}", error.with_causes());
        ExitCode::FAILURE
    })
}
