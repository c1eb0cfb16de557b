//! Kills the API server between the create of a pod and its answer, and starts it again, while the example
//! controllers run: at the end there must be exactly as many pods as asked for.
//!
//! Everything that varies follows from the seed: how many pods, which create is struck, and when. A create
//! without answer may have been carried out or not; a controller that counts wrongly ends with a pod too many or
//! too few.

mod round;
mod strike;

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;
use kubewright::client::Client;
use kubewright::config::Config;
use tracing_subscriber::EnvFilter;

type BoxError = Box<dyn Error + Send + Sync>;

/// Kills the API server of the kubeconfig in force at awkward moments; `cargo xtask chaos` runs it.
#[derive(Parser)]
struct Arguments {
    /// How many seeds to play, from --first-seed on.
    #[arg(long, default_value_t = 20)]
    seeds: u64,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    first_seed: u64,
    /// The command that kills the API server, starts it again, and ends once it is ready.
    #[arg(last = true, required = true)]
    restart: Vec<String>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("error"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let arguments = Arguments::parse();
    let client = match Config::infer().map_err(BoxError::from).and_then(|c| Ok(Client::new(c)?)) {
        Ok(client) => client,
        Err(error) => {
            eprintln!("chaos: {error}");
            return ExitCode::FAILURE;
        }
    };
    let (mut passed, mut failed) = (0, 0);
    for seed in arguments.first_seed..arguments.first_seed + arguments.seeds {
        match round::play(&client, seed, &arguments.restart).await {
            Ok(told) => {
                passed += 1;
                println!("seed {seed}: {told}");
            }
            Err(error) => {
                failed += 1;
                println!("seed {seed}: FAILED: {error}");
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
