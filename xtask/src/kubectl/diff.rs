//! A unified diff of two short texts.

use std::fmt::Write as _;

const CONTEXT: usize = 3;

#[derive(Clone, Copy, PartialEq)]
enum Line<'a> {
    Same(&'a str),
    Left(&'a str),
    Right(&'a str),
}

/// The lines that differ with three lines around them; empty if none does.
pub(crate) fn unified(left: &str, right: &str) -> String {
    let lines = align(left, right);
    let changed: Vec<usize> =
        (0..lines.len()).filter(|at| !matches!(lines[*at], Line::Same(_))).collect();
    let mut out = String::new();
    let mut next = 0;
    while let Some(first) = changed.get(next) {
        let start = first.saturating_sub(CONTEXT);
        let mut end = first + 1;
        while let Some(at) = changed.get(next).filter(|at| **at <= end + 2 * CONTEXT) {
            end = at + 1;
            next += 1;
        }
        hunk(&lines, start, (end + CONTEXT).min(lines.len()), &mut out);
    }
    out
}

fn hunk(lines: &[Line<'_>], start: usize, end: usize, out: &mut String) {
    let count = |range: &[Line<'_>]| {
        range.iter().fold((0, 0), |(left, right), line| match line {
            Line::Same(_) => (left + 1, right + 1),
            Line::Left(_) => (left + 1, right),
            Line::Right(_) => (left, right + 1),
        })
    };
    let before = count(&lines[..start]);
    let inside = count(&lines[start..end]);
    // Writing to a String cannot fail.
    let _ = writeln!(out, "@@ -{},{} +{},{} @@", before.0 + 1, inside.0, before.1 + 1, inside.1);
    for line in &lines[start..end] {
        let _ = match line {
            Line::Same(text) => writeln!(out, " {text}"),
            Line::Left(text) => writeln!(out, "-{text}"),
            Line::Right(text) => writeln!(out, "+{text}"),
        };
    }
}

/// Both texts as one, by their longest common subsequence.
fn align<'a>(left: &'a str, right: &'a str) -> Vec<Line<'a>> {
    let left: Vec<&str> = left.lines().collect();
    let right: Vec<&str> = right.lines().collect();
    // The length of what is common from (i, j) on.
    let mut common = vec![vec![0_usize; right.len() + 1]; left.len() + 1];
    for i in (0..left.len()).rev() {
        for j in (0..right.len()).rev() {
            common[i][j] = if left[i] == right[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut lines = Vec::with_capacity(left.len().max(right.len()));
    while i < left.len() || j < right.len() {
        if i < left.len() && j < right.len() && left[i] == right[j] {
            lines.push(Line::Same(left[i]));
            i += 1;
            j += 1;
        } else if j == right.len() || (i < left.len() && common[i + 1][j] >= common[i][j + 1]) {
            lines.push(Line::Left(left[i]));
            i += 1;
        } else {
            lines.push(Line::Right(right[j]));
            j += 1;
        }
    }
    lines
}

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;
