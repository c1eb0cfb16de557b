use std::{fs, path::Path};

use super::*;

const CA: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

/// A service account folder and an environment that points to it.
fn pod(host: &str, folder: &Path) -> Environment {
    fs::write(folder.join("token"), "abc123\n").unwrap();
    fs::write(folder.join("ca.crt"), CA).unwrap();
    fs::write(folder.join("namespace"), "ops\n").unwrap();
    Environment::empty()
        .service_account_folder(folder)
        .variable(SERVICE_HOST, host)
        .variable(SERVICE_PORT, "443")
}

#[test]
fn ipv6_hosts_get_brackets_and_others_stay_bare() {
    let folder = tempfile::tempdir().unwrap();
    for (host, expected) in [
        ("fd00:10:96::1", "https://[fd00:10:96::1]:443"),
        ("10.96.0.1", "https://10.96.0.1:443"),
        ("api.lab.example", "https://api.lab.example:443"),
    ] {
        let config = pod(host, folder.path()).in_cluster_config().unwrap();
        assert_eq!(config.server, expected);
        assert!(config.base_url().is_ok());
    }
}

#[test]
fn a_pod_gets_its_service_account() {
    let folder = tempfile::tempdir().unwrap();
    let config = pod("10.96.0.1", folder.path()).in_cluster_config().unwrap();
    assert_eq!(config.namespace, "ops");
    assert_eq!(config.tls.ca.as_deref(), Some(CA.as_bytes()));
    let Credentials::TokenFile(token) = &config.credentials else { panic!("no token file") };
    assert_eq!(token.path(), folder.path().join("token"));
    assert_eq!(token.token(std::time::Instant::now()).unwrap().expose(), b"abc123");
    assert_eq!(
        config.origin(Setting::Namespace).unwrap().file(),
        Some(&*folder.path().join("namespace"))
    );
}

#[test]
fn pod_namespace_goes_before_the_file_and_default_comes_last() {
    let folder = tempfile::tempdir().unwrap();
    let environment = pod("10.96.0.1", folder.path());
    let named = environment.clone().variable(POD_NAMESPACE, "downward");
    assert_eq!(named.in_cluster_config().unwrap().namespace, "downward");
    fs::write(folder.path().join("namespace"), " \n").unwrap();
    assert_eq!(environment.in_cluster_config().unwrap().namespace, "default");
    fs::remove_file(folder.path().join("namespace")).unwrap();
    assert_eq!(environment.in_cluster_config().unwrap().namespace, "default");
}

#[test]
fn missing_variables_or_token_mean_not_in_a_cluster() {
    let folder = tempfile::tempdir().unwrap();
    let full = pod("10.96.0.1", folder.path());
    for (environment, missing) in [
        (full.clone().variable(SERVICE_HOST, ""), SERVICE_HOST),
        (full.clone().variable(SERVICE_PORT, ""), SERVICE_PORT),
        (full.clone().service_account_folder("/nope"), "/nope/token"),
        (Environment::empty(), SERVICE_HOST),
    ] {
        let error = environment.in_cluster_config().unwrap_err();
        assert!(error.is_not_in_cluster() && error.to_string().contains(missing), "{error}");
    }
    fs::remove_file(folder.path().join("token")).unwrap();
    fs::create_dir(folder.path().join("token")).unwrap();
    assert!(full.in_cluster_config().unwrap_err().is_not_in_cluster(), "a folder is no token");
}

#[test]
fn a_missing_authority_is_tolerated_and_a_garbled_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let environment = pod("10.96.0.1", folder.path());
    fs::write(folder.path().join("ca.crt"), "garbage").unwrap();
    fs::write(folder.path().join("token"), "\n").unwrap();
    let error = environment.in_cluster_config().unwrap_err();
    assert_eq!(error.problems().len(), 2, "{error}");
    fs::write(folder.path().join("token"), "abc").unwrap();
    fs::remove_file(folder.path().join("ca.crt")).unwrap();
    assert_eq!(environment.in_cluster_config().unwrap().tls.ca, None);
}
