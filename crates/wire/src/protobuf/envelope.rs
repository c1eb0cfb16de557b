//! The envelope around every object: four bytes that mark it, then a `runtime.Unknown`.

use serde_json::{Map, Value};

use super::fault::Problem;
use super::reader::Reader;

pub(super) const MAGIC: &[u8] = b"k8s\0";
/// How much of a name in an envelope is shown.
const SHOWN_CHARS: usize = 100;

/// An object that is still encoded, and what it says to be.
pub(super) struct Envelope<'a> {
    pub(super) api_version: &'a str,
    pub(super) kind: &'a str,
    pub(super) raw: &'a [u8],
}

impl<'a> Envelope<'a> {
    pub(super) fn read(body: &'a [u8]) -> Result<Self, Problem> {
        let unknown = body.strip_prefix(MAGIC).ok_or(Problem::NoMagic)?;
        let mut envelope = Self { api_version: "", kind: "", raw: &[] };
        let mut reader = Reader::new(unknown);
        while let Some((number, payload)) = reader.next_field()? {
            match number {
                1 => envelope.read_type(payload.bytes()?)?,
                2 => envelope.raw = payload.bytes()?,
                3 if !payload.bytes()?.is_empty() => return Err(Problem::ContentType),
                4 if !["", super::MEDIA_TYPE].contains(&payload.text()?) => {
                    return Err(Problem::ContentType);
                }
                _ => {}
            }
        }
        if envelope.api_version.is_empty() || envelope.kind.is_empty() {
            return Err(Problem::NoKind);
        }
        Ok(envelope)
    }

    fn read_type(&mut self, type_meta: &'a [u8]) -> Result<(), Problem> {
        let mut reader = Reader::new(type_meta);
        while let Some((number, payload)) = reader.next_field()? {
            match number {
                1 => self.api_version = payload.text()?,
                2 => self.kind = payload.text()?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Puts the type where JSON has it: no message has fields for it.
    pub(super) fn write_type(&self, object: &mut Map<String, Value>) {
        object.insert("apiVersion".into(), self.api_version.into());
        object.insert("kind".into(), self.kind.into());
    }

    /// The type as errors show it: `apps/v1 Deployment`.
    pub(super) fn shown(&self) -> String {
        let text = format!("{} {}", self.api_version, self.kind);
        text.chars().take(SHOWN_CHARS).collect()
    }
}
