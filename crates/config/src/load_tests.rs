use std::{fs, path::Path};

use super::*;
use crate::{Credentials, Setting};

const LAB: &str = "
clusters: [{name: lab, cluster: {server: https://lab}}]
users: [{name: dev, user: {token: t}}]
contexts: [{name: lab, context: {cluster: lab, user: dev}}, {name: two, context: {cluster: lab, namespace: default}}]
";

/// Kubeconfig files in a list, and a pod around or not.
struct World {
    folder: tempfile::TempDir,
    options: LoadOptions,
}

impl World {
    fn new(files: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let paths = files.iter().enumerate().map(|(i, content)| {
            let path = folder.path().join(format!("{i}.yaml"));
            fs::write(&path, content).unwrap();
            path
        });
        let list = std::env::join_paths(paths).unwrap();
        let environment =
            Environment::empty().variable(KUBECONFIG, list).service_account_folder("/nope");
        Self { folder, options: LoadOptions { environment, ..LoadOptions::default() } }
    }

    fn in_pod(mut self) -> Self {
        let folder = self.folder.path().join("sa");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("token"), "pod\n").unwrap();
        fs::write(folder.join("namespace"), "ops\n").unwrap();
        self.options.environment = self
            .options
            .environment
            .variable("KUBERNETES_SERVICE_HOST", "10.0.0.1")
            .variable("KUBERNETES_SERVICE_PORT", "443")
            .service_account_folder(folder);
        self
    }

    fn context(mut self, name: &str) -> Self {
        self.options.context = Some(name.to_owned());
        self
    }

    fn load(&self) -> Result<Config, Error> {
        Config::load(&self.options)
    }
}

#[test]
fn the_first_current_context_of_several_files_wins_even_if_it_does_not_exist() {
    let lab = format!("{LAB}current-context: lab");
    let error = World::new(&["current-context: ghost", &lab]).load().unwrap_err();
    assert!(error.is_context_not_found());
    let text = error.to_string();
    assert!(
        text.contains("context \"ghost\" does not exist")
            && text.contains("0.yaml")
            && text.contains("lab"),
        "{text}"
    );
    assert_eq!(World::new(&[&lab, "current-context: ghost"]).load().unwrap().server, "https://lab");
}

#[test]
fn a_broken_file_always_fails_the_load() {
    let lab = format!("{LAB}current-context: lab");
    let error = World::new(&[&lab, "a: ["]).load().unwrap_err();
    assert!(error.is_invalid() && error.to_string().contains("1.yaml"), "{error}");
    let error = World::new(&["users: [{name: x}, {name: x}]", &lab]).load().unwrap_err();
    assert!(error.to_string().contains("duplicate name \"x\""), "{error}");
    let error = World::new(&["a: ["]).in_pod().load().unwrap_err();
    assert!(error.is_invalid(), "a pod does not hide a broken kubeconfig: {error}");
}

#[test]
fn a_kubeconfig_goes_before_the_pod_and_an_empty_one_does_not() {
    let lab = format!("{LAB}current-context: lab");
    assert_eq!(World::new(&[&lab]).in_pod().load().unwrap().server, "https://lab");
    for files in [&[][..], &[""][..], &["kind: Config"][..], &[LAB][..]] {
        let config = World::new(files).in_pod().load().unwrap();
        assert_eq!(
            (config.server.as_str(), config.namespace.as_str()),
            ("https://10.0.0.1:443", "ops")
        );
        assert!(matches!(config.credentials, Credentials::TokenFile(_)));
    }
}

#[test]
fn whoever_names_a_file_or_a_context_does_not_get_the_pod() {
    let mut world = World::new(&[]).in_pod().context("lab");
    assert!(world.load().unwrap_err().is_context_not_found());
    world.options.context = None;
    let empty = world.folder.path().join("empty");
    fs::write(&empty, "").unwrap();
    world.options.path = Some(empty);
    let error = world.load().unwrap_err();
    assert!(
        error.is_empty() && error.to_string().contains("empty: sets no current-context"),
        "{error}"
    );
    world.options.path = Some("/nope/kc".into());
    assert!(world.load().unwrap_err().is_file_not_found());
}

#[test]
fn the_effective_context_decides_about_the_namespace() {
    let lab = format!("{LAB}current-context: lab");
    let namespace = |world: World| world.load().unwrap().namespace;
    assert_eq!(namespace(World::new(&[&lab])), "default");
    assert_eq!(
        namespace(World::new(&[&lab]).in_pod()),
        "ops",
        "the context says nothing, the pod does"
    );
    assert_eq!(
        namespace(World::new(&[&lab]).in_pod().context("two")),
        "default",
        "said explicitly"
    );
    let mut world = World::new(&[&lab]).in_pod().context("two");
    world.options.namespace = Some("mine".into());
    let config = world.load().unwrap();
    assert_eq!(config.namespace, "mine");
    assert_eq!(config.origin(Setting::Namespace).unwrap().to_string(), "the caller's settings");
    let mut world = World::new(&[]).in_pod();
    world.options.namespace = Some("mine".into());
    assert_eq!(namespace(world), "mine");
    let mut world = World::new(&[]).in_pod();
    world.options.namespace = Some("Not Mine".into());
    assert!(world.load().unwrap_err().is_invalid());
}

#[test]
fn an_empty_choice_is_no_choice() {
    let lab = format!("{LAB}current-context: lab");
    let mut world = World::new(&[&lab]).context("");
    world.options.namespace = Some(String::new());
    assert_eq!(world.load().unwrap().server, "https://lab");
}

#[test]
fn on_the_first_day_the_error_lists_what_was_tried() {
    let home = tempfile::tempdir().unwrap();
    let environment = Environment::empty().home(home.path());
    let error = Config::load(&LoadOptions { environment, ..LoadOptions::default() }).unwrap_err();
    assert!(error.is_empty());
    let text = error.to_string();
    let config = home.path().join(".kube/config");
    for part in
        ["KUBECONFIG: is not set", config.to_str().unwrap(), "KUBERNETES_SERVICE_HOST is not set"]
    {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert_eq!(
        format!("{error:?}"),
        format!("config::Error({text})"),
        "for a main that returns it"
    );
    let text = World::new(&[LAB]).load().unwrap_err().to_string();
    assert!(text.contains("current-context") && text.contains("lab, two"), "{text}");
    let text = World::new(&[]).load().unwrap_err().to_string();
    assert!(text.contains("tried"), "{text}");
}

#[test]
fn from_file_takes_the_current_context_of_that_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kc");
    // The process around this test may have a proxy; loopback is exempt.
    let lab = LAB.replace("https://lab", "https://127.0.0.1");
    fs::write(&path, format!("{lab}current-context: two")).unwrap();
    let config = Config::from_file(&path).unwrap();
    assert_eq!(config.origin(Setting::Server).unwrap().file(), Some(Path::new(&path)));
    assert_eq!(config.origin(Setting::Namespace).unwrap().entry_name(), Some("two"));
}
