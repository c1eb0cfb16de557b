//! One step of a resource's history, as watches show it.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use super::Stored;
use super::stored::FRAME_END;
use crate::failure::Result;
use crate::kinds::ResourceKind;
use crate::object;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    Added,
    Modified,
    Deleted,
}

impl ChangeKind {
    pub(crate) fn frame_start(self) -> &'static str {
        match self {
            Self::Added => "{\"type\":\"ADDED\",\"object\":",
            Self::Modified => "{\"type\":\"MODIFIED\",\"object\":",
            Self::Deleted => "{\"type\":\"DELETED\",\"object\":",
        }
    }

    /// A frame around an object that was encoded for another occasion.
    pub(crate) fn frame(self, object: &[u8]) -> Bytes {
        let start = self.frame_start();
        let mut frame = Vec::with_capacity(start.len() + object.len() + FRAME_END.len());
        frame.extend_from_slice(start.as_bytes());
        frame.extend_from_slice(object);
        frame.extend_from_slice(FRAME_END.as_bytes());
        frame.into()
    }
}

pub(crate) struct Change {
    /// The object's key in the store.
    pub(crate) key: Arc<str>,
    pub(crate) kind: ChangeKind,
    /// The new state; for a removal the last one, under the revision of the removal.
    pub(crate) object: Arc<Stored>,
    pub(crate) previous: Option<Arc<Stored>>,
    /// The previous state under this change's revision, made when a watcher first needs it.
    left: OnceLock<Bytes>,
}

impl Change {
    pub(crate) fn new(
        key: Arc<str>,
        kind: ChangeKind,
        object: Arc<Stored>,
        previous: Option<Arc<Stored>>,
    ) -> Self {
        Self { key, kind, object, previous, left: OnceLock::new() }
    }

    pub(crate) fn revision(&self) -> u64 {
        self.object.revision
    }

    /// The object for watchers whose selector it has left: as it was, under the version of the change.
    pub(crate) fn left(&self, kind: &ResourceKind) -> Result<Bytes> {
        if let Some(bytes) = self.left.get() {
            return Ok(bytes.clone());
        }
        let previous = self.previous.as_ref().unwrap_or(&self.object);
        let mut last = previous.decode()?;
        last.metadata.resource_version = Some(self.revision().to_string());
        let bytes = object::encode(kind, &last)?;
        Ok(self.left.get_or_init(|| bytes).clone())
    }
}
