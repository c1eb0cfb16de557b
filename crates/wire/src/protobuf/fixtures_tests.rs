//! The objects that Kubernetes keeps as test data of its own formats, of which each field is set: protobuf beside JSON.
//!
//! They come with the Go module, so this only runs where it is asked for: `cargo xtask schema --check-fixtures`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::schema::Schema;
use super::{to_json, to_json_by};

#[test]
#[ignore = "needs the files of a Go module: run `cargo xtask schema --check-fixtures`"]
fn every_fixture_decodes_to_the_json_beside_it() {
    let folder = PathBuf::from(env::var_os("KUBEWRIGHT_FIXTURES").expect("the fixtures' folder"));
    let schema = env::var_os("KUBEWRIGHT_SCHEMA").expect("a schema of all kinds");
    let text = fs::read_to_string(schema).unwrap();
    let all = Schema::parse(text.leak()).unwrap();

    let mut differences = Vec::new();
    let (mut read, mut built_in) = (0, 0);
    for path in protobuf_files(&folder) {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let body = fs::read(&path).unwrap();
        if name == "core.v1.WatchEvent" {
            // What frames of a watch hold has no type, and never stands in an envelope by itself.
            assert!(to_json(&body).unwrap_err().is_malformed());
            continue;
        }
        let wanted: Value =
            serde_json::from_slice(&fs::read(path.with_extension("json")).unwrap()).unwrap();
        match to_json_by(&all, &body) {
            Ok(got) => compare(&name, &got, &wanted, &mut differences),
            Err(error) => differences.push(format!("{name}: {error}")),
        }
        match to_json(&body) {
            Ok(got) => {
                built_in += 1;
                compare(&name, &got, &wanted, &mut differences);
            }
            Err(error) => assert!(error.is_unexpected_kind(), "{name}: {error}"),
        }
        read += 1;
    }
    println!(
        "{read} fixtures read by a schema of all kinds, {built_in} of them by the one built in"
    );
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(read > 150, "only {read} fixtures in {}", folder.display());
    assert!(built_in >= 15, "only {built_in} fixtures of kinds built in");
}

fn protobuf_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "pb"));
    files.sort();
    files
}

/// Notes where two documents differ, not the documents.
fn compare(path: &str, got: &Value, wanted: &Value, differences: &mut Vec<String>) {
    match (got, wanted) {
        (Value::Object(got), Value::Object(wanted)) => {
            for (name, value) in got {
                match wanted.get(name) {
                    Some(wanted) => compare(&format!("{path}.{name}"), value, wanted, differences),
                    None => differences.push(format!("{path}.{name}: {value} is too much")),
                }
            }
            let missing = wanted.iter().filter(|(name, _)| !got.contains_key(*name));
            differences
                .extend(missing.map(|(name, value)| format!("{path}.{name}: {value} is missing")));
        }
        (Value::Array(got), Value::Array(wanted)) if got.len() == wanted.len() => {
            for (index, (got, wanted)) in got.iter().zip(wanted).enumerate() {
                compare(&format!("{path}[{index}]"), got, wanted, differences);
            }
        }
        _ if got == wanted => {}
        _ => differences.push(format!("{path}: {got}, not {wanted}")),
    }
}
