//! Fields named by a path, found and removed without decoding what is around them.

use std::ops::Range;
use std::str::FromStr;

use crate::Error;
use crate::cuts::{Cuts, MemberCuts};
use crate::scan::{ArrayWalk, ObjectWalk, Scan, Scanner};

/// The parts of a path such as `spec.containers.0.image`.
///
/// Parts are separated by dots; a backslash before a dot or a backslash makes it part of a key.
#[derive(Debug)]
pub(crate) struct FieldPath(Vec<String>);

impl FromStr for FieldPath {
    type Err = Error;

    fn from_str(path: &str) -> Result<Self, Error> {
        let fault = |problem| Err(Error::field_path(path, problem));
        let mut parts = vec![String::new()];
        let mut signs = path.chars();
        while let Some(sign) = signs.next() {
            match (sign, parts.last_mut()) {
                ('\\', Some(part)) => match signs.next() {
                    Some(escaped @ ('.' | '\\')) => part.push(escaped),
                    _ => return fault("a backslash must be followed by a dot or a backslash"),
                },
                ('.', _) => parts.push(String::new()),
                (other, Some(part)) => part.push(other),
                (_, None) => {}
            }
        }
        if parts.iter().any(String::is_empty) {
            return fault("a part is empty; write spec.nodeName, and \\. for a dot inside a key");
        }
        Ok(Self(parts))
    }
}

/// Where the value at `path` is in a well-formed document. Where a key occurs twice the last one counts.
pub(crate) fn locate(json: &[u8], path: &FieldPath) -> Option<Range<usize>> {
    let mut place = 0..json.len();
    for part in &path.0 {
        place = member(json, place.start, part).ok()??;
    }
    Some(place)
}

fn member(json: &[u8], start: usize, part: &str) -> Scan<Option<Range<usize>>> {
    let mut scanner = Scanner::starting_at(json, start);
    let mut found = None;
    match scanner.peek() {
        Some(b'{') => {
            let mut members = ObjectWalk::enter(&mut scanner)?;
            while let Some(key) = members.next_key(&mut scanner)? {
                let value = scanner.skip_unchecked(0)?;
                if key.is(json, part) {
                    found = Some(value);
                }
            }
        }
        Some(b'[') => {
            let Ok(wanted) = part.parse::<usize>() else {
                return Ok(None);
            };
            let mut elements = ArrayWalk::enter(&mut scanner)?;
            let mut index = 0;
            while elements.next_element(&mut scanner)? {
                let value = scanner.skip_unchecked(0)?;
                if index == wanted {
                    return Ok(Some(value));
                }
                index += 1;
            }
        }
        _ => {}
    }
    Ok(found)
}

/// A well-formed document without the values at `paths`; `None` where there are none of them.
pub(crate) fn remove(json: &[u8], paths: &[FieldPath]) -> Option<Vec<u8>> {
    let paths: Vec<&[String]> = paths.iter().map(|path| path.0.as_slice()).collect();
    let mut cuts = Cuts::default();
    remove_members(&mut Scanner::new(json), &paths, &mut cuts).ok()?;
    (!cuts.is_empty()).then(|| cuts.apply(json))
}

/// The nesting of the document bounds the recursion.
fn remove_members(scanner: &mut Scanner<'_>, paths: &[&[String]], cuts: &mut Cuts) -> Scan<()> {
    if paths.is_empty() || scanner.peek() != Some(b'{') {
        return scanner.skip_unchecked(0).map(drop);
    }
    let json = scanner.bytes();
    let mut members = ObjectWalk::enter(scanner)?;
    let mut member_cuts = MemberCuts::default();
    while let Some(key) = members.next_key(scanner)? {
        let rest: Vec<&[String]> = paths
            .iter()
            .filter_map(|path| path.split_first())
            .filter(|(first, _)| key.is(json, first))
            .map(|(_, rest)| rest)
            .collect();
        if rest.iter().any(|rest| rest.is_empty()) {
            scanner.skip_unchecked(0)?;
            member_cuts.leave_out(key.start - 1, scanner.offset());
        } else {
            member_cuts.keep_from(key.start - 1, cuts);
            remove_members(scanner, &rest, cuts)?;
            member_cuts.kept_until(scanner.offset());
        }
    }
    member_cuts.finish(cuts);
    Ok(())
}

#[cfg(test)]
#[path = "field_path_tests.rs"]
mod tests;
