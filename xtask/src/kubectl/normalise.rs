//! Taking out what no two servers share: uids, resource versions, times and ages, addresses and ports, generated names,
//! releases, and managedFields (whose order and times are each server's own). All else stays and is compared.

use std::borrow::Cow;

use serde_json::Value;

/// What is left of kubectl's output to compare.
pub(crate) fn normalise(text: &str) -> String {
    let text = match serde_json::from_str::<Value>(text) {
        // One JSON document: the order of keys and the blanks are no difference.
        Ok(mut document @ Value::Object(_)) => {
            strip_json(&mut document);
            Cow::Owned(format!("{document:#}\n"))
        }
        _ => Cow::Borrowed(text),
    };
    let mut out = String::with_capacity(text.len());
    let mut skipping: Option<usize> = None;
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        // A YAML block ends where a line stands no deeper; its list items stand at the same depth.
        let in_block = skipping
            .is_some_and(|at| indent > at || (indent == at && line.trim_start().starts_with("- ")));
        if in_block {
            continue;
        }
        skipping = None;
        if matches!(line.trim_start(), "managedFields:") {
            skipping = Some(indent);
            continue;
        }
        if line.trim_start().starts_with("selfLink:") {
            continue;
        }
        out.push_str(&normalise_line(line));
        out.push('\n');
    }
    out
}

fn strip_json(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("managedFields");
            fields.remove("selfLink");
            fields.values_mut().for_each(strip_json);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_json),
        _ => {}
    }
}

fn normalise_line(line: &str) -> String {
    let line = number_after("resourceVersion", "<version>", line);
    let line = number_after("nodePort", "<node port>", &line);
    // Ages stand in tables only; elsewhere `5m` may be a quantity.
    let is_table = !line.contains(": ") && !line.contains('"');
    let indent = line.len() - line.trim_start().len();
    let mut out = line[..indent].to_owned();
    let mut blanks = 0;
    let mut rest = &line[indent..];
    while !rest.is_empty() {
        let length = rest.find(|char: char| is_delimiter(char)).unwrap_or(rest.len());
        if length == 0 {
            let delimiter = rest.chars().next().unwrap_or_default();
            rest = &rest[delimiter.len_utf8()..];
            blanks = if delimiter == ' ' { blanks + 1 } else { 0 };
            // The width of a column depends on what stands in it.
            if blanks <= 3 {
                out.push(delimiter);
            }
            continue;
        }
        if blanks == 2 {
            out.push(' ');
        }
        blanks = 0;
        let (word, after) = rest.split_at(length);
        out.push_str(&normalise_word(word, is_table));
        rest = after;
    }
    out.truncate(out.trim_end().len());
    out
}

fn is_delimiter(char: char) -> bool {
    char.is_whitespace()
        || matches!(char, '"' | '\'' | ',' | '(' | ')' | '[' | ']' | '{' | '}' | '/' | '=' | '|')
}

fn normalise_word(word: &str, is_table: bool) -> String {
    // A word may end a sentence or a key.
    let core = word.trim_end_matches(['.', ':', ';']);
    let tail = &word[core.len()..];
    let replaced = if is_uid(core) {
        "<uid>"
    } else if is_time(core) {
        "<time>"
    } else if is_release(core) {
        "<release>"
    } else if is_server(core) {
        "<server>"
    } else if is_address(core) {
        "<address>"
    } else if is_table && is_age(core) {
        "<age>"
    } else if let Some(kept) = generated(core) {
        return format!("{kept}<suffix>{tail}");
    } else {
        return word.to_owned();
    };
    format!("{replaced}{tail}")
}

/// Puts `instead` for the number in `resourceVersion: "12"`, `nodePort: 30000` and their JSON forms.
fn number_after(name: &str, instead: &str, line: &str) -> String {
    let Some(at) = line.find(name) else {
        return line.to_owned();
    };
    let (head, value) = line.split_at(at + name.len());
    let Some(start) = value.find(|char: char| char.is_ascii_digit()) else {
        return line.to_owned();
    };
    let only_marks = value[..start].chars().all(|c| matches!(c, '"' | ':' | ' ' | '='));
    let digits =
        value[start..].find(|char: char| !char.is_ascii_digit()).unwrap_or(value.len() - start);
    if only_marks {
        format!("{head}{}{instead}{}", &value[..start], &value[start + digits..])
    } else {
        line.to_owned()
    }
}

fn is_uid(word: &str) -> bool {
    let lengths = [8, 4, 4, 4, 12];
    let mut parts = word.split('-');
    lengths.iter().all(|length| {
        parts.next().is_some_and(|part| {
            part.len() == *length && part.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
    }) && parts.next().is_none()
}

/// `2026-01-05T10:00:00Z`, with or without a fraction.
fn is_time(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.len() >= 20
        && bytes[..19]
            .iter()
            .zip(b"dddd-dd-ddTdd:dd:dd")
            .all(|(byte, form)| if *form == b'd' { byte.is_ascii_digit() } else { byte == form })
        && bytes[bytes.len() - 1] == b'Z'
        && bytes[19..bytes.len() - 1].iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
}

/// `v1.37.2`, with anything after.
fn is_release(word: &str) -> bool {
    let Some(numbers) = word.strip_prefix('v') else {
        return false;
    };
    let mut parts = numbers.splitn(3, '.');
    let is_number = |part: Option<&str>| part.is_some_and(|part| part.parse::<u32>().is_ok());
    is_number(parts.next())
        && is_number(parts.next())
        && parts.next().is_some_and(|part| part.starts_with(|char: char| char.is_ascii_digit()))
}

/// Where the server under test listens.
fn is_server(word: &str) -> bool {
    word.rsplit_once(':').is_some_and(|(host, port)| {
        matches!(host, "127.0.0.1" | "localhost") && port.parse::<u16>().is_ok()
    })
}

fn is_address(word: &str) -> bool {
    word.parse::<std::net::Ipv4Addr>().is_ok()
}

/// `5s`, `2m30s`, `3h`, `4d12h`.
fn is_age(word: &str) -> bool {
    let mut digits = 0;
    for char in word.chars() {
        match char {
            '0'..='9' => digits += 1,
            's' | 'm' | 'h' | 'd' | 'y' if digits > 0 => digits = 0,
            _ => return false,
        }
    }
    digits == 0 && !word.is_empty()
}

/// What stands before a generated suffix. Only the names the fixtures generate count, since any word may end in five letters.
fn generated(word: &str) -> Option<&str> {
    const PREFIX: &str = "generated-";
    let suffix = word.strip_prefix(PREFIX)?;
    let is_suffix = suffix.len() == 5
        && suffix.bytes().all(|byte| b"bcdfghjklmnpqrstvwxz2456789".contains(&byte));
    is_suffix.then_some(PREFIX)
}

#[cfg(test)]
#[path = "normalise_tests.rs"]
mod tests;
