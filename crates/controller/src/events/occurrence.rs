//! What a caller reports, and the event that becomes of it.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kubewright_meta::selector::validation::check_dns_subdomain;
use kubewright_meta::{Kind, Object, ObjectMeta};

/// The limits of the API server's validation, in bytes.
const MAX_NOTE: usize = 1024;
const MAX_REASON: usize = 128;

/// Whether something is as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventType {
    /// Of interest, nothing to worry about.
    Normal,
    /// Something went wrong or soon may.
    Warning,
}

impl EventType {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "Normal",
            Self::Warning => "Warning",
        }
    }
}

/// Something that happened to an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Occurrence {
    /// Normal or Warning.
    pub event_type: EventType,
    /// The object it is about; see [`object_reference`].
    pub regarding: ObjectReference,
    /// Another object that has to do with it.
    pub related: Option<ObjectReference>,
    /// Why, for programs: one word in CamelCase, such as `FailedCreate`; required, at most 128 bytes.
    pub reason: String,
    /// What the controller did or tried, for programs: one word in CamelCase, such as `Creating`; required, at
    /// most 128 bytes.
    pub action: String,
    /// What happened, for people; cut after 1024 bytes.
    pub note: String,
}

/// A reference to an object, to record events about it (client-go's `reference.GetReference`).
pub fn object_reference<K: Object>(object: &K, kind: &Kind<K>) -> ObjectReference {
    let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    ObjectReference {
        api_version: Some(kind.api_version().into_owned()),
        kind: Some(kind.kind().to_owned()),
        name: some(object.name()),
        namespace: object.namespace().map(str::to_owned),
        uid: some(object.uid()),
        resource_version: some(object.resource_version()),
        field_path: None,
    }
}

/// Who reports.
#[derive(Clone, Debug)]
pub(super) struct Reporter {
    pub(super) controller: String,
    pub(super) instance: String,
}

impl Reporter {
    pub(super) fn new(controller: &str, hostname: &str) -> Self {
        let mut instance = format!("{controller}-{hostname}");
        cut(&mut instance, MAX_REASON);
        Self { controller: controller.to_owned(), instance }
    }

    /// The event, with a name that no other has: that of the object and the time, which must differ from call to
    /// call.
    pub(super) fn event(&self, occurrence: Occurrence, at: Timestamp, unique_nanos: u64) -> Event {
        let Occurrence { event_type, regarding, related, mut reason, mut action, mut note } =
            occurrence;
        cut(&mut reason, MAX_REASON);
        cut(&mut action, MAX_REASON);
        cut(&mut note, MAX_NOTE);
        // Events about cluster-wide objects live in `default`, though what they regard has no namespace.
        let namespace = regarding.namespace.clone().filter(|namespace| !namespace.is_empty());
        let metadata = ObjectMeta {
            name: Some(event_name(regarding.name.as_deref().unwrap_or_default(), unique_nanos)),
            namespace: Some(namespace.unwrap_or_else(|| "default".to_owned())),
            ..ObjectMeta::default()
        };
        Event {
            metadata,
            type_: Some(event_type.as_str().to_owned()),
            reason: Some(reason),
            action: Some(action),
            note: Some(note),
            regarding: Some(regarding),
            related,
            reporting_controller: Some(self.controller.clone()),
            reporting_instance: Some(self.instance.clone()),
            event_time: Some(MicroTime(at)),
            ..Event::default()
        }
    }
}

/// `<object>.<nanoseconds in hex>`, or a random uuid where that would be no valid name.
fn event_name(object: &str, unique_nanos: u64) -> String {
    let name = format!("{object}.{unique_nanos:x}");
    if check_dns_subdomain(&name).is_ok() { name } else { random_uuid() }
}

fn random_uuid() -> String {
    let random = fastrand::u128(..);
    // Version 4, variant 1, as RFC 9562 has random ones.
    let bits = (random & !(0xf << 76) & !(0b11 << 62)) | (0x4 << 76) | (0b10 << 62);
    let hex = format!("{bits:032x}");
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

/// Shortens a text to at most `max` bytes, at a character's end.
fn cut(text: &mut String, max: usize) {
    if text.len() > max {
        let end = (0..=max).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
    }
}

#[cfg(test)]
#[path = "occurrence_tests.rs"]
mod tests;
