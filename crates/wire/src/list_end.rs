//! What a list says besides its items.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ListMeta;

use crate::scan::{Scanner, SyntaxError};
use crate::{Error, status, watch_event};

/// What a list says besides its items: its type and its `metadata`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListEnd {
    /// `apiVersion` of the list, or empty. For built-in kinds also that of its items.
    pub api_version: String,
    /// `kind` of the list, such as `PodList`, or empty.
    pub kind: String,
    /// The version of the collection that the list shows. A watch goes on from here. Opaque; empty where the server
    /// gave none.
    pub resource_version: String,
    /// With what to ask for the next page (`metadata.continue`); `None` on the last.
    pub continue_token: Option<String>,
    /// How many objects the pages behind this one hold, where the server knows.
    pub remaining_item_count: Option<i64>,
}

/// The members of a list that are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Member {
    ApiVersion,
    Kind,
    Metadata,
    Items,
    /// One that makes up a `Status`, by its name.
    OfStatus(&'static str),
    Other,
}

impl Member {
    pub(crate) fn named(name: &str) -> Self {
        const OF_STATUS: [&str; 5] = ["status", "message", "reason", "details", "code"];
        match name {
            "apiVersion" => Self::ApiVersion,
            "kind" => Self::Kind,
            "metadata" => Self::Metadata,
            "items" => Self::Items,
            name => match OF_STATUS.iter().find(|known| **known == name) {
                Some(known) => Self::OfStatus(known),
                None => Self::Other,
            },
        }
    }

    pub(crate) fn is_kept(self) -> bool {
        self != Self::Other
    }
}

/// The members as they are found.
#[derive(Debug, Default)]
pub(crate) struct Envelope {
    api_version: String,
    kind: String,
    metadata: ListMeta,
    has_items: bool,
    of_status: Vec<(&'static str, Vec<u8>)>,
}

impl Envelope {
    /// Says whether this is the first time.
    pub(crate) fn begin_items(&mut self) -> bool {
        !std::mem::replace(&mut self.has_items, true)
    }

    /// Takes the JSON value of a member.
    pub(crate) fn set(&mut self, member: Member, json: Vec<u8>) -> Result<(), SyntaxError> {
        let mut scanner = Scanner::new(&json);
        scanner.skip_value(1)?;
        scanner.finish()?;
        let unfit = |problem| SyntaxError { offset: 0, problem };
        match member {
            Member::ApiVersion => {
                let text: Option<String> = serde_json::from_slice(&json)
                    .map_err(|_| unfit("apiVersion is not a string"))?;
                self.api_version = text.unwrap_or_default();
            }
            Member::Kind => {
                let text: Option<String> =
                    serde_json::from_slice(&json).map_err(|_| unfit("kind is not a string"))?;
                self.kind = text.unwrap_or_default();
            }
            Member::Metadata => {
                let metadata: Option<ListMeta> = serde_json::from_slice(&json)
                    .map_err(|_| unfit("metadata is not that of a list"))?;
                self.metadata = metadata.unwrap_or_default();
            }
            // Null: Go writes a list without items so.
            Member::Items => {
                if !self.begin_items() {
                    return Err(unfit("items occurs twice"));
                }
            }
            Member::OfStatus(name) => {
                self.of_status.retain(|(known, _)| *known != name);
                self.of_status.push((name, json));
            }
            Member::Other => {}
        }
        Ok(())
    }

    pub(crate) fn is_table(&self) -> bool {
        watch_event::is_table(&self.api_version, &self.kind)
    }

    pub(crate) fn finish(self) -> Result<ListEnd, Error> {
        if !self.has_items {
            return Err(self.no_list());
        }
        Ok(ListEnd {
            api_version: self.api_version,
            kind: self.kind,
            resource_version: self.metadata.resource_version.unwrap_or_default(),
            continue_token: self.metadata.continue_.filter(|token| !token.is_empty()),
            remaining_item_count: self.metadata.remaining_item_count,
        })
    }

    fn no_list(self) -> Error {
        if (self.api_version.as_str(), self.kind.as_str()) == ("v1", "Status") {
            return Error::refused(status::refusal(&self.status_document()));
        }
        let found = match (self.api_version.as_str(), self.kind.as_str()) {
            ("", "") => "a document without items, apiVersion and kind".to_owned(),
            (api_version, kind) => format!("a document without items ({api_version} {kind})"),
        };
        Error::unexpected("a list of objects", found)
    }

    /// The `Status` put together again.
    fn status_document(&self) -> Vec<u8> {
        let mut json = br#"{"apiVersion":"v1","kind":"Status""#.to_vec();
        for (name, value) in &self.of_status {
            json.extend_from_slice(b",\"");
            json.extend_from_slice(name.as_bytes());
            json.extend_from_slice(b"\":");
            json.extend_from_slice(value);
        }
        json.push(b'}');
        json
    }
}
