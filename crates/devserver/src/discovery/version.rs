//! `/version`.

use serde::Serialize;

/// The minor version of Kubernetes whose API this is.
const MINOR: &str = "37";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Info {
    major: &'static str,
    minor: &'static str,
    emulation_major: &'static str,
    emulation_minor: &'static str,
    min_compatibility_major: &'static str,
    min_compatibility_minor: &'static str,
    git_version: String,
    git_commit: &'static str,
    git_tree_state: &'static str,
    build_date: &'static str,
    go_version: &'static str,
    compiler: &'static str,
    platform: String,
}

/// Of the Kubernetes version this server follows; the build metadata says what it really is.
pub(super) fn info() -> Info {
    Info {
        major: "1",
        minor: MINOR,
        emulation_major: "1",
        emulation_minor: MINOR,
        min_compatibility_major: "1",
        min_compatibility_minor: MINOR,
        git_version: format!("v1.{MINOR}.2+kubewright.{}", env!("CARGO_PKG_VERSION")),
        git_commit: "",
        git_tree_state: "",
        build_date: "1970-01-01T00:00:00Z",
        go_version: "none",
        compiler: "rustc",
        platform: format!("{}/{}", operating_system(), architecture()),
    }
}

/// In Go's words, as clients expect them.
fn operating_system() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    }
}

fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "x86" => "386",
        "aarch64" => "arm64",
        other => other,
    }
}
