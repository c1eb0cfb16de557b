//! Comparing the two sides and telling the outcome.

use std::collections::BTreeSet;

use super::allowed::Allowed;
use super::diff::unified;
use super::normalise::normalise;
use super::runner::Output;
use super::script::{Action, Compare, Expect, Step};
use crate::error::Result;
use crate::say::say;

/// What became of one command.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Outcome {
    Same,
    /// Different, and listed.
    Allowed {
        reason: String,
    },
    /// Listed, but the same.
    Stale,
    Different {
        diff: String,
    },
    /// The real control plane did not answer as the list says: the list is wrong.
    Unexpected {
        said: String,
    },
}

impl Outcome {
    fn word(&self) -> &'static str {
        match self {
            Self::Same => "ok",
            Self::Allowed { .. } => "allowed",
            Self::Stale => "stale",
            Self::Different { .. } => "DIFFERENT",
            Self::Unexpected { .. } => "UNEXPECTED",
        }
    }

    /// Whether the chore fails for it.
    pub(crate) fn is_failure(&self) -> bool {
        matches!(self, Self::Different { .. } | Self::Unexpected { .. })
    }
}

/// Compares what both servers made kubectl say to one command.
pub(crate) fn compare(step: &Step, real: &Output, dev: &Output, allowed: &Allowed) -> Outcome {
    if let Some(said) = unexpected(step, real) {
        return Outcome::Unexpected { said };
    }
    let (real, dev) = (text_of(real), text_of(dev));
    let subset = matches!(step.action, Action::Run { compare: Compare::Subset, .. });
    let diff = if subset { missing_lines(&real, &dev) } else { unified(&real, &dev) };
    match (diff.is_empty(), allowed.get(&step.line)) {
        (true, None) => Outcome::Same,
        (true, Some(_)) => Outcome::Stale,
        (false, Some(reason)) => Outcome::Allowed { reason: reason.clone() },
        (false, None) => Outcome::Different { diff },
    }
}

fn unexpected(step: &Step, real: &Output) -> Option<String> {
    let as_expected = match &step.action {
        Action::Run { expect, .. } => {
            !real.timed_out && (real.code == Some(0)) == (*expect == Expect::Success)
        }
        Action::Begin { .. } | Action::End { .. } => !real.timed_out,
    };
    (!as_expected).then(|| text_of(real))
}

fn text_of(output: &Output) -> String {
    let code = match (output.timed_out, output.code) {
        (true, _) => "did not end or say enough in time".to_owned(),
        (false, Some(code)) => format!("exit status {code}"),
        (false, None) => "ended by a signal".to_owned(),
    };
    format!(
        "{}--- standard error\n{}--- {code}\n",
        normalise(&output.stdout),
        normalise(&output.stderr)
    )
}

/// The development server's lines that the real one does not have.
fn missing_lines(real: &str, dev: &str) -> String {
    let known: BTreeSet<&str> = real.lines().collect();
    dev.lines().filter(|line| !known.contains(line)).map(|line| format!("+{line}\n")).collect()
}

/// Prints what the real control plane made kubectl say, without what is taken out.
pub(crate) fn print_real(steps: &[Step], outputs: &[Output]) -> Result<()> {
    for (step, output) in steps.iter().zip(outputs) {
        say(format!("=== {}\n{}", step.line, text_of(output)))?;
    }
    Ok(())
}

/// Prints the table, then the diffs, then the sum.
pub(crate) fn print(steps: &[Step], outcomes: &[Outcome]) -> Result<()> {
    for (step, outcome) in steps.iter().zip(outcomes) {
        say(format!("{:<10}  {}", outcome.word(), step.line))?;
    }
    for (step, outcome) in steps.iter().zip(outcomes) {
        match outcome {
            Outcome::Different { diff } => {
                say(format!(
                    "\n=== {}\n--- real control plane\n+++ development server\n{diff}",
                    step.line
                ))?;
            }
            Outcome::Unexpected { said } => {
                say(format!(
                    "\n=== {}\nthe real control plane did not answer as commands.txt expects:\n{said}",
                    step.line
                ))?;
            }
            Outcome::Allowed { reason } => {
                say(format!("\n=== {}\nallowed: {reason}", step.line))?;
            }
            Outcome::Stale => {
                say(format!(
                    "\n=== {}\nlisted in allowed.txt, but there is no difference: take it out",
                    step.line
                ))?;
            }
            Outcome::Same => {}
        }
    }
    let count = |word: &str| outcomes.iter().filter(|outcome| outcome.word() == word).count();
    say(format!(
        "\n{} commands: {} ok, {} allowed, {} stale, {} different, {} unexpected",
        outcomes.len(),
        count("ok"),
        count("allowed"),
        count("stale"),
        count("DIFFERENT"),
        count("UNEXPECTED")
    ))
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
