//! What one frame of a watch says.

use kubewright_meta::StatusError;

use crate::scan::{ObjectWalk, Scan, Scanner, SyntaxError, Text};
use crate::{Error, RawObject, scan, status};

/// One event of a watch.
#[derive(Clone, Debug)]
pub enum RawWatchEvent {
    /// `ADDED`: an object was created, now matches the selector, or existed when the watch began.
    Added(RawObject),
    /// `MODIFIED`: an object changed.
    Modified(RawObject),
    /// `DELETED`: an object was deleted, or no longer matches the selector; with its last state.
    Deleted(RawObject),
    /// `BOOKMARK`: all changes up to this version have been sent.
    Bookmark {
        /// From where a watch can go on.
        resource_version: String,
        /// The objects that existed at the start of the watch have all been sent
        /// (annotation `k8s.io/initial-events-end`).
        initial_events_end: bool,
    },
    /// `ERROR`: the server cannot go on. Nothing useful comes behind it.
    Error(StatusError),
}

impl RawWatchEvent {
    /// Reads one frame, `{"type": …, "object": …}`. With `strip` objects lose their
    /// `metadata.managedFields`.
    ///
    /// # Errors
    /// A frame that is malformed, or of a type that is not known; the error names the object where it can. The frames
    /// behind it can still be read.
    pub fn parse(frame: impl AsRef<[u8]>, strip: bool) -> Result<Self, Error> {
        let frame = frame.as_ref();
        let read = |object: &[u8]| {
            if strip {
                RawObject::from_json_without_managed_fields(object)
            } else {
                RawObject::from_json(object)
            }
        };
        if let Some((about, object)) = usual_parts(frame)
            && let Ok(object) = read(object)
        {
            return about(object);
        }
        let (kind, object) =
            parts(frame).map_err(|fault| Error::malformed("watch event", None, fault))?;
        let kind = kind.read(frame);
        match about_object(&kind) {
            Some(about) => about(read(object)?),
            None => match kind.as_ref() {
                "BOOKMARK" => bookmark(object),
                "ERROR" => Ok(Self::Error(status::refusal(object))),
                other => {
                    let key = read(object).ok().map(|object| object.key().clone());
                    Err(Error::unknown_event(other, key))
                }
            },
        }
    }

    /// The object of an event about one.
    pub fn object(&self) -> Option<&RawObject> {
        match self {
            Self::Added(object) | Self::Modified(object) | Self::Deleted(object) => Some(object),
            Self::Bookmark { .. } | Self::Error(_) => None,
        }
    }

    /// The version up to which the watch has come with this event; `None` for an error.
    pub fn resource_version(&self) -> Option<&str> {
        match self {
            Self::Bookmark { resource_version, .. } => Some(resource_version),
            event => event.object().map(RawObject::resource_version),
        }
    }
}

type AboutObject = fn(RawObject) -> Result<RawWatchEvent, Error>;

/// The event of this type, for those about an object.
fn about_object(kind: &str) -> Option<AboutObject> {
    Some(match kind {
        "ADDED" => |object| Ok(RawWatchEvent::Added(refuse_table(object)?)),
        "MODIFIED" => |object| Ok(RawWatchEvent::Modified(refuse_table(object)?)),
        "DELETED" => |object| Ok(RawWatchEvent::Deleted(refuse_table(object)?)),
        _ => return None,
    })
}

/// The parts of an event about an object, if the type comes first and the object last, as servers write it. Whether
/// the object is one, scanning it will tell: that saves a search for its end.
fn usual_parts(frame: &[u8]) -> Option<(AboutObject, &[u8])> {
    let mut scanner = Scanner::new(frame);
    let mut members = ObjectWalk::enter(&mut scanner).ok()?;
    if !members.next_key(&mut scanner).ok()??.is(frame, "type") {
        return None;
    }
    let kind = scanner.text().ok()?;
    if !members.next_key(&mut scanner).ok()??.is(frame, "object") {
        return None;
    }
    let object = scan::trim(&frame[scanner.offset()..]).strip_suffix(b"}")?;
    Some((about_object(&kind.read(frame))?, object))
}

/// The event's type, and the bytes of its object, of which only the end is known.
fn parts(frame: &[u8]) -> Scan<(Text, &[u8])> {
    let mut scanner = Scanner::new(frame);
    scanner.skip_space();
    let (mut kind, mut object) = (None, None);
    let mut members = ObjectWalk::enter(&mut scanner)?;
    while let Some(key) = members.next_key(&mut scanner)? {
        if key.is(frame, "type") {
            kind = Some(scanner.text()?);
        } else if key.is(frame, "object") {
            object = Some(scanner.skip_unchecked(1)?);
        } else {
            scanner.skip_value(1)?;
        }
    }
    scanner.finish()?;
    match (kind, object) {
        (Some(kind), Some(object)) => Ok((kind, &frame[object])),
        (None, _) => Err(SyntaxError { offset: 0, problem: "it has no type" }),
        (_, None) => Err(SyntaxError { offset: 0, problem: "it has no object" }),
    }
}

fn bookmark(object: &[u8]) -> Result<RawWatchEvent, Error> {
    // Of the object only the metadata counts: servers leave out what its type requires.
    let object = RawObject::from_json(object)?;
    if object.resource_version().is_empty() {
        let problem = "it has no metadata.resourceVersion";
        let fault = SyntaxError { offset: 0, problem };
        return Err(Error::malformed("bookmark", None, fault));
    }
    Ok(RawWatchEvent::Bookmark {
        resource_version: object.resource_version().to_owned(),
        initial_events_end: object.annotation(INITIAL_EVENTS_END).as_deref() == Some("true"),
    })
}

const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// A table is a rendering of objects for people: it must never be taken for one.
fn refuse_table(object: RawObject) -> Result<RawObject, Error> {
    let (api_version, kind) =
        (object.api_version().unwrap_or_default(), object.kind().unwrap_or_default());
    if is_table(api_version, kind) {
        return Err(Error::unexpected("an object", format!("a {api_version} {kind}")));
    }
    Ok(object)
}

pub(crate) fn is_table(api_version: &str, kind: &str) -> bool {
    kind == "Table" && api_version.starts_with("meta.k8s.io/")
}

#[cfg(test)]
#[path = "watch_event_tests.rs"]
mod tests;
