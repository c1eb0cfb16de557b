//! Lines for standard output, where a reader that has gone away is an error like any other and not a panic.

use std::fmt::Display;
use std::io::{self, Write};

use crate::error::{Context, Result};

/// Writes one line.
pub(crate) fn say(line: impl Display) -> Result<()> {
    writeln!(io::stdout().lock(), "{line}").context(|| "cannot write to standard output")
}
