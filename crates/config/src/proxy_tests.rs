use std::fs;

use proptest::prelude::*;

use super::*;
use crate::{Error, Kubeconfig, LoadOptions};

fn problem(server: &str, environment: Environment) -> Option<String> {
    let problem = environment.unsupported_proxy(&Config::new(server))?;
    assert!(problem.is_unsupported());
    Some(problem.to_string())
}

fn proxied() -> Environment {
    Environment::empty().variable("HTTPS_PROXY", "http://me:hunter2@proxy.corp:3128")
}

/// Whether the server is exempt by this list.
fn is_exempt(no_proxy: &str, server: &str) -> bool {
    problem(server, proxied().variable("NO_PROXY", no_proxy)).is_none()
}

#[test]
fn the_error_names_the_variable_and_the_way_out_and_no_password() {
    let text = problem("https://api.lab:6443/base", proxied()).unwrap();
    assert_eq!(
        text,
        "environment variable HTTPS_PROXY: asks for a proxy to https://api.lab:6443/base, but proxies are not \
         supported yet; set NO_PROXY=api.lab if the server can be reached without one, or unset HTTPS_PROXY"
    );
    let text = problem("https://[fd00::1]", proxied().variable("no_proxy", "x")).unwrap();
    assert!(text.contains("add fd00::1 to no_proxy"), "{text}");
    let debug = format!("{:?}", proxied());
    assert!(debug.contains("HTTPS_PROXY") && !debug.contains("hunter2"), "{debug}");
}

#[test]
fn the_scheme_chooses_the_variable_and_the_case_does_not_matter() {
    let with = |name: &str| Environment::empty().variable(name, "proxy:1");
    for (server, name, asked) in [
        ("https://lab", "HTTPS_PROXY", true),
        ("https://lab", "https_proxy", true),
        ("https://lab", "HTTP_PROXY", false),
        ("http://lab", "HTTP_PROXY", true),
        ("http://lab", "http_proxy", true),
        ("http://lab", "HTTPS_PROXY", false),
        ("https://lab", "ALL_PROXY", false),
    ] {
        assert_eq!(problem(server, with(name)).is_some(), asked, "{server} {name}");
    }
    assert_eq!(problem("https://lab", Environment::empty()), None);
    assert_eq!(problem("https://lab", Environment::empty().variable("HTTPS_PROXY", "")), None);
}

#[test]
fn this_machine_is_always_exempt() {
    for server in [
        "https://localhost:6443",
        "https://127.0.0.1:6443",
        "https://127.8.9.1",
        "https://[::1]:6443",
    ] {
        assert_eq!(problem(server, proxied()), None, "{server}");
    }
}

#[test]
fn no_proxy_is_read_by_gos_rules() {
    for (list, server) in [
        ("*", "https://api.lab"),
        ("api.lab", "https://api.lab:6443"),
        ("API.LAB", "https://api.lab"),
        ("x, api.lab ,y", "https://Api.Lab"),
        ("lab", "https://api.lab"),
        (".lab", "https://api.lab"),
        ("*.lab", "https://a.b.lab"),
        ("lab:6443", "https://api.lab:6443"),
        ("api.lab:443", "https://api.lab"),
        ("10.0.0.1", "https://10.0.0.1:6443"),
        ("10.0.0.1:6443", "https://10.0.0.1:6443"),
        ("::ffff:10.0.0.1", "https://10.0.0.1"),
        ("10.0.0.0/8", "https://10.200.3.4"),
        ("0.0.0.0/0", "https://10.0.0.1"),
        ("fd00::/8", "https://[fd00:1::2]:6443"),
        ("::/0", "https://[fd00::2]"),
        ("fd00::2", "https://[fd00::2]"),
        ("[fd00::2]:443", "https://[fd00::2]"),
    ] {
        assert!(is_exempt(list, server), "{list} {server}");
    }
    for (list, server) in [
        (",", "https://api.lab"),
        ("*.", "https://api.lab"),
        (".", "https://api.lab"),
        ("ab", "https://api.lab"),
        (".api.lab", "https://api.lab"),
        ("*.api.lab", "https://api.lab"),
        ("api.lab.org", "https://api.lab"),
        ("api.lab:443", "https://api.lab:6443"),
        ("10.0.0.1:443", "https://10.0.0.1:6443"),
        ("10.0.0.0/8", "https://11.0.0.1"),
        ("10.0.0.0/33", "https://10.0.0.1"),
        ("10.0.0.1/x", "https://10.0.0.1"),
        ("fd00::/8", "https://10.0.0.1"),
        ("fd00::/8", "https://[fe00::1]"),
        ("10.0.0.0/8", "https://api.lab"),
        (":443", "https://api.lab"),
    ] {
        assert!(!is_exempt(list, server), "{list} {server}");
    }
}

proptest! {
    #[test]
    fn any_list_is_read(list in ".{0,40}", server in prop::sample::select(vec!["https://api.lab", "https://10.0.0.1", "https://[fd00::1]"])) {
        is_exempt(&list, server);
    }

    #[test]
    fn a_server_is_exempt_by_its_own_name_among_others(before in "[a-z.,:/0-9]{0,20}", name in "[a-z]{1,8}(\\.[a-z]{1,8}){0,2}") {
        let server = format!("https://{name}:6443");
        let list = format!("{before},{name}");
        prop_assert!(is_exempt(&list, &server), "{}", list);
    }
}

fn refused(outcome: Result<Config, Error>) {
    let error = outcome.unwrap_err();
    assert!(error.is_invalid() && error.is_unsupported(), "{error}");
    let text = error.to_string();
    assert!(
        text.starts_with("invalid configuration: environment variable HTTPS_PROXY: asks"),
        "{text}"
    );
    assert!(!format!("{text}{error:?}").contains("hunter2"), "{text}");
}

#[test]
fn a_kubeconfig_whose_server_is_behind_a_proxy_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kc");
    fs::write(
        &path,
        "clusters: [{name: a, cluster: {server: https://api.lab}}, {name: b, cluster: {server: https://127.0.0.1}}]\n\
         contexts: [{name: a, context: {cluster: a}}, {name: b, context: {cluster: b}}]\n\
         current-context: a\n",
    )
    .unwrap();
    let load = |context: &str, environment: &Environment| {
        Config::load(&LoadOptions {
            path: Some(path.clone()),
            context: Some(context.to_owned()),
            environment: environment.clone(),
            ..LoadOptions::default()
        })
    };
    refused(load("a", &proxied()));
    load("b", &proxied()).unwrap();
    load("a", &proxied().variable("NO_PROXY", ".lab")).unwrap();
    refused(
        Kubeconfig::parse(fs::read_to_string(&path).unwrap())
            .unwrap()
            .to_config(&LoadOptions { environment: proxied(), ..LoadOptions::default() }),
    );
}

#[test]
fn a_pod_with_a_proxy_exempts_the_service_address_or_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("token"), "t").unwrap();
    let pod = proxied()
        .service_account_folder(folder.path())
        .variable("KUBERNETES_SERVICE_HOST", "10.96.0.1")
        .variable("KUBERNETES_SERVICE_PORT", "443");
    refused(pod.in_cluster_config());
    let exempt = pod.variable("NO_PROXY", "10.96.0.0/12,.svc");
    exempt.in_cluster_config().unwrap();
}

#[test]
fn a_hand_made_configuration_does_not_ask_the_environment() {
    Config::new("https://api.lab").validate().unwrap();
}
