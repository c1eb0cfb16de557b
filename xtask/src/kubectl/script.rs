//! The command lines of `commands.txt`, whose head explains the notation.

use crate::error::{Error, Result};

/// One line of the list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Step {
    /// As written, for people and for `allowed.txt`.
    pub(crate) line: String,
    pub(crate) action: Action,
}

/// What a line asks for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Action {
    /// Run kubectl to its end.
    Run {
        args: Vec<String>,
        expect: Expect,
        compare: Compare,
        /// A file to keep standard output in, for later commands.
        save: Option<String>,
    },
    /// Start kubectl and go on once it has printed `first` lines.
    Begin { name: String, first: usize, total: usize, args: Vec<String> },
    /// Wait until that one has printed all its lines, then end it.
    End { name: String },
}

/// How the real control plane must answer, so that two failures of the surroundings never pass for agreement.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Expect {
    Success,
    Failure,
}

/// What makes two outputs agree.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Compare {
    Same,
    /// Each line of the development server's is one of the real one's: for lists of what a server can do.
    Subset,
}

/// Reads the whole list.
pub(crate) fn parse(text: &str) -> Result<Vec<Step>> {
    text.lines()
        .enumerate()
        .map(|(number, line)| (number + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(number, line)| {
            let action = action(line)
                .map_err(|problem| Error::new(format!("commands.txt:{number}: {problem}")))?;
            Ok(Step { line: line.to_owned(), action })
        })
        .collect()
}

fn action(line: &str) -> std::result::Result<Action, String> {
    let mut args = words(line)?;
    match args[0].as_str() {
        "begin" => {
            if args.len() < 5 {
                return Err("begin needs a name, two numbers and a command".to_owned());
            }
            let rest = args.split_off(4);
            let number = |word: &str| {
                word.parse::<usize>().map_err(|_| format!("{word} is no number of lines"))
            };
            return Ok(Action::Begin {
                first: number(&args[2])?,
                total: number(&args[3])?,
                name: args.remove(1),
                args: rest,
            });
        }
        "end" => {
            return match args.as_slice() {
                [_, name] => Ok(Action::End { name: name.clone() }),
                _ => Err("end needs one name".to_owned()),
            };
        }
        _ => {}
    }
    let mut expect = Expect::Success;
    let mut compare = Compare::Same;
    while let Some(mark) = args.first() {
        match mark.as_str() {
            "!" => expect = Expect::Failure,
            "subset" => compare = Compare::Subset,
            _ => break,
        }
        args.remove(0);
    }
    let mut save = None;
    if let [.., arrow, file] = args.as_slice()
        && arrow == ">"
    {
        save = Some(file.clone());
        args.truncate(args.len() - 2);
    }
    if args.is_empty() {
        return Err("no command".to_owned());
    }
    Ok(Action::Run { args, expect, compare, save })
}

/// Words between blanks; single quotes hold a word together.
fn words(line: &str) -> std::result::Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    for char in line.chars() {
        match char {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            blank if blank.is_whitespace() && !quoted => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    if quoted {
        return Err("a quote is not closed".to_owned());
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
#[path = "script_tests.rs"]
mod tests;
