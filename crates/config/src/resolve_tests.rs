use std::fs;

use super::*;
use crate::environment::Environment;

const CERT: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
const KEY: &str = "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n";

fn options() -> LoadOptions {
    LoadOptions { environment: Environment::empty(), ..LoadOptions::default() }
}

/// A kubeconfig of one context with these fields (in YAML's flow form).
fn lab(cluster: &str, user: &str, context: &str) -> Kubeconfig {
    let text = format!(
        "current-context: lab
clusters: [{{name: lab, cluster: {{{cluster}}}}}, {{name: odd, cluster: {{server: 'ftp://x', proxy-url: 'http://p'}}}}]
users: [{{name: dev, user: {{{user}}}}}, {{name: odd, user: {{exec: {{}}, client-key: /nope, as: x}}}}]
contexts: [{{name: lab, context: {{cluster: lab, user: dev, {context}}}}}, {{name: odd, context: {{cluster: gone, namespace: '%'}}}}]
"
    );
    Kubeconfig::parse(text).unwrap()
}

fn config(cluster: &str, user: &str) -> Result<Config, Error> {
    lab(cluster, user, "").to_config(&options())
}

fn base64(text: &str) -> String {
    use base64::{Engine, engine::general_purpose::STANDARD};
    STANDARD.encode(text)
}

fn fields(result: Result<Config, Error>) -> Vec<String> {
    let error = result.unwrap_err();
    error
        .problems()
        .iter()
        .map(|problem| problem.field_name().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn inline_material_and_files_give_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &str| {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        path.display().to_string()
    };
    let (ca, cert, key) = (write("ca", CERT), write("cert", CERT), write("key", KEY));
    let by_path = config(
        &format!("server: 'https://lab/base/', tls-server-name: api, certificate-authority: {ca}"),
        &format!("client-certificate: {cert}, client-key: {key}, token: ' abc '"),
    )
    .unwrap();
    let (cert, key) = (base64(CERT), base64(KEY));
    let inline = config(
        &format!(
            "server: 'https://lab/base', tls-server-name: api, certificate-authority-data: {cert}"
        ),
        &format!("client-certificate-data: {cert}, client-key-data: {key}, token: abc"),
    )
    .unwrap();
    for config in [by_path, inline] {
        assert_eq!(config.server, "https://lab/base");
        assert_eq!(config.tls.ca.as_deref(), Some(CERT.as_bytes()));
        assert_eq!(config.tls.server_name.as_deref(), Some("api"));
        let identity = config.tls.client_identity.as_ref().unwrap();
        assert_eq!(
            (&*identity.certificate, identity.key.expose()),
            (CERT.as_bytes(), KEY.as_bytes())
        );
        let Credentials::Token(token) = &config.credentials else { panic!("no token") };
        assert_eq!(token.expose(), b"abc");
        assert_eq!(config.origin(Setting::Credentials).unwrap().to_string(), "user \"dev\"");
    }
}

#[test]
fn entries_that_are_not_chosen_may_hold_anything() {
    let config = config("server: 'https://lab', disable-compression: false", "").unwrap();
    assert!(matches!(config.credentials, Credentials::Anonymous));
}

#[test]
fn what_is_not_supported_yet_is_refused_by_name() {
    let error = config(
        "server: 'https://lab', proxy-url: 'http://u:MARKED@p', disable-compression: true",
        "exec: {command: x, args: [MARKED]}, auth-provider: {name: oidc}, username: u, password: MARKED, as: a, as-uid: b, as-groups: [c], as-user-extra: {d: [e]}",
    )
    .unwrap_err();
    assert!(error.is_unsupported());
    let names: Vec<_> = error.problems().iter().filter_map(Problem::field_name).collect();
    let user = [
        "exec",
        "auth-provider",
        "username",
        "password",
        "as",
        "as-uid",
        "as-groups",
        "as-user-extra",
    ];
    assert_eq!(names, [&["proxy-url", "disable-compression"][..], &user[..]].concat());
    let text = format!("{error} {error:?}");
    assert!(
        text.contains("cluster \"lab\": proxy-url") && text.contains("user \"dev\": exec"),
        "{text}"
    );
    assert!(!text.contains("MARKED"), "{text}");
}

#[test]
fn all_problems_of_the_chosen_context_come_at_once() {
    let found = lab(
        "certificate-authority: /nope/ca, certificate-authority-data: Q0E=, insecure-skip-tls-verify: true",
        "client-certificate: /nope/cert, tokenFile: /nope/token",
        "namespace: Not_A_Label",
    )
    .to_config(&options());
    let text = found.as_ref().unwrap_err().to_string();
    assert_eq!(
        fields(found),
        [
            "server",
            "certificate-authority",
            "client-key",
            "client-certificate",
            "tokenFile",
            "namespace"
        ]
    );
    assert!(text.contains("/nope/cert cannot be read") && text.contains("/nope/token"), "{text}");
    assert!(!text.contains("odd"), "other entries are left alone: {text}");
}

#[test]
fn each_single_fault_is_found() {
    let data = base64(CERT);
    let key = base64(KEY);
    for (cluster, user, expected) in [
        ("".to_owned(), "".to_owned(), "server"),
        ("server: 'https://a b'".into(), "".into(), "server"),
        (
            format!(
                "server: 'https://x', certificate-authority-data: {data}, insecure-skip-tls-verify: true"
            ),
            "".into(),
            "insecure-skip-tls-verify",
        ),
        (
            "server: 'https://x', certificate-authority-data: Q0E=".into(),
            "".into(),
            "certificate-authority-data",
        ),
        (
            format!("server: 'http://x', certificate-authority-data: {data}"),
            "".into(),
            "certificate-authority",
        ),
        ("server: 'http://x', tls-server-name: api".into(), "".into(), "tls-server-name"),
        ("server: 'http://x'".into(), "token: t".into(), "token"),
        ("server: 'x:80'".into(), "token: t".into(), "token"),
        ("server: 'https://x'".into(), "token: '  '".into(), "token"),
        ("server: 'https://x'".into(), r#"token: "a\nb""#.into(), "token"),
        ("server: 'https://x'".into(), format!("client-key-data: {key}"), "client-certificate"),
        ("server: 'https://x'".into(), format!("client-certificate-data: {data}"), "client-key"),
        (
            "server: 'https://x'".into(),
            format!("client-certificate-data: {key}, client-key-data: {key}"),
            "client-certificate-data",
        ),
        (
            "server: 'https://x'".into(),
            format!("client-certificate-data: {data}, client-key: /nope, client-key-data: {key}"),
            "client-key",
        ),
    ] {
        assert_eq!(fields(config(&cluster, &user)), [expected], "{cluster} / {user}");
    }
}

#[test]
fn names_that_lead_nowhere_are_problems_of_the_context() {
    let read = Kubeconfig::parse("contexts: [{name: a, context: {cluster: gone, user: lost}}, {name: b}]\ncurrent-context: a").unwrap();
    let error = read.to_config(&options()).unwrap_err().to_string();
    assert!(error.contains("context \"a\": cluster \"gone\" does not exist"), "{error}");
    assert!(error.contains("context \"a\": user \"lost\" does not exist"), "{error}");
    let error = read
        .to_config(&LoadOptions { context: Some("b".into()), ..options() })
        .unwrap_err()
        .to_string();
    assert!(error.contains("context \"b\": cluster is not set"), "{error}");
}

#[test]
fn cluster_and_user_can_be_chosen_apart_from_the_context() {
    let text = "
clusters: [{name: a, cluster: {server: 'https://a'}}, {name: b, cluster: {server: 'https://b'}}]
users: [{name: u, user: {token: u}}]
contexts: [{name: a, context: {cluster: a, namespace: ns}}]
";
    let mut read = Kubeconfig::parse(text).unwrap();
    let choice = LoadOptions { cluster: Some("b".into()), user: Some("u".into()), ..options() };
    let config = read.to_config(&choice).unwrap();
    assert_eq!((config.server.as_str(), config.namespace.as_str()), ("https://b", "default"));
    read.current_context = Some("a".into());
    let config = read.to_config(&choice).unwrap();
    assert_eq!((config.server.as_str(), config.namespace.as_str()), ("https://b", "ns"));
    assert!(matches!(config.credentials, Credentials::Token(_)));
    let choice = LoadOptions { cluster: Some("x".into()), ..options() };
    let error = read.to_config(&choice).unwrap_err().to_string();
    assert!(error.contains("the caller's settings: cluster \"x\" does not exist"), "{error}");
}

#[test]
fn a_token_file_is_preferred_to_a_token_which_serves_until_it_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    let read = |user: String| match config("server: 'https://x'", &user).unwrap().credentials {
        Credentials::TokenFile(file) => file.token(Instant::now()).unwrap().expose().to_vec(),
        other => panic!("{other:?}"),
    };
    let file = format!("tokenFile: {}", path.display());
    assert_eq!(read(format!("{file}, token: inline")), b"inline");
    fs::write(&path, "abc123\r\n").unwrap();
    assert_eq!(read(format!("{file}, token: inline")), b"abc123");
    assert_eq!(read(format!("{file}, token: ''")), b"abc123", "an empty token hides nothing");
    fs::write(&path, "\n").unwrap();
    let error = config("server: 'https://x'", &file).unwrap_err().to_string();
    assert!(error.contains("user \"dev\": tokenFile") && error.contains("empty token"), "{error}");
}

#[test]
fn errors_name_the_file_of_the_entry() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kc");
    fs::write(&file, "current-context: a\ncontexts: [{name: a, context: {cluster: a}}]\nclusters: [{name: a, cluster: {server: 'https://a', certificate-authority: ca}}]").unwrap();
    let mut options = options();
    options.path = Some(file.clone());
    let error = Config::load(&options).unwrap_err().to_string();
    let expected = format!(
        "cluster \"a\" in {}: certificate-authority {}",
        file.display(),
        folder.path().join("ca").display()
    );
    assert!(error.contains(&expected), "{error}");
}
