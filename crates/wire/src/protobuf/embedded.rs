//! Documents within a document: `RawExtension` and `FieldsV1`, which hold bytes of any format.

use serde_json::Value;

use super::fault::Problem;
use super::reader::Reader;

/// How CBOR documents start.
const CBOR: &[u8] = &[0xd9, 0xd9, 0xf7];

/// The bytes in field 1.
pub(super) fn content(message: &[u8]) -> Result<&[u8], Problem> {
    let mut content: &[u8] = &[];
    let mut reader = Reader::new(message);
    while let Some((number, payload)) = reader.next_field()? {
        if number == 1 {
            content = payload.bytes()?;
        }
    }
    Ok(content)
}

/// Content that is no protobuf. Its nesting is bounded by serde_json.
pub(super) fn json(content: &[u8]) -> Result<Value, Problem> {
    if content.is_empty() {
        return Ok(Value::Null);
    }
    if content.starts_with(CBOR) {
        return Err(Problem::Cbor);
    }
    serde_json::from_slice(content).map_err(Problem::EmbeddedJson)
}
