//! The schema by which `kubewright-wire` reads protobuf: written by the Go program in `tools/schema`, kept in the repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use clap::Args as ClapArgs;

use crate::error::{Context, Error, Result};
use crate::say::say;
use crate::{programs, workspace};

const TOOL: &str = "tools/schema";
const SCHEMA: &str = "crates/wire/src/protobuf/schema.txt";
const SOURCE: &str = "# source: ";
/// All that decides what is written. The program itself counts too: what it knows of types changes as well.
const SOURCES: [&str; 7] =
    ["go.mod", "go.sum", "roots.txt", "main.go", "roots.go", "schema.go", "field.go"];

#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Write nothing; fail if the schema was made by another version of tools/schema. Needs no Go
    #[arg(long)]
    check: bool,
    /// Write nothing; read every object among the test data of k8s.io/api and compare with its JSON
    #[arg(long)]
    check_fixtures: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let root = workspace::root()?;
    let tool = root.join(TOOL);
    if args.check {
        check(&root.join(SCHEMA), &tool)?;
        say(format!("{SCHEMA} is up to date"))?;
    }
    if args.check_fixtures {
        check_fixtures(&tool)?;
    }
    if !args.check && !args.check_fixtures {
        write(&root.join(SCHEMA), &tool)?;
        say(format!("wrote {SCHEMA}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write(schema: &Path, tool: &Path) -> Result<()> {
    let body = go(tool, &["run", "."])?;
    let text = format!(
        "# Written by `cargo xtask schema`; the format is described in {TOOL}/README.md.\n{SOURCE}{}\n{body}",
        fingerprint(tool)?
    );
    fs::write(schema, text).context(|| format!("cannot write {}", schema.display()))
}

fn check(schema: &Path, tool: &Path) -> Result<()> {
    let text =
        fs::read_to_string(schema).context(|| format!("cannot read {}", schema.display()))?;
    let written = text.lines().find_map(|line| line.strip_prefix(SOURCE)).unwrap_or_default();
    let wanted = fingerprint(tool)?;
    if written == wanted {
        return Ok(());
    }
    Err(Error::new(format!(
        "{SCHEMA} is stale: it was made from {written:?}, and {TOOL} is {wanted:?}; run `cargo xtask schema`"
    )))
}

/// The module versions of Kubernetes for people, and a hash of the sources (FNV-1a) for machines.
fn fingerprint(tool: &Path) -> Result<String> {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut version = None;
    for name in SOURCES {
        let path = tool.join(name);
        let text =
            fs::read_to_string(&path).context(|| format!("cannot read {}", path.display()))?;
        if name == "go.mod" {
            version = api_version(&text).map(str::to_owned);
        }
        for byte in text.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    let version =
        version.ok_or_else(|| Error::new(format!("{TOOL}/go.mod requires no k8s.io/api")))?;
    Ok(format!("k8s.io/api {version}, {hash:016x}"))
}

fn api_version(go_mod: &str) -> Option<&str> {
    let line = |line: &'_ str| line.trim().starts_with("k8s.io/api ");
    go_mod.lines().find(|text| line(text))?.split_whitespace().nth(1)
}

/// The comparison itself is a test of `kubewright-wire` that only runs when asked for: it needs the module's files.
fn check_fixtures(tool: &Path) -> Result<()> {
    go(tool, &["mod", "download", "k8s.io/api"])?;
    let module = go(tool, &["list", "-m", "-f", "{{.Dir}}", "k8s.io/api"])?;
    let fixtures = PathBuf::from(module.trim()).join("testdata/HEAD");
    let folder = tempfile::tempdir().context(|| "cannot create a temporary folder")?;
    let schema = folder.path().join("all.txt");
    fs::write(&schema, go(tool, &["run", ".", "--all"])?)
        .context(|| format!("cannot write {}", schema.display()))?;
    let status = programs::cargo()?
        .args(["test", "--quiet", "--package", "kubewright-wire", "--lib", "fixtures"])
        .args(["--", "--ignored", "--nocapture"])
        .env("KUBEWRIGHT_FIXTURES", &fixtures)
        .env("KUBEWRIGHT_SCHEMA", &schema)
        .status()
        .context(|| "cannot run cargo")?;
    if status.success() {
        return Ok(());
    }
    Err(Error::new(format!("the codec differs from the fixtures in {}", fixtures.display())))
}

fn go(tool: &Path, arguments: &[&str]) -> Result<String> {
    let shown = format!("go {} in {TOOL}", arguments.join(" "));
    let output = Command::new("go")
        .current_dir(tool)
        .args(arguments)
        .stderr(Stdio::inherit())
        .output()
        .context(|| format!("cannot run {shown} (Go 1.26 or newer is needed)"))?;
    if !output.status.success() {
        return Err(Error::new(format!("{shown} failed: {}", output.status)));
    }
    String::from_utf8(output.stdout).context(|| format!("{shown} printed no text"))
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
