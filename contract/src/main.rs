//! Runs the checks against the server of the kubeconfig, as `cargo xtask conformance` does with a real control plane.

use std::process::ExitCode;

use clap::Parser;
use kubewright_client::Client;
use kubewright_config::Config;
use kubewright_contract::{Check, checks, run};

/// Checks what an API server does for a client. It creates namespaces and nodes, and removes them in the end.
#[derive(Parser)]
#[command(name = "kubewright-contract", version)]
struct Cli {
    /// Only checks whose name contains this
    #[arg(long, value_name = "NAME")]
    filter: Option<String>,
    /// So many checks at a time
    #[arg(long, value_name = "N", default_value_t = 8)]
    at_once: usize,
    /// Print the names of the checks and do nothing
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    match main_with(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn main_with(cli: Cli) -> Result<ExitCode, String> {
    let wanted = |check: &Check| cli.filter.as_ref().is_none_or(|part| check.name().contains(part));
    let checks: Vec<Check> = checks().into_iter().filter(wanted).collect();
    if cli.list {
        checks.iter().for_each(|check| println!("{}", check.name()));
        return Ok(ExitCode::SUCCESS);
    }
    if checks.is_empty() {
        return Err("no check has such a name; --list shows them".to_owned());
    }
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    let report = runtime.block_on(async {
        let config = Config::infer().map_err(|error| error.to_string())?;
        let client = Client::new(config).map_err(|error| error.to_string())?;
        run(&client, &checks, cli.at_once).await
    })?;
    println!("{report}");
    Ok(if report.is_success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
