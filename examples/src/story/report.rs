//! What the story prints: a line while a step runs, and a table at the end.

use std::fmt;
use std::io::{IsTerminal, Write};
use std::time::Duration;

/// Prints; whether anybody reads it does not matter to the story, so a closed output is no failure.
pub fn say(text: fmt::Arguments<'_>) {
    let mut output = std::io::stdout();
    let _ = output.write_fmt(text).and_then(|()| output.flush());
}

/// What one step took.
pub(super) struct Row {
    pub(super) title: String,
    pub(super) took: Duration,
    /// Calls of everybody, and of the ReplicaSet controller alone.
    pub(super) calls: u64,
    pub(super) replicaset_calls: u64,
    pub(super) observed: bool,
}

/// The line of the step that runs now. On a terminal it is rewritten in place; elsewhere only its end is
/// printed.
pub(super) struct Progress {
    title: String,
    last: String,
    in_place: bool,
}

impl Progress {
    pub(super) fn start(title: &str) -> Self {
        let progress = Self {
            title: title.to_owned(),
            last: String::new(),
            in_place: std::io::stdout().is_terminal(),
        };
        progress.rewrite("");
        progress
    }

    /// Shows what is seen now.
    pub(super) fn seen(&mut self, what: &str) {
        if self.last != what {
            self.last = what.to_owned();
            self.rewrite(what);
        }
    }

    pub(super) fn end(self, row: &Row) {
        let mark = if row.observed { "ok" } else { "NOT SEEN" };
        let start = if self.in_place { "\r\x1b[K" } else { "" };
        say(format_args!(
            "{start}  {:<44} {mark}, {} ms, {} calls\n",
            row.title,
            row.took.as_millis(),
            row.calls
        ));
    }

    fn rewrite(&self, what: &str) {
        if self.in_place {
            say(format_args!("\r\x1b[K  {:<44} {what}", self.title));
        }
    }
}

/// Prints the table of all steps.
pub(super) fn table(rows: &[Row]) {
    let width =
        rows.iter().map(|row| row.title.chars().count()).max().unwrap_or(0).max("total".len());
    let titles = ("step", "ms", "calls", "of ReplicaSet");
    say(format_args!(
        "\n{:<width$}  {:>8}  {:>6}  {:>15}  seen\n",
        titles.0, titles.1, titles.2, titles.3
    ));
    for row in rows {
        let seen = if row.observed { "yes" } else { "NO" };
        line(width, &row.title, row.took, row.calls, row.replicaset_calls, seen);
    }
    let took = rows.iter().map(|row| row.took).sum();
    let calls = rows.iter().map(|row| row.calls).sum();
    let replicaset = rows.iter().map(|row| row.replicaset_calls).sum();
    let seen = if rows.iter().all(|row| row.observed) { "all" } else { "NOT ALL" };
    line(width, "total", took, calls, replicaset, seen);
}

fn line(width: usize, title: &str, took: Duration, calls: u64, replicaset: u64, seen: &str) {
    let ms = took.as_millis();
    say(format_args!("{title:<width$}  {ms:>8}  {calls:>6}  {replicaset:>15}  {seen}\n"));
}
