//! Media types: what a client accepts, and what it sends.

use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_TYPE};

use crate::failure::{self, Result};

/// Whether plain JSON is among what the client accepts.
///
/// Transformations (`as=Table`, `as=PartialObjectMetadata`) are not served, so such clauses are passed over,
/// as a server does that lacks them; clients list plain JSON after them.
pub(crate) fn check_accept(headers: &HeaderMap) -> Result<()> {
    let mut asked = false;
    for value in headers.get_all(ACCEPT) {
        let Ok(text) = value.to_str() else { continue };
        for clause in text.split(',').map(str::trim).filter(|clause| !clause.is_empty()) {
            asked = true;
            if accepts_json(clause) {
                return Ok(());
            }
        }
    }
    if asked { Err(failure::not_acceptable()) } else { Ok(()) }
}

fn accepts_json(clause: &str) -> bool {
    let mut parts = clause.split(';').map(str::trim);
    let media_type = parts.next().unwrap_or_default().to_ascii_lowercase();
    if !["application/json", "application/*", "*/*"].contains(&media_type.as_str()) {
        return false;
    }
    parts.all(|parameter| {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let value = value.trim().trim_matches('"');
        match name.trim().to_ascii_lowercase().as_str() {
            "as" | "g" | "v" | "sv" => value.is_empty(),
            "stream" => value.is_empty() || value == "watch",
            "q" => value.parse::<f32>().is_ok_and(|quality| quality > 0.0),
            _ => true,
        }
    })
}

/// The media type of the body, without parameters; `None` where the client does not say.
pub(super) fn content_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(CONTENT_TYPE)?.to_str().unwrap_or_default();
    let media_type = value.split(';').next().unwrap_or_default().trim();
    (!media_type.is_empty()).then(|| media_type.to_ascii_lowercase())
}
