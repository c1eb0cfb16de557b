//! kube-apiserver and etcd, built from `tools/controlplane/go.mod` once and kept in the cache.
//!
//! The folder's name carries the Kubernetes release and a hash of the module files: another pin is another folder, and
//! what is in a folder never changes. It appears by one rename, when both programs are whole.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::error::{Context, Error, Result};
use crate::workspace;

const KUBERNETES: &str = "k8s.io/kubernetes";
const STAMPS: &str = "k8s.io/component-base/version";
const UNFINISHED: &str = ".unfinished-";

/// Where the two programs are.
pub(crate) struct Binaries {
    /// The release of Kubernetes, like `v1.37.2`.
    pub(crate) version: String,
    pub(crate) folder: PathBuf,
}

impl Binaries {
    pub(crate) fn etcd(&self) -> PathBuf {
        self.folder.join("etcd")
    }

    pub(crate) fn kube_apiserver(&self) -> PathBuf {
        self.folder.join("kube-apiserver")
    }

    fn are_built(&self) -> bool {
        self.etcd().is_file() && self.kube_apiserver().is_file()
    }
}

/// The programs of the pinned release, built now (some minutes) if the cache lacks them.
pub(crate) fn ensure() -> Result<Binaries> {
    let module = workspace::root()?.join("tools/controlplane");
    let shelf = workspace::cache()?.join("controlplane");
    let (version, hash) = pin(&module)?;
    let binaries = Binaries { folder: shelf.join(format!("{version}-{hash:016x}")), version };
    if binaries.are_built() {
        return Ok(binaries);
    }
    fs::create_dir_all(&shelf).context(|| format!("cannot create {}", shelf.display()))?;
    let _lock = lock(&shelf)?;
    if !binaries.are_built() {
        build(&module, &shelf, &binaries)?;
    }
    Ok(binaries)
}

/// The pinned release, and a hash of all that decides what is built.
fn pin(module: &Path) -> Result<(String, u64)> {
    let mut hash = Fnv::default();
    let mut read = |name: &str| {
        let path = module.join(name);
        let text =
            fs::read_to_string(&path).context(|| format!("cannot read {}", path.display()))?;
        hash.add(text.as_bytes());
        Ok(text)
    };
    let go_mod = read("go.mod")?;
    read("go.sum")?;
    let version = release_in(&go_mod).ok_or_else(|| {
        Error::new(format!("{}/go.mod requires no {KUBERNETES}", module.display()))
    })?;
    Ok((version.to_owned(), hash.0))
}

fn release_in(go_mod: &str) -> Option<&str> {
    go_mod.lines().find_map(|line| {
        let mut words = line.trim_start_matches("require").split_whitespace();
        (words.next()? == KUBERNETES).then(|| words.next()).flatten()
    })
}

/// Held while building: a second builder waits and then finds the work done.
fn lock(shelf: &Path) -> Result<File> {
    let path = shelf.join("build.lock");
    let failed = || format!("cannot lock {}", path.display());
    let file = File::options().create(true).append(true).open(&path).context(failed)?;
    if file.try_lock().is_err() {
        eprintln!("another build of the control plane is running: waiting for it");
        file.lock().context(failed)?;
    }
    Ok(file)
}

fn build(module: &Path, shelf: &Path, binaries: &Binaries) -> Result<()> {
    remove_unfinished(shelf)?;
    let unfinished = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .tempdir_in(shelf)
        .context(|| format!("cannot create a folder in {}", shelf.display()))?;
    eprintln!(
        "building etcd and kube-apiserver {} with Go: about 5 minutes on two cores, once",
        binaries.version
    );
    let started = Instant::now();
    let stamps = stamps(&binaries.version)?;
    go_build(module, unfinished.path(), "etcd", "go.etcd.io/etcd/server/v3", "")?;
    go_build(
        module,
        unfinished.path(),
        "kube-apiserver",
        "k8s.io/kubernetes/cmd/kube-apiserver",
        &stamps,
    )?;
    check_version(&unfinished.path().join("kube-apiserver"), &binaries.version)?;
    // A folder that lacks a program can only be left from a deletion by hand.
    if binaries.folder.exists() {
        fs::remove_dir_all(&binaries.folder)
            .context(|| format!("cannot replace {}", binaries.folder.display()))?;
    }
    fs::rename(unfinished.path(), &binaries.folder)
        .context(|| format!("cannot create {}", binaries.folder.display()))?;
    eprintln!("built in {:.0} s", started.elapsed().as_secs_f64());
    Ok(())
}

/// What an interrupted build left behind; the lock says that none is running.
fn remove_unfinished(shelf: &Path) -> Result<()> {
    let failed = || format!("cannot clear {}", shelf.display());
    for entry in fs::read_dir(shelf).context(failed)? {
        let entry = entry.context(failed)?;
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
            fs::remove_dir_all(entry.path()).context(failed)?;
        }
    }
    Ok(())
}

fn go_build(module: &Path, into: &Path, name: &str, package: &str, stamps: &str) -> Result<()> {
    let status = Command::new("go")
        .current_dir(module)
        .env("CGO_ENABLED", "0")
        .env("GOWORK", "off")
        .args(["build", "-mod=readonly", "-trimpath", "-ldflags"])
        .arg(format!("-s -w {stamps}"))
        .arg("-o")
        .arg(into.join(name))
        .arg(package)
        .status()
        .context(|| "cannot run `go`: install Go 1.26 or newer (https://go.dev/dl)")?;
    if status.success() {
        return Ok(());
    }
    Err(Error::new(format!(
        "`go build {package}` in {} failed ({status}); what it printed stands above",
        module.display()
    )))
}

/// The linker flags that make `/version` tell the release; unstamped, the server calls itself v0.0.0.
fn stamps(version: &str) -> Result<String> {
    let mut numbers = version.trim_start_matches('v').split('.');
    let (Some(major), Some(minor)) = (numbers.next(), numbers.next()) else {
        return Err(Error::new(format!("{version} is not a release of Kubernetes")));
    };
    Ok(format!(
        "-X {STAMPS}.gitVersion={version} -X {STAMPS}.gitMajor={major} -X {STAMPS}.gitMinor={minor}"
    ))
}

fn check_version(program: &Path, version: &str) -> Result<()> {
    let output = Command::new(program)
        .arg("--version")
        .output()
        .context(|| format!("cannot run {}", program.display()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    if said.trim() == format!("Kubernetes {version}") {
        return Ok(());
    }
    Err(Error::new(format!(
        "the kube-apiserver just built says `{}` where `Kubernetes {version}` is expected",
        said.trim()
    )))
}

/// FNV-1a: short, and the same on every machine and in every release of Rust.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
#[path = "binaries_tests.rs"]
mod tests;
