//! Cutting a list's body into objects while it arrives.

use std::collections::VecDeque;

use bytes::{Buf, Bytes};

use crate::list_end::{Envelope, ListEnd, Member};
use crate::scan::{Nesting, Scanner, SyntaxError, TextEnd, is_space};
use crate::{Error, MAX_OBJECT_BYTES};

/// Cuts the body of a list into its items as chunks arrive, without ever holding the whole of it.
///
/// Feed it chunks cut anywhere, and take items until there is none before feeding the next. Items come before
/// the end of the list is known, and custom resource lists carry their version last: what is built from items must not
/// count before [`finish`](Self::finish) has succeeded. It holds no more than the chunks not yet taken and one
/// incomplete item of at most [`MAX_OBJECT_BYTES`].
///
/// ```
/// let mut list = kubewright_wire::ListSplitter::new();
/// list.feed(r#"{"kind":"PodList","apiVersion":"v1","items":[{"a":1},{"b""#.into());
/// assert_eq!(list.next_item().unwrap()?, r#"{"a":1}"#);
/// assert!(list.next_item().is_none());
/// list.feed(r#":2}],"metadata":{"resourceVersion":"7"}}"#.into());
/// assert_eq!(list.next_item().unwrap()?, r#"{"b":2}"#);
/// assert!(list.next_item().is_none());
/// assert_eq!(list.finish()?.resource_version, "7");
/// # Ok::<(), kubewright_wire::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct ListSplitter {
    chunks: VecDeque<Bytes>,
    /// The start of the item, key or value that the chunks behind it go on with.
    partial: Vec<u8>,
    state: State,
    envelope: Envelope,
    offset: usize,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Start,
    /// Behind the list's opening bracket, or behind a comma in it.
    Key {
        first: bool,
    },
    InKey(TextEnd),
    Colon(Member),
    Value(Member),
    InValue(Member, Inside),
    BehindValue,
    /// Behind the opening bracket of the items, or behind a comma in them.
    Item {
        first: bool,
    },
    InItem(Nesting),
    BehindItem,
    End,
    Failed(Failure),
}

/// What kind of value is being passed.
#[derive(Debug)]
enum Inside {
    Nested(Nesting),
    Text(TextEnd),
    Scalar,
}

#[derive(Clone, Copy, Debug)]
enum Failure {
    Syntax(SyntaxError),
    ItemTooLarge,
    MemberTooLarge,
    Table,
}

impl ListSplitter {
    /// At the start of a body.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives it the next part of the body.
    pub fn feed(&mut self, chunk: Bytes) {
        if !chunk.is_empty() {
            self.chunks.push_back(chunk);
        }
    }

    /// The next complete item; `None` when more has to be fed first, or behind the end. Where it lies within one chunk it is a
    /// slice of the chunk, and keeps that alive. It is known to end where it ends, not yet to be well formed:
    /// that is for [`RawObject`](crate::RawObject) to say.
    ///
    /// # Errors
    /// A body that is no list, or an item that is too large. Nothing comes behind an error.
    pub fn next_item(&mut self) -> Option<Result<Bytes, Error>> {
        while let Some(chunk) = self.chunks.front() {
            let Some(&byte) = chunk.first() else {
                self.chunks.pop_front();
                continue;
            };
            match self.step(byte) {
                Ok(None) => {}
                Ok(Some(item)) => return Some(Ok(item)),
                Err(failure) => {
                    self.partial = Vec::new();
                    self.chunks.clear();
                    self.state = State::Failed(failure);
                    return Some(Err(failure.into()));
                }
            }
        }
        None
    }

    /// What is said around the items. To be asked when no more comes and all items are taken.
    ///
    /// # Errors
    /// A body that is cut ([`is_truncated`](Error::is_truncated)): what came of it is no list. One
    /// without `items`: a `Status` comes back as [`status`](Error::status), anything else is
    /// [`is_unexpected_kind`](Error::is_unexpected_kind). Items that were not taken.
    pub fn finish(mut self) -> Result<ListEnd, Error> {
        if let State::Failed(failure) = self.state {
            return Err(failure.into());
        }
        if self.next_item().transpose()?.is_some() {
            let problem = "not all of its items were taken before the end";
            return Err(Failure::Syntax(SyntaxError { offset: self.offset, problem }).into());
        }
        match self.state {
            State::End => self.envelope.finish(),
            _ => Err(Error::truncated("a list")),
        }
    }

    /// Goes on by at least one byte, of which `byte` is the first, or changes the state.
    fn step(&mut self, byte: u8) -> Result<Option<Bytes>, Failure> {
        let skips_space =
            !matches!(self.state, State::InKey(_) | State::InValue(..) | State::InItem(_));
        if skips_space && is_space(byte) {
            self.skip(1);
            return Ok(None);
        }
        match &mut self.state {
            State::Start => {
                self.expect(byte, b'{', "expected an object")?;
                self.state = State::Key { first: true };
            }
            State::Key { first } => match byte {
                b'}' if *first => {
                    self.skip(1);
                    self.state = State::End;
                }
                _ => {
                    self.expect(byte, b'"', "expected an object key in quotes")?;
                    self.partial.push(b'"');
                    self.state = State::InKey(TextEnd::default());
                }
            },
            State::InKey(_) => self.in_key()?,
            State::Colon(member) => {
                let member = *member;
                self.expect(byte, b':', "expected a colon after an object key")?;
                self.state = State::Value(member);
            }
            State::Value(member) => {
                let member = *member;
                self.value(member, byte)?;
            }
            State::InValue(..) => self.in_value()?,
            State::BehindValue => match byte {
                b'}' => {
                    self.skip(1);
                    self.state = State::End;
                }
                _ => {
                    self.expect(byte, b',', "expected a comma or the end of the list")?;
                    self.state = State::Key { first: false };
                }
            },
            State::Item { first } => match byte {
                b']' if *first => {
                    self.skip(1);
                    self.state = State::BehindValue;
                }
                b'{' => self.state = State::InItem(Nesting::opened()),
                _ => return self.fail("expected an object in items"),
            },
            State::InItem(_) => return self.in_item(),
            State::BehindItem => match byte {
                b']' => {
                    self.skip(1);
                    self.state = State::BehindValue;
                }
                _ => {
                    self.expect(byte, b',', "expected a comma or the end of items")?;
                    self.state = State::Item { first: false };
                }
            },
            State::End => return self.fail("more text after the end of the list"),
            State::Failed(failure) => return Err(*failure),
        }
        Ok(None)
    }

    fn in_item(&mut self) -> Result<Option<Bytes>, Failure> {
        let (State::InItem(nesting), Some(chunk)) = (&mut self.state, self.chunks.front_mut())
        else {
            return Ok(None);
        };
        // The opening bracket itself has been counted.
        let opening = usize::from(self.partial.is_empty());
        let end = nesting.advance(&chunk[opening..]).map(|end| end + opening);
        let taken = end.unwrap_or(chunk.len());
        if self.partial.len() + taken > MAX_OBJECT_BYTES {
            return Err(Failure::ItemTooLarge);
        }
        let part = chunk.split_to(taken);
        self.offset += taken;
        if end.is_none() {
            self.partial.extend_from_slice(&part);
            return Ok(None);
        }
        self.state = State::BehindItem;
        if self.partial.is_empty() {
            return Ok(Some(part));
        }
        self.partial.extend_from_slice(&part);
        Ok(Some(std::mem::take(&mut self.partial).into()))
    }

    fn in_key(&mut self) -> Result<(), Failure> {
        let (State::InKey(text), Some(chunk)) = (&mut self.state, self.chunks.front()) else {
            return Ok(());
        };
        let end = text.advance(chunk);
        let taken = end.unwrap_or(chunk.len());
        self.keep(taken)?;
        if end.is_some() {
            let key = std::mem::take(&mut self.partial);
            let text = Scanner::new(&key).text().map_err(|fault| self.inside(key.len(), fault))?;
            self.state = State::Colon(Member::named(&text.read(&key)));
        }
        Ok(())
    }

    fn value(&mut self, member: Member, byte: u8) -> Result<(), Failure> {
        if matches!(member, Member::Items) {
            if byte == b'[' {
                self.skip(1);
                if !self.envelope.begin_items() {
                    return self.fail("items occurs twice");
                }
                self.state = State::Item { first: true };
                return Ok(());
            }
            if byte != b'n' {
                return self.fail("items is not a list");
            }
        }
        let inside = match byte {
            b'{' | b'[' => Inside::Nested(Nesting::opened()),
            b'"' => Inside::Text(TextEnd::default()),
            b't' | b'f' | b'n' | b'-' | b'0'..=b'9' => Inside::Scalar,
            _ => return self.fail("expected a value"),
        };
        self.state = State::InValue(member, inside);
        if member.is_kept() {
            self.keep(1)
        } else {
            self.skip(1);
            Ok(())
        }
    }

    fn in_value(&mut self) -> Result<(), Failure> {
        let (State::InValue(member, inside), Some(chunk)) = (&mut self.state, self.chunks.front())
        else {
            return Ok(());
        };
        let member = *member;
        let end = match inside {
            Inside::Nested(nesting) => nesting.advance(chunk),
            Inside::Text(text) => text.advance(chunk),
            Inside::Scalar => {
                chunk.iter().position(|byte| is_space(*byte) || matches!(byte, b',' | b'}'))
            }
        };
        let taken = end.unwrap_or(chunk.len());
        if member.is_kept() {
            self.keep(taken)?;
        } else {
            self.skip(taken);
        }
        if end.is_none() {
            return Ok(());
        }
        self.state = State::BehindValue;
        if !member.is_kept() {
            return Ok(());
        }
        let value = std::mem::take(&mut self.partial);
        let length = value.len();
        self.envelope.set(member, value).map_err(|fault| self.inside(length, fault))?;
        if self.envelope.is_table() { Err(Failure::Table) } else { Ok(()) }
    }

    fn expect(&mut self, byte: u8, wanted: u8, problem: &'static str) -> Result<(), Failure> {
        if byte != wanted {
            return self.fail(problem);
        }
        self.skip(1);
        Ok(())
    }

    fn skip(&mut self, count: usize) {
        if let Some(chunk) = self.chunks.front_mut() {
            chunk.advance(count);
        }
        self.offset += count;
    }

    /// Moves bytes of the current chunk to what is held of a key or value.
    fn keep(&mut self, count: usize) -> Result<(), Failure> {
        if self.partial.len() + count > MAX_MEMBER_BYTES {
            return Err(Failure::MemberTooLarge);
        }
        if let Some(chunk) = self.chunks.front() {
            self.partial.extend_from_slice(&chunk[..count]);
        }
        self.skip(count);
        Ok(())
    }

    fn fail<T>(&self, problem: &'static str) -> Result<T, Failure> {
        Err(Failure::Syntax(SyntaxError { offset: self.offset, problem }))
    }

    /// A fault inside the `length` bytes before the current one.
    fn inside(&self, length: usize, fault: SyntaxError) -> Failure {
        let offset = self.offset - length + fault.offset.min(length);
        Failure::Syntax(SyntaxError { offset, ..fault })
    }
}

/// How large a key of the list, or a member other than `items`, may be that is looked at.
const MAX_MEMBER_BYTES: usize = 1024 * 1024;

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Syntax(fault) => Self::malformed("list", None, fault),
            Failure::ItemTooLarge => Self::too_large("an item of a list", MAX_OBJECT_BYTES),
            Failure::MemberTooLarge => {
                Self::too_large("a member of a list other than its items", MAX_MEMBER_BYTES)
            }
            Failure::Table => Self::unexpected("a list of objects", "a Table".into()),
        }
    }
}

#[cfg(test)]
#[path = "list_splitter_tests.rs"]
mod tests;
