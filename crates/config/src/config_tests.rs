use super::*;

fn fields(config: &Config) -> Vec<String> {
    let problems = match config.validate() {
        Ok(()) => Vec::new(),
        Err(error) => error.problems().to_vec(),
    };
    problems.iter().map(|problem| problem.field_name().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_hand_made_configuration_is_valid_as_it_is() {
    let config = Config::new("https://lab:6443/base/");
    config.validate().unwrap();
    assert_eq!(config.namespace, "default");
    assert_eq!(config.base_url().unwrap().to_string(), "https://lab:6443/base");
    assert_eq!(Config::new("https://lab").base_url().unwrap().to_string(), "https://lab/");
    assert!(config.origin(Setting::Server).is_none());
}

#[test]
fn the_scheme_of_a_bare_address_follows_the_tls_settings() {
    let mut config = Config::new("lab:6443");
    assert_eq!(config.base_url().unwrap().scheme_str(), Some("http"));
    config.tls.insecure_skip_tls_verify = true;
    assert_eq!(config.base_url().unwrap().scheme_str(), Some("https"));
}

#[test]
fn plain_http_refuses_what_needs_tls_and_a_token_to_another_machine() {
    let mut config = Config::new("http://lab:8080");
    config.validate().unwrap();
    config.credentials = Credentials::Token("t".into());
    assert_eq!(fields(&config), ["token"]);
    config.server = "http://127.0.0.1:8080".into();
    assert_eq!(fields(&config), [""; 0]);
    config.tls.ca = Some(b"pem".to_vec());
    config.tls.server_name = Some("x".into());
    config.tls.client_identity = Some(ClientIdentity { certificate: vec![], key: "k".into() });
    assert_eq!(fields(&config), ["certificate-authority", "tls-server-name", "client-certificate"]);
    config.server = "https://lab".into();
    assert_eq!(fields(&config), [""; 0]);
}

#[test]
fn all_contradictions_come_at_once() {
    let mut config = Config::new("ftp://lab");
    config.namespace = "Not_A_Label".into();
    config.tls.insecure_skip_tls_verify = true;
    config.tls.ca = Some(b"pem".to_vec());
    config.credentials = Credentials::Token("two words".into());
    assert_eq!(fields(&config), ["server", "insecure-skip-tls-verify", "namespace", "token"]);
    let text = config.validate().unwrap_err().to_string();
    assert!(
        text.contains("4 problems") && text.contains("Not_A_Label") && !text.contains("two words"),
        "{text}"
    );
}

#[test]
fn namespaces_are_dns_labels() {
    for good in ["a", "kube-system", "1", &"x".repeat(63)] {
        check_namespace(good).unwrap();
    }
    for bad in ["", "-a", "a-", "A", "a.b", "a b", "ä", "a/b", &"x".repeat(64)] {
        assert!(check_namespace(bad).is_err(), "{bad:?}");
    }
}
