use super::*;

#[test]
fn the_schema_in_the_repository_is_up_to_date() {
    let root = workspace::root().unwrap();
    check(&root.join(SCHEMA), &root.join(TOOL)).unwrap();
}

#[test]
fn a_changed_source_makes_it_stale() {
    let root = workspace::root().unwrap();
    let copy = tempfile::tempdir().unwrap();
    for name in SOURCES {
        fs::copy(root.join(TOOL).join(name), copy.path().join(name)).unwrap();
    }
    check(&root.join(SCHEMA), copy.path()).unwrap();

    let go_mod = fs::read_to_string(copy.path().join("go.mod")).unwrap();
    let version = api_version(&go_mod).unwrap();
    fs::write(copy.path().join("go.mod"), go_mod.replace(version, "v0.99.0")).unwrap();
    let refused = check(&root.join(SCHEMA), copy.path()).unwrap_err().to_string();
    assert!(refused.contains("k8s.io/api v0.99.0"), "{refused}");
    assert!(refused.contains("cargo xtask schema"), "{refused}");
}

#[test]
fn every_go_file_counts() {
    let tool = workspace::root().unwrap().join(TOOL);
    for entry in fs::read_dir(tool).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            SOURCES.contains(&name.as_str()) || name == "README.md",
            "{name} is not among the sources"
        );
    }
}
