//! Differences that are known and have a reason: `allowed.txt`, a command line as it stands in `commands.txt`, and below
//! it, indented, why its output differs.

use std::collections::BTreeMap;

use super::script::Step;
use crate::error::{Error, Result};

/// The reason of each listed command line.
pub(crate) type Allowed = BTreeMap<String, String>;

/// Reads the list; each entry must have a reason and name a command that exists.
pub(crate) fn parse(text: &str, steps: &[Step]) -> Result<Allowed> {
    let mut allowed = Allowed::new();
    let mut current: Option<String> = None;
    for line in text.lines() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with(char::is_whitespace) {
            let reason = current
                .as_ref()
                .and_then(|command| allowed.get_mut(command))
                .ok_or_else(|| Error::new("allowed.txt: a reason stands before any command"))?;
            if !reason.is_empty() {
                reason.push(' ');
            }
            reason.push_str(line.trim());
            continue;
        }
        let command = line.trim();
        if !steps.iter().any(|step| step.line == command) {
            return Err(Error::new(format!("allowed.txt: `{command}` is not in commands.txt")));
        }
        allowed.insert(command.to_owned(), String::new());
        current = Some(command.to_owned());
    }
    match allowed.iter().find(|(_, reason)| reason.is_empty()) {
        Some((command, _)) => Err(Error::new(format!("allowed.txt: `{command}` has no reason"))),
        None => Ok(allowed),
    }
}

#[cfg(test)]
#[path = "allowed_tests.rs"]
mod tests;
