//! What the story prints: a line while a step runs, and a table at the end.

use std::io::{IsTerminal, Write};
use std::time::Duration;

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
        println!(
            "{start}  {:<44} {mark}, {} ms, {} calls",
            row.title,
            row.took.as_millis(),
            row.calls
        );
    }

    fn rewrite(&self, what: &str) {
        if self.in_place {
            print!("\r\x1b[K  {:<44} {what}", self.title);
            let _ = std::io::stdout().flush();
        }
    }
}

/// Prints the table of all steps.
pub(super) fn table(rows: &[Row]) {
    let width =
        rows.iter().map(|row| row.title.chars().count()).max().unwrap_or(0).max("total".len());
    println!("\n{:<width$}  {:>8}  {:>6}  {:>15}  seen", "step", "ms", "calls", "of ReplicaSet");
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
    println!("{title:<width$}  {:>8}  {calls:>6}  {replicaset:>15}  {seen}", took.as_millis());
}
