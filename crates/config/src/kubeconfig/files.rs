//! Which kubeconfig files there are, and all of them read and merged.

use std::{
    env, fmt, io,
    path::{Path, PathBuf},
};

use zeroize::Zeroizing;

use super::{decode::decode, types::Kubeconfig, yaml};
use crate::{
    environment::KUBECONFIG,
    error::{Error, Kind, Problem},
    load::LoadOptions,
    material,
    origin::Origin,
};

/// What [`Kubeconfig::load`] found. One bad file does not hide the others.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Loaded {
    /// All files that could be read, merged.
    pub kubeconfig: Kubeconfig,
    /// The files that were read, in order of precedence.
    pub files: Vec<PathBuf>,
    /// The files that were listed and do not exist.
    pub missing: Vec<PathBuf>,
    /// What is odd, but hinders nothing.
    pub warnings: Vec<Warning>,
    /// The files that exist and could not be read or parsed, and why.
    pub problems: Vec<Problem>,
}

/// Something odd about the files.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// `KUBECONFIG` is set, and none of the files it lists exists.
    AllMissing(Vec<PathBuf>),
    /// The file has more than one YAML document; the first is read, the others are not, as with `kubectl`.
    MoreDocuments(PathBuf),
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AllMissing(files) if files.is_empty() => write!(f, "{KUBECONFIG} lists no file"),
            Self::AllMissing(files) => {
                let files: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
                write!(f, "none of the files in {KUBECONFIG} exists: {}", files.join(", "))
            }
            Self::MoreDocuments(file) => {
                write!(
                    f,
                    "{} has more than one YAML document; only the first is read",
                    file.display()
                )
            }
        }
    }
}

impl Kubeconfig {
    /// Reads and merges the files that `options` point to: the one named there, else those listed in `KUBECONFIG`,
    /// else `~/.kube/config`. Listed files that do not exist are skipped; a file that cannot be read or parsed is
    /// reported in [`Loaded::problems`] and the others are merged without it.
    ///
    /// # Errors
    /// Only that the file named in the options does not exist.
    pub fn load(options: &LoadOptions) -> Result<Loaded, Error> {
        let (files, from_variable) = match &options.path {
            Some(path) => (vec![path.clone()], false),
            None => listed(options),
        };
        let mut loaded = Loaded::default();
        for path in files {
            loaded.add(path);
        }
        if let Some(path) = &options.path
            && !loaded.missing.is_empty()
        {
            return Err(Kind::FileNotFound(path.clone()).into());
        }
        if from_variable && loaded.files.is_empty() && loaded.problems.is_empty() {
            loaded.warnings.push(Warning::AllMissing(loaded.missing.clone()));
        }
        Ok(loaded)
    }
}

impl Loaded {
    fn add(&mut self, path: PathBuf) {
        match read(&path) {
            Ok(None) => self.missing.push(path),
            Err(problem) => self.problems.push(problem),
            Ok(Some((kubeconfig, followed))) => {
                if followed {
                    self.warnings.push(Warning::MoreDocuments(path.clone()));
                }
                self.kubeconfig.merge(kubeconfig);
                self.files.push(path);
            }
        }
    }
}

/// The files to look at without an explicit one, and whether they came from `KUBECONFIG`.
fn listed(options: &LoadOptions) -> (Vec<PathBuf>, bool) {
    let Some(list) = options.environment.get(KUBECONFIG) else {
        return (options.environment.default_kubeconfig().into_iter().collect(), false);
    };
    let mut files = Vec::new();
    for path in env::split_paths(list) {
        if !path.as_os_str().is_empty() && !files.contains(&path) {
            files.push(path);
        }
    }
    (files, true)
}

/// One file with its paths resolved, and whether it holds more documents; `None` where it does not exist.
fn read(path: &Path) -> Result<Option<(Kubeconfig, bool)>, Problem> {
    let origin = || Some(Origin::of_file(path));
    let bytes = match material::read_bounded(path, yaml::MAX_BYTES) {
        Ok(bytes) => Zeroizing::new(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Problem::new(origin(), "cannot be read").with_source(error)),
    };
    let (mut kubeconfig, followed) = decode(&bytes).map_err(|why| Problem::new(origin(), why))?;
    let absolute = std::path::absolute(path).map_err(|error| {
        Problem::new(origin(), "cannot be made an absolute path").with_source(error)
    })?;
    kubeconfig.place_in(&absolute);
    Ok(Some((kubeconfig, followed)))
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
