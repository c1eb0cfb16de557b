//! How a run went.

use std::fmt;

/// The outcome of a run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The names of the checks that passed, in the order of the run's checks.
    pub passed: Vec<&'static str>,
    /// Those that failed.
    pub failed: Vec<Failure>,
}

/// A check that failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Its name.
    pub check: &'static str,
    /// What was expected and what was seen.
    pub reason: String,
}

impl Report {
    /// Whether no check failed.
    pub fn is_success(&self) -> bool {
        self.failed.is_empty()
    }
}

/// Each failed check with its reason, and a last line `N passed, M failed`.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in &self.failed {
            writeln!(
                f,
                "FAILED {}\n    {}",
                failure.check,
                failure.reason.replace('\n', "\n    ")
            )?;
        }
        write!(f, "{} passed, {} failed", self.passed.len(), self.failed.len())
    }
}
