//! `/healthz`, `/livez` and `/readyz`.
//!
//! A server that answers at all is healthy: there is no etcd behind it, and it starts before it listens.

use std::fmt::Write;

use http::{Response, StatusCode};

use super::text;
use crate::protocol::Body;

pub(super) const PATHS: [&str; 6] =
    ["/healthz", "/healthz/ping", "/livez", "/livez/ping", "/readyz", "/readyz/ping"];

const CHECK: &str = "ping";

/// The answer if the path is one of them, whatever the method.
pub(super) fn answer(segments: &[&str], query: &str) -> Option<Response<Body>> {
    match segments {
        [name @ ("healthz" | "livez" | "readyz")] => {
            Some(text(StatusCode::OK, report(name, query)))
        }
        ["healthz" | "livez" | "readyz", CHECK] => Some(text(StatusCode::OK, "ok")),
        _ => None,
    }
}

fn report(name: &str, query: &str) -> String {
    let pairs: Vec<_> = form_urlencoded::parse(query.as_bytes()).collect();
    if !pairs.iter().any(|(key, _)| key == "verbose") {
        return "ok".into();
    }
    let excluded = pairs.iter().filter(|(key, value)| key == "exclude" && !value.is_empty());
    let (known, unknown): (Vec<_>, Vec<_>) =
        excluded.map(|(_, name)| name).partition(|name| *name == CHECK);
    let mut report =
        format!("[+]{CHECK} {}\n", if known.is_empty() { "ok" } else { "excluded: ok" });
    if !unknown.is_empty() {
        let names: Vec<String> = unknown.iter().map(|name| format!("{name:?}")).collect();
        let names = names.join(", ");
        // Writing to a string does not fail.
        let _ =
            writeln!(report, "warn: some health checks cannot be excluded: no matches for {names}");
    }
    report + name + " check passed\n"
}
