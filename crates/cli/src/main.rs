//! The program `kubewright`: a development API server, and a demonstration of what the library does.

mod demo;
mod devserver;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tracing_subscriber::EnvFilter;

/// A Kubernetes toolkit: a development API server, and a demonstration.
///
/// Logs go to standard error and are chosen by RUST_LOG, such as RUST_LOG=kubewright=debug.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve a development API server on loopback until Ctrl-C or SIGTERM.
    Devserver(devserver::Arguments),
    /// Run the example controllers and tell what they do, step by step.
    Demo(demo::Arguments),
}

#[tokio::main]
async fn main() -> ExitCode {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
    let result = match Arguments::parse().command {
        Command::Devserver(arguments) => devserver::run(arguments).await,
        Command::Demo(arguments) => demo::run(arguments).await,
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("kubewright: {error}");
            let mut source = error.source();
            while let Some(cause) = source {
                eprintln!("  since: {cause}");
                source = cause.source();
            }
            ExitCode::FAILURE
        }
    }
}
