use super::*;

#[test]
fn the_release_is_that_of_the_requirement() {
    let text = "module m\nrequire (\n\tk8s.io/kubernetes/extra v9.9.9\n\tk8s.io/kubernetes v1.37.2 // indirect\n)\n";
    assert_eq!(release_in(text), Some("v1.37.2"));
    assert_eq!(release_in("require k8s.io/kubernetes v1.2.3"), Some("v1.2.3"));
    assert_eq!(release_in("module m\n"), None);
}

#[test]
fn the_repository_pins_a_release() {
    let module = workspace::root().expect("root").join("tools/controlplane");
    let (version, hash) = pin(&module).expect("a pin");
    assert!(version.starts_with("v1."), "{version}");
    assert_ne!(hash, Fnv::default().0);
}

#[test]
fn the_hash_is_fnv_1a() {
    let mut hash = Fnv::default();
    hash.add(b"foobar");
    assert_eq!(hash.0, 0x8594_4171_f739_67e8);
}

#[test]
fn the_version_is_stamped_whole() {
    let flags = stamps("v1.37.2").expect("stamps");
    for flag in ["gitVersion=v1.37.2", "gitMajor=1", "gitMinor=37"] {
        assert!(flags.contains(flag), "{flags}");
    }
    assert!(stamps("v1").is_err());
}

#[test]
fn unfinished_builds_are_cleared_and_finished_ones_kept() {
    let shelf = tempfile::tempdir().expect("a temporary folder");
    for name in [".unfinished-a", "v1.37.2-0"] {
        fs::create_dir(shelf.path().join(name)).expect("created");
    }
    remove_unfinished(shelf.path()).expect("cleared");
    assert!(!shelf.path().join(".unfinished-a").exists());
    assert!(shelf.path().join("v1.37.2-0").exists());
}
