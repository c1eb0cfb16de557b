//! Decoding, with errors that name the field.

use std::fmt::Write;

use kubewright_meta::ObjectKey;
use serde::de::DeserializeOwned;

use crate::Error;
use crate::scan::{ArrayWalk, ObjectWalk, Scan, Scanner};

/// Decodes well-formed JSON. `within` is the path of the decoded value inside the object `key`.
pub(crate) fn from_json<T: DeserializeOwned>(
    json: &[u8],
    key: Option<&ObjectKey>,
    within: &str,
) -> Result<T, Error> {
    serde_json::from_slice(json).map_err(|error| {
        let path = format!("{within}{}", path_at(json, offset_of(json, &error)));
        let path = path.trim_start_matches('.').to_owned();
        let message = message_of(&error, &path);
        Error::decode::<T>(key.cloned(), path, message)
    })
}

/// How many bytes had been read when the error was noticed.
fn offset_of(json: &[u8], error: &serde_json::Error) -> usize {
    let line_start = match error.line() {
        0 | 1 => 0,
        line => memchr::memchr_iter(b'\n', json).nth(line - 2).map_or(0, |newline| newline + 1),
    };
    line_start + error.column()
}

/// The path of the innermost value that `offset` is in or right behind, such as `.spec.ports[0].targetPort`.
fn path_at(json: &[u8], offset: usize) -> String {
    let mut path = String::new();
    let mut start = 0;
    while let Ok(Some((part, value_start))) = child_at(json, start, offset) {
        path.push_str(&part);
        start = value_start;
    }
    path
}

fn child_at(json: &[u8], start: usize, offset: usize) -> Scan<Option<(String, usize)>> {
    let mut scanner = Scanner::starting_at(json, start);
    match scanner.peek() {
        Some(b'{') => {
            let mut members = ObjectWalk::enter(&mut scanner)?;
            while let Some(key) = members.next_key(&mut scanner)? {
                let value = scanner.skip_unchecked(0)?;
                if (value.start..=value.end).contains(&offset) {
                    let key = key.read(json);
                    let plain = !key.is_empty() && !key.contains(['.', '[', ']', '/']);
                    let part = if plain { format!(".{key}") } else { format!("[{key}]") };
                    return Ok(Some((part, value.start)));
                }
            }
        }
        Some(b'[') => {
            let mut elements = ArrayWalk::enter(&mut scanner)?;
            let mut index = 0;
            while elements.next_element(&mut scanner)? {
                let value = scanner.skip_unchecked(0)?;
                if (value.start..=value.end).contains(&offset) {
                    let mut part = String::new();
                    // Writing to a string cannot fail.
                    let _ = write!(part, "[{index}]");
                    return Ok(Some((part, value.start)));
                }
                index += 1;
            }
        }
        _ => {}
    }
    Ok(None)
}

/// The decoder's words without the place, which the path says better, and without the text of the value, which
/// may be secret. Only what an object says of its own type is shown.
fn message_of(error: &serde_json::Error, path: &str) -> String {
    let mut message = error.to_string();
    if let Some(place) = message.rfind(" at line ") {
        message.truncate(place);
    }
    let about_keys = ["missing field", "duplicate field", "unknown field"];
    if matches!(path, "apiVersion" | "kind") || about_keys.iter().any(|s| message.starts_with(s)) {
        return message;
    }
    for quote in ['"', '`'] {
        let Some(start) = message.find(quote) else {
            continue;
        };
        let end = match message.rfind(", expected") {
            Some(expected) if expected < start => continue,
            Some(expected) => expected,
            None => message.rfind(quote).map_or(message.len(), |last| last + 1),
        };
        message.replace_range(start..end, "(not shown)");
    }
    message
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
