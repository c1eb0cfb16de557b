use super::*;

fn with(variables: &[(&str, &str)]) -> Option<PathBuf> {
    cache_from(|name| {
        variables.iter().find(|(known, _)| *known == name).map(|(_, value)| PathBuf::from(value))
    })
    .ok()
}

#[test]
fn the_most_particular_setting_wins() {
    let all = [("KUBEWRIGHT_CACHE", "/k"), ("XDG_CACHE_HOME", "/x"), ("HOME", "/h")];
    assert_eq!(with(&all), Some(PathBuf::from("/k")));
    assert_eq!(with(&all[1..]), Some(PathBuf::from("/x/kubewright")));
    assert_eq!(with(&all[2..]), Some(PathBuf::from("/h/.cache/kubewright")));
    assert_eq!(with(&[]), None);
}

#[test]
fn empty_and_relative_base_folders_are_passed_over() {
    let cache = with(&[("KUBEWRIGHT_CACHE", ""), ("XDG_CACHE_HOME", "relative"), ("HOME", "/h")]);
    assert_eq!(cache, Some(PathBuf::from("/h/.cache/kubewright")));
}

#[test]
fn the_root_holds_the_workspace() {
    let root = root().expect("the tests run inside the repository");
    assert!(root.join("tools/controlplane/go.mod").is_file());
}
