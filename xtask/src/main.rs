//! The project's own chores, run as `cargo xtask CHORE`: what a contributor or CI does that is not a plain `cargo test`.

mod controlplane;
mod error;
mod kubectl;
mod on_controlplane;
mod programs;
mod say;
mod schema;
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
    /// Tell the story of `kubewright demo` on a real control plane
    Demo,
    /// Hold 250 watches on one client of a real control plane while calls go on
    Streams(on_controlplane::Streams),
    /// Kill a real API server between creates and their answers, and count the pods at the end
    Chaos(on_controlplane::Chaos),
    /// Check on a real control plane what the development server is held to as well
    Conformance(on_controlplane::Conformance),
    /// Write the schema of Kubernetes' protobuf anew from the Go types, or check it
    Schema(schema::Args),
}

fn main() -> ExitCode {
    let done = match Cli::parse().chore {
        Chore::Controlplane(args) => controlplane::cli::run(args),
        Chore::Kubectl(args) => kubectl::cli::run(args),
        Chore::Demo => on_controlplane::demo(),
        Chore::Streams(args) => on_controlplane::streams(&args),
        Chore::Chaos(args) => on_controlplane::chaos(&args),
        Chore::Conformance(args) => on_controlplane::conformance(&args),
        Chore::Schema(args) => schema::run(&args),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {}", error.with_causes());
        ExitCode::FAILURE
    })
}
