//! The query parameters of list, watch and deletecollection.

use kubewright_meta::{FieldSelector, ResourceVersionMatch, Selector};

use crate::failure::{self, Result};
use crate::kinds::ResourceKind;
use crate::protocol::Query;
use crate::store::Stored;
use crate::validation::FieldErrors;

/// Which objects a list or watch is about.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    /// The prefix of keys of one namespace, `lab/`.
    prefix: Option<String>,
    labels: Selector,
    fields: FieldSelector,
}

impl Filter {
    pub(super) fn read(
        kind: &ResourceKind,
        namespace: Option<&str>,
        query: &Query,
    ) -> Result<Self> {
        let labels: Selector =
            query.text("labelSelector").unwrap_or_default().parse().map_err(|error| {
                failure::bad_request(format!("unable to parse requirement: {error}"))
            })?;
        let fields: FieldSelector =
            query.text("fieldSelector").unwrap_or_default().parse().map_err(|error| {
                failure::bad_request(format!("invalid field selector: {error}"))
            })?;
        for term in fields.terms() {
            check_label(kind, term.path())?;
        }
        Ok(Self { prefix: namespace.map(|namespace| format!("{namespace}/")), labels, fields })
    }

    pub(super) fn prefix(&self) -> Option<&str> {
        self.prefix.as_deref()
    }

    pub(super) fn matches(&self, kind: &ResourceKind, key: &str, stored: &Stored) -> bool {
        self.covers(key)
            && stored.matches_labels(&self.labels)
            && stored.matches_fields(kind, key, &self.fields)
    }

    pub(super) fn covers(&self, key: &str) -> bool {
        self.prefix.as_deref().is_none_or(|prefix| key.starts_with(prefix))
    }

    /// Whether selectors decide, so that what is left to come on further pages is not known.
    pub(super) fn selects(&self) -> bool {
        !self.labels.is_everything() || !self.fields.is_everything()
    }
}

fn check_label(kind: &ResourceKind, label: &str) -> Result<()> {
    let of_all = ["metadata.name", "metadata.namespace"].contains(&label);
    if of_all || kind.fields.iter().any(|field| field.label == label) {
        return Ok(());
    }
    Err(failure::bad_request(if kind.fields.is_empty() && !kind.custom {
        format!(
            "field label not supported: {label:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
        )
    } else {
        format!("field label not supported: {label}")
    }))
}

/// Which state a list is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListVersion {
    Newest,
    NotOlderThan(u64),
    Exact(u64),
}

#[derive(Debug)]
pub(super) struct ListOptions {
    pub(super) version: ListVersion,
    /// Zero for no limit.
    pub(super) limit: usize,
    pub(super) continue_token: Option<String>,
}

impl ListOptions {
    pub(super) fn read(query: &Query) -> Result<Self> {
        let text = query.text("resourceVersion");
        let token = query.text("continue");
        let rule = check_match(query, text, token)?;
        let limit = query.number("limit")?.unwrap_or(0);
        // No list here takes a second; that it is a number is checked all the same.
        query.number("timeoutSeconds")?;
        if token.is_some() && text.is_some_and(|text| text != "0") {
            let why = "specifying resource version is not allowed when using continue";
            return Err(failure::bad_request(why));
        }
        let version = match (text.map(parse_version).transpose()?, rule) {
            (None, _) => ListVersion::Newest,
            (Some(version), Some(ResourceVersionMatch::Exact)) => ListVersion::Exact(version),
            // As servers have it since paging exists: a limit with a version means that very version.
            (Some(version @ 1..), None) if limit > 0 => ListVersion::Exact(version),
            (Some(version), _) => ListVersion::NotOlderThan(version),
        };
        Ok(Self {
            version,
            limit: usize::try_from(limit).unwrap_or(0),
            continue_token: token.map(str::to_owned),
        })
    }
}

fn check_match(
    query: &Query,
    version: Option<&str>,
    token: Option<&str>,
) -> Result<Option<ResourceVersionMatch>> {
    let mut errors = FieldErrors::default();
    let mut rule = None;
    if let Some(text) = query.text("resourceVersionMatch") {
        let field = "resourceVersionMatch";
        if version.is_none() {
            errors.forbidden(
                field,
                "resourceVersionMatch is forbidden unless resourceVersion is provided",
            );
        }
        if token.is_some() {
            errors.forbidden(field, "resourceVersionMatch is forbidden when continue is provided");
        }
        match text {
            "Exact" => rule = Some(ResourceVersionMatch::Exact),
            "NotOlderThan" => rule = Some(ResourceVersionMatch::NotOlderThan),
            other => errors.unsupported(field, other, &["Exact", "NotOlderThan", ""]),
        }
        if text == "Exact" && version == Some("0") {
            errors.forbidden(
                field,
                "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
            );
        }
    }
    if query.optional_flag("sendInitialEvents").is_some() {
        errors.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
    }
    if errors.is_empty() { Ok(rule) } else { Err(failure::invalid_options("ListOptions", &errors)) }
}

pub(super) fn parse_version(text: &str) -> Result<u64> {
    text.parse().map_err(|_| {
        failure::bad_request(format!(
            "invalid resource version: strconv.ParseUint: parsing {text:?}: invalid syntax"
        ))
    })
}
