//! The program `kubewright`: a development API server, and a demonstration of what the library does.

mod demo;
mod devserver;

use std::error::Error;
use std::io::IsTerminal;
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
        .with_ansi(std::io::stderr().is_terminal())
        .init();
    let result = match Arguments::parse().command {
        Command::Devserver(arguments) => devserver::run(arguments).await,
        Command::Demo(arguments) => demo::run(arguments).await,
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", told(error.as_ref()));
            ExitCode::FAILURE
        }
    }
}

/// An error with its causes, without those whose text stands in what comes before.
fn told(error: &dyn Error) -> String {
    let mut text = format!("kubewright: {error}");
    let mut source = error.source();
    while let Some(cause) = source {
        let said = cause.to_string();
        if !text.contains(&said) {
            text.push_str("\n  caused by: ");
            text.push_str(&said);
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;

    #[derive(Debug)]
    struct Layer(&'static str, Option<Box<Layer>>);

    impl fmt::Display for Layer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Layer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.1.as_ref().map(|inner| inner.as_ref() as _)
        }
    }

    #[test]
    fn causes_are_told_once() {
        let refused = Layer("connection refused", None);
        let dial = Layer("cannot dial: connection refused", Some(refused.into()));
        let error = Layer("no version", Some(dial.into()));
        assert_eq!(
            told(&error),
            "kubewright: no version\n  caused by: cannot dial: connection refused"
        );
    }
}
