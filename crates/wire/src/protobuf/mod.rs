//! Kubernetes' protobuf, read by a schema.
//!
//! The Go types of the API say in their tags how they travel. A small program turns those tags into `schema.txt`,
//! and what is here reads any message by it: there is no code per type, and a newer release of Kubernetes is a newer
//! schema.
//!
//! The result is the JSON that Go makes of the same object, to the last `null`: protobuf carries zero values that JSON
//! leaves out, and leaves out what JSON has as `null` or `{}`.

mod decode;
mod embedded;
mod envelope;
mod fault;
mod reader;
mod schema;
mod text;

use serde_json::{Map, Value};

use self::decode::Decoder;
use self::envelope::Envelope;
use self::schema::Schema;
use crate::{Error, MAX_OBJECT_BYTES};

/// The media type of [`to_json`]'s input.
pub const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";

/// How many messages may lie within each other; Kubernetes' own stay far below.
const MAX_DEPTH: usize = 100;
/// How many JSON values may come of one body. Two bytes can stand for an object of many zero values, so the size of the
/// body alone is no bound.
const MAX_VALUES: usize = 1_000_000;

/// Reads an object in Kubernetes' protobuf envelope (`k8s\0` and a `runtime.Unknown`) into the JSON that a server would
/// show for it, with the `apiVersion` and `kind` that the envelope names.
///
/// The kinds known are those that the development server takes, with the bodies of their subresources, `DeleteOptions`
/// of any group, and `Status`. Fields that the schema lacks, from a newer version, are passed over. Contents of text
/// fields are taken as they are: that a quantity is one is for the receiver to check.
///
/// # Errors
/// [`Error::is_malformed`] for bytes that are no such object, with the path of the field in [`Error::field`];
/// [`Error::is_unexpected_kind`] for a kind that the schema lacks; [`Error::is_too_large`] beyond
/// [`MAX_OBJECT_BYTES`].
///
/// ```
/// let body = b"k8s\0\x0a\x0f\x0a\x02v1\x12\x09Namespace\x12\x06\x0a\x04\x0a\x02kw";
/// let namespace = kubewright_wire::protobuf::to_json(body)?;
/// assert_eq!(namespace["metadata"]["name"], "kw");
/// # Ok::<(), kubewright_wire::Error>(())
/// ```
pub fn to_json(body: &[u8]) -> Result<Value, Error> {
    to_json_by(Schema::built_in(), body)
}

fn to_json_by(schema: &Schema, body: &[u8]) -> Result<Value, Error> {
    if body.len() > MAX_OBJECT_BYTES {
        return Err(Error::too_large("a protobuf object", MAX_OBJECT_BYTES));
    }
    let envelope = Envelope::read(body)
        .map_err(|problem| Error::malformed_protobuf("an object", String::new(), &problem))?;
    let what = envelope.shown();
    let Some(message) = schema.kind(envelope.api_version, envelope.kind) else {
        return Err(Error::unexpected("a kind that the protobuf schema has", what));
    };
    let mut object = Map::new();
    envelope.write_type(&mut object);
    Decoder::new(schema)
        .message(message, envelope.raw, &mut object)
        .map_err(|fault| Error::malformed_protobuf(&what, fault.path(), &fault.problem))?;
    Ok(Value::Object(object))
}

#[cfg(test)]
#[path = "fixtures_tests.rs"]
mod fixtures_tests;
#[cfg(test)]
mod golden;
#[cfg(test)]
#[path = "hostile_tests.rs"]
mod hostile_tests;
#[cfg(test)]
#[path = "protobuf_tests.rs"]
mod tests;
#[cfg(test)]
mod writer;
