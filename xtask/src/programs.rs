//! Programs of this workspace, built when a chore needs them.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::error::{Context, Error, Result};
use crate::workspace;

/// How a program is built.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    /// As `cargo test` builds, so that CI builds once.
    Dev,
    /// Where speed is what is looked at.
    Release,
}

/// What kind of program it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Bin,
    Example,
}

/// Builds the program `name` of `package`, and tells where it is.
pub(crate) fn build(
    package: &str,
    target: Target,
    name: &str,
    profile: Profile,
) -> Result<PathBuf> {
    let mut command = cargo()?;
    let flag = if target == Target::Bin { "--bin" } else { "--example" };
    command.args(["build", "--package", package, flag, name]);
    command.args((profile == Profile::Release).then_some("--release"));
    command.arg("--message-format=json-render-diagnostics");
    let output = command.stderr(Stdio::inherit()).output().context(|| "cannot run cargo")?;
    if !output.status.success() {
        return Err(Error::new(format!("cannot build {name} of {package}")));
    }
    executable_in(&String::from_utf8_lossy(&output.stdout), name)
        .ok_or_else(|| Error::new(format!("cargo built no program named {name} in {package}")))
}

/// Cargo, in the repository, as a person would start it.
pub(crate) fn cargo() -> Result<Command> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(workspace::root()?);
    // What cargo says about xtask would make build scripts that look at it, such as ring's, run again.
    for (name, _) in std::env::vars_os() {
        let starts = |prefix| name.to_string_lossy().starts_with(prefix);
        if starts("CARGO_PKG_") || starts("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    Ok(command)
}

/// Cargo tells where it put the program, whatever the target folder.
fn executable_in(messages: &str, name: &str) -> Option<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["target"]["name"] == name)
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
}

#[cfg(test)]
#[path = "programs_tests.rs"]
mod tests;
