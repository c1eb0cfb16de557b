use std::fs;

use super::*;
use crate::environment::Environment;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }
}

fn options(list: &[&Path]) -> LoadOptions {
    let list = env::join_paths(list).unwrap();
    LoadOptions {
        environment: Environment::empty().variable(KUBECONFIG, list),
        ..LoadOptions::default()
    }
}

#[test]
fn missing_and_empty_members_of_the_list_are_skipped() {
    let folder = Folder::new();
    let b = folder.write("b.yaml", "current-context: lab");
    let missing = folder.0.path().join("a.yaml");
    let loaded = Kubeconfig::load(&options(&[&missing, Path::new(""), &b, &missing, &b])).unwrap();
    assert_eq!(loaded.kubeconfig.current_context.as_deref(), Some("lab"));
    assert_eq!((&*loaded.files, &*loaded.missing), (&[b][..], &[missing][..]));
    assert!(loaded.warnings.is_empty() && loaded.problems.is_empty());
}

#[test]
fn a_list_of_missing_files_is_one_warning() {
    let loaded = Kubeconfig::load(&options(&[Path::new("/nope/a"), Path::new("/nope/b")])).unwrap();
    assert_eq!(loaded.warnings.len(), 1);
    assert!(loaded.warnings[0].to_string().contains("/nope/a, /nope/b"));
    assert!(loaded.problems.is_empty());
    let loaded = Kubeconfig::load(&options(&[Path::new(""), Path::new("")])).unwrap();
    assert_eq!(loaded.warnings[0].to_string(), "KUBECONFIG lists no file");
}

#[test]
fn without_the_variable_the_home_folder_is_looked_at_and_may_be_empty() {
    let folder = Folder::new();
    let home = |path: &Path| LoadOptions {
        environment: Environment::empty().home(path),
        ..LoadOptions::default()
    };
    let loaded = Kubeconfig::load(&home(folder.0.path())).unwrap();
    assert!(loaded.warnings.is_empty() && loaded.problems.is_empty() && loaded.missing.len() == 1);
    folder.write(".kube/config", "current-context: home");
    let mut options = home(folder.0.path());
    assert_eq!(
        Kubeconfig::load(&options).unwrap().kubeconfig.current_context.as_deref(),
        Some("home")
    );
    options.environment = options.environment.variable(KUBECONFIG, "");
    assert_eq!(
        Kubeconfig::load(&options).unwrap().kubeconfig.current_context.as_deref(),
        Some("home")
    );
}

#[test]
fn a_file_named_by_the_caller_must_exist_and_is_used_alone() {
    let folder = Folder::new();
    let listed = folder.write("listed", "current-context: listed");
    let named = folder.write("named", "");
    let mut options = options(&[&listed]);
    options.path = Some(named);
    assert_eq!(Kubeconfig::load(&options).unwrap().kubeconfig.current_context, None);
    options.path = Some("/nope/a.yaml".into());
    let error = Kubeconfig::load(&options).unwrap_err();
    assert!(error.is_file_not_found() && error.to_string().contains("/nope/a.yaml"), "{error}");
}

#[test]
fn broken_files_are_named_and_the_rest_is_merged() {
    let folder = Folder::new();
    let broken = folder.write("broken", "users: [{name: MARKED");
    let twice = folder.write("twice", "users: [{name: x}, {name: x}]");
    let good = folder.write("good", "current-context: lab");
    let loaded = Kubeconfig::load(&options(&[&broken, folder.0.path(), &twice, &good])).unwrap();
    assert_eq!(loaded.kubeconfig.current_context.as_deref(), Some("lab"));
    let files: Vec<_> =
        loaded.problems.iter().map(|problem| problem.origin().unwrap().file().unwrap()).collect();
    assert_eq!(files, [&broken, folder.0.path(), &*twice]);
    assert!(!format!("{loaded:?}").contains("MARKED"));
}

#[test]
fn each_file_of_a_list_has_its_own_base() {
    let folder = Folder::new();
    let file = |name: &str| {
        let text =
            format!("clusters: [{{name: {name}, cluster: {{certificate-authority: ca.pem}}}}]");
        folder.write(&format!("{name}/config"), &text)
    };
    let loaded = Kubeconfig::load(&options(&[&file("a"), &file("b")])).unwrap();
    for name in ["a", "b"] {
        let expected = folder.0.path().join(name).join("ca.pem");
        assert_eq!(loaded.kubeconfig.clusters[name].certificate_authority, Some(expected));
    }
}

#[test]
fn further_documents_are_a_warning() {
    let folder = Folder::new();
    let file = folder.write("two", "current-context: a\n---\ncurrent-context: b\n");
    let loaded = Kubeconfig::load(&options(&[&file])).unwrap();
    assert_eq!(loaded.warnings, [Warning::MoreDocuments(file)]);
    assert_eq!(loaded.kubeconfig.current_context.as_deref(), Some("a"));
}
