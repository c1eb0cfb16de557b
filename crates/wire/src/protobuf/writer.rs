//! Writes protobuf for tests, field by field.

/// A message in the making.
#[derive(Clone, Debug, Default)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn new() -> Self {
        Self::default()
    }

    pub(super) fn number(mut self, field: u32, value: i64) -> Self {
        self.varint(u64::from(field) << 3);
        self.varint(value as u64);
        self
    }

    pub(super) fn bytes(mut self, field: u32, value: impl AsRef<[u8]>) -> Self {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(value.as_ref().len() as u64);
        self.0.extend_from_slice(value.as_ref());
        self
    }

    pub(super) fn message(self, field: u32, value: Self) -> Self {
        self.bytes(field, value.0)
    }

    pub(super) fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// In the envelope of an object.
    pub(super) fn enveloped(self, api_version: &str, kind: &str) -> Vec<u8> {
        let types = Self::new().bytes(1, api_version).bytes(2, kind);
        let unknown = Self::new().message(1, types).message(2, self);
        [b"k8s\0", unknown.0.as_slice()].concat()
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}
