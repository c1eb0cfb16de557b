//! Protobuf's own encoding: tags, and what follows them.

use super::fault::Problem;

/// What follows a tag.
#[derive(Clone, Copy, Debug)]
pub(super) enum Payload<'a> {
    Varint(u64),
    Bytes(&'a [u8]),
    /// Four or eight bytes: no type of the schema is written so.
    Fixed,
    /// The old way to nest, never used by Kubernetes; passed over.
    Group,
}

impl<'a> Payload<'a> {
    pub(super) fn varint(self) -> Result<u64, Problem> {
        match self {
            Self::Varint(number) => Ok(number),
            other => Err(other.is_not("a number")),
        }
    }

    pub(super) fn bytes(self) -> Result<&'a [u8], Problem> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            other => Err(other.is_not("text, bytes or a message")),
        }
    }

    pub(super) fn text(self) -> Result<&'a str, Problem> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Problem::NotUtf8)
    }

    fn is_not(self, wanted: &'static str) -> Problem {
        let got = match self {
            Self::Varint(_) => "a number",
            Self::Bytes(_) => "text, bytes or a message",
            Self::Fixed => "a number of fixed length",
            Self::Group => "a group",
        };
        Problem::WireType { wanted, got }
    }
}

/// Reads the fields of one message, in the order they come.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next field's number and content.
    pub(super) fn next_field(&mut self) -> Result<Option<(u32, Payload<'a>)>, Problem> {
        if self.is_at_end() {
            return Ok(None);
        }
        let (number, wire_type) = self.tag()?;
        let payload = match wire_type {
            GROUP_START => {
                self.skip_group()?;
                Payload::Group
            }
            GROUP_END => return Err(Problem::BadTag),
            plain => self.payload(plain)?,
        };
        Ok(Some((number, payload)))
    }

    pub(super) fn varint(&mut self) -> Result<u64, Problem> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.rest.split_first().ok_or(Problem::Truncated)?;
            self.rest = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Problem::LongVarint)
    }

    fn tag(&mut self) -> Result<(u32, u8), Problem> {
        let tag = self.varint()?;
        let number = tag >> 3;
        if number == 0 || number > MAX_NUMBER {
            return Err(Problem::BadTag);
        }
        Ok((number as u32, (tag & 7) as u8))
    }

    fn payload(&mut self, wire_type: u8) -> Result<Payload<'a>, Problem> {
        Ok(match wire_type {
            0 => Payload::Varint(self.varint()?),
            1 => {
                self.take(8)?;
                Payload::Fixed
            }
            2 => {
                let length = self.varint()?;
                Payload::Bytes(self.take(length)?)
            }
            5 => {
                self.take(4)?;
                Payload::Fixed
            }
            _ => return Err(Problem::BadTag),
        })
    }

    /// Passes over a group and those within it, without recursion.
    fn skip_group(&mut self) -> Result<(), Problem> {
        let mut open = 1_usize;
        while open > 0 {
            match self.tag()?.1 {
                GROUP_START => open += 1,
                GROUP_END => open -= 1,
                plain => {
                    self.payload(plain)?;
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, length: u64) -> Result<&'a [u8], Problem> {
        let length = usize::try_from(length).map_err(|_| Problem::Truncated)?;
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Problem::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }
}

const GROUP_START: u8 = 3;
const GROUP_END: u8 = 4;
const MAX_NUMBER: u64 = (1 << 29) - 1;
