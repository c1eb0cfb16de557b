//! Bytes of a kubeconfig to a tree of values, read as `kubectl` reads them: YAML or JSON, the first document only, the
//! last of two equal keys.
//!
//! Messages give a position and a reason but no text of the file, which is full of secrets.

use serde_json::Value;
use serde_saphyr::{NonFiniteFloatPolicy, options::DuplicateKeyPolicy};

/// The largest kubeconfig that is read. Real ones, with hundreds of clusters, stay far below.
pub(crate) const MAX_BYTES: u64 = 8 << 20;

/// The first document of `bytes`, and whether there were more.
pub(crate) struct Document {
    pub(crate) value: Value,
    pub(crate) followed: bool,
}

/// Parses the bytes of one file.
pub(crate) fn parse(bytes: &[u8]) -> Result<Document, String> {
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("is larger than {MAX_BYTES} bytes"));
    }
    if bytes.trim_ascii_start().first() == Some(&b'{')
        && let Ok(value) = serde_json::from_slice(bytes)
    {
        return Ok(Document { value, followed: false });
    }
    let mut reader = bytes;
    let mut documents = serde_saphyr::read_with_options(&mut reader, options());
    match documents.next() {
        None => Ok(Document { value: Value::Null, followed: false }),
        Some(Err(error)) => Err(describe(&error)),
        Some(Ok(value)) => Ok(Document { value, followed: documents.next().is_some() }),
    }
}

fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        with_snippet: false,
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 100_000 },
    }
}

fn describe(error: &serde_saphyr::Error) -> String {
    let reason = reason(error);
    match error.location() {
        Some(at) if at.line() > 0 => {
            format!("is not valid YAML: {reason} at line {}, column {}", at.line(), at.column())
        }
        _ => format!("is not valid YAML: {reason}"),
    }
}

fn reason(error: &serde_saphyr::Error) -> &str {
    use serde_saphyr::Error as E;
    match error.without_snippet() {
        // The scanner's own words: fixed texts that show one offending character at most.
        E::ExternalMessage { msg, .. } => msg.as_str(),
        E::AliasError { error, .. } => reason(error),
        E::InvalidUtf8Input | E::IOError { .. } => "the text is not UTF-8",
        E::Eof { .. } => "the text ends in the middle",
        E::UnknownAnchor { .. } => "an alias names no anchor",
        E::RecursiveReferencesRequireWeakTypes { .. } => "an anchor refers to itself",
        E::Budget { .. }
        | E::AliasReplayCounterOverflow { .. }
        | E::AliasReplayLimitExceeded { .. }
        | E::AliasExpansionLimitExceeded { .. }
        | E::AliasReplayStackDepthExceeded { .. } => {
            "nested too deep, or too many nodes, anchors or aliases"
        }
        E::MergeValueNotMapOrSeqOfMaps { .. } => "the value of a merge key is not a mapping",
        _ => "a value cannot be read",
    }
}
