//! The types that are messages on the wire and one JSON value: times, quantities, integers or strings.

use k8s_openapi::jiff::{SignedDuration, civil};
use serde_json::Value;

use super::fault::Problem;
use super::reader::Reader;

/// Go's zero time, the start of the year 1, is `null` in JSON; so is one that is not there.
const ZERO_TIME: i64 = -62_135_596_800;
const LAST_TIME: i64 = 253_402_300_799;

/// A `Time`: the nanoseconds do not count.
pub(super) fn time(message: &[u8]) -> Result<Value, Problem> {
    let (seconds, _) = timestamp(message)?;
    write_time(seconds, 0, "%Y-%m-%dT%H:%M:%SZ")
}

/// A `MicroTime`, always with six digits after the second.
pub(super) fn micro_time(message: &[u8]) -> Result<Value, Problem> {
    let (seconds, nanos) = timestamp(message)?;
    write_time(seconds, nanos / 1000 * 1000, "%Y-%m-%dT%H:%M:%S.%6fZ")
}

fn write_time(seconds: i64, nanos: i32, format: &str) -> Result<Value, Problem> {
    if (seconds, nanos) == (ZERO_TIME, 0) {
        return Ok(Value::Null);
    }
    if !(ZERO_TIME..=LAST_TIME).contains(&seconds) || !(0..1_000_000_000).contains(&nanos) {
        return Err(Problem::Time);
    }
    // A `Timestamp` ends a day before the year does.
    let time = civil::date(1970, 1, 1)
        .at(0, 0, 0, 0)
        .checked_add(SignedDuration::new(seconds, nanos))
        .map_err(|_| Problem::Time)?;
    Ok(time.strftime(format).to_string().into())
}

fn timestamp(message: &[u8]) -> Result<(i64, i32), Problem> {
    if message.is_empty() {
        return Ok((ZERO_TIME, 0));
    }
    let (mut seconds, mut nanos) = (0, 0);
    let mut reader = Reader::new(message);
    while let Some((number, payload)) = reader.next_field()? {
        match number {
            1 => seconds = payload.varint()? as i64,
            2 => nanos = payload.varint()? as i32,
            _ => {}
        }
    }
    Ok((seconds, nanos))
}

/// A `Quantity`, which Go writes in its canonical form.
pub(super) fn quantity(message: &[u8]) -> Result<Value, Problem> {
    let mut text = ZERO_QUANTITY;
    let mut reader = Reader::new(message);
    while let Some((number, payload)) = reader.next_field()? {
        if number == 1 {
            text = payload.text()?;
        }
    }
    Ok(text.into())
}

pub(super) const ZERO_QUANTITY: &str = "0";

/// An `IntOrString`: which of the two, the integer, the string.
pub(super) fn int_or_string(message: &[u8]) -> Result<Value, Problem> {
    let (mut which, mut int, mut string) = (0, 0, "");
    let mut reader = Reader::new(message);
    while let Some((number, payload)) = reader.next_field()? {
        match number {
            1 => which = payload.varint()?,
            2 => int = payload.varint()? as i32,
            3 => string = payload.text()?,
            _ => {}
        }
    }
    match which {
        0 => Ok(int.into()),
        1 => Ok(string.into()),
        _ => Err(Problem::IntOrString),
    }
}
