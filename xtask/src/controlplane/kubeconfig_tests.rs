use super::*;

#[test]
fn the_folder_is_found_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("kubeconfig");
    write(&file, &text(Path::new("/some/where else"), "https://x", "PEM", "t")).expect("written");
    assert_eq!(folder_of(&file).expect("marked"), PathBuf::from("/some/where else"));
    let entries = fs::read_dir(folder.path()).expect("readable").count();
    assert_eq!(entries, 1, "no partial file stays behind");
}

#[test]
fn a_kubeconfig_of_another_origin_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("kubeconfig");
    fs::write(&file, "apiVersion: v1\nkind: Config\n").expect("written");
    assert!(folder_of(&file).is_err());
}
