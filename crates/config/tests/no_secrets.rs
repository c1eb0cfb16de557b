//! Credentials show up in no `Debug` form and in no error, whatever type holds them.

use std::{fmt::Debug, fs, path::Path};

use kubewright_config::{
    ClientIdentity, Config, Credentials, Environment, Kubeconfig, LoadOptions, Secret, TokenCache,
    TokenFile,
};

const MARK: &str = "hunter2";
/// Base64 of a PEM key whose body is the mark.
const KEY: &str = "-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----\n";

fn assert_hidden(value: &impl Debug) {
    for shown in [format!("{value:?}"), format!("{value:#?}")] {
        assert!(!shown.contains(MARK), "{shown}");
        // The bytes as a list of numbers would be the same secret in other letters.
        let numbers = MARK.bytes().map(|byte| byte.to_string()).collect::<Vec<_>>();
        assert!(
            !shown.contains(&numbers.join(", ")) && !shown.contains(&numbers.join(",\n")),
            "{shown}"
        );
    }
}

fn kubeconfig(folder: &Path) -> String {
    use base64::{Engine, engine::general_purpose::STANDARD};
    fs::write(folder.join("token"), "hunter2\n").unwrap();
    let key = STANDARD.encode(KEY);
    let certificate = STANDARD
        .encode(format!("-----BEGIN CERTIFICATE-----\n{MARK}\n-----END CERTIFICATE-----\n{KEY}"));
    format!(
        r#"
current-context: good
contexts:
- {{name: good, context: {{cluster: good, user: good}}}}
- {{name: bad, context: {{cluster: bad, user: bad, namespace: x}}}}
clusters:
- {{name: good, cluster: {{server: "https://lab", certificate-authority-data: {certificate}}}}}
- name: bad
  cluster:
    server: "https://me:hunter2@lab?token=hunter2"
    proxy-url: "http://me:hunter2@proxy"
    extensions: [{{name: e, extension: {{password: hunter2}}}}]
users:
- {{name: good, user: {{token: hunter2, client-key-data: {key}, client-certificate-data: {certificate}}}}}
- {{name: file, user: {{tokenFile: token}}}}
- name: bad
  user:
    token: "hunter2 \u0001"
    password: hunter2
    client-key-data: aHVudGVyMg==
    auth-provider: {{name: oidc, config: {{id-token: hunter2}}}}
    exec: {{command: x, args: [hunter2], env: [{{name: A, value: hunter2}}]}}
    extensions: [{{name: e, extension: hunter2}}]
extensions: [{{name: e, extension: hunter2}}]
preferences: {{extensions: [{{name: e, extension: hunter2}}]}}
"#
    )
}

fn load(
    path: &Path,
    context: &str,
    user: Option<&str>,
) -> Result<Config, kubewright_config::Error> {
    let mut options = LoadOptions::default();
    options.environment = Environment::empty();
    options.path = Some(path.to_owned());
    options.context = Some(context.to_owned());
    options.user = user.map(str::to_owned);
    assert_hidden(&options);
    assert_hidden(&Kubeconfig::load(&options).unwrap());
    Config::load(&options)
}

#[test]
fn no_type_shows_a_secret() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kc");
    fs::write(&path, kubeconfig(folder.path())).unwrap();

    let config = load(&path, "good", None).unwrap();
    assert!(
        matches!(&config.credentials, Credentials::Token(token) if token.expose() == MARK.as_bytes())
    );
    assert!(config.tls.client_identity.is_some());
    assert_hidden(&config);
    assert_hidden(&config.credentials);

    let config = load(&path, "good", Some("file")).unwrap();
    assert!(matches!(&config.credentials, Credentials::TokenFile(_)));
    assert_hidden(&config);

    let error = load(&path, "bad", None).unwrap_err();
    assert!(error.problems().len() > 5, "{error}");
    assert_hidden(&error);
    assert!(!error.to_string().contains(MARK), "{error}");
}

#[test]
fn hand_made_values_hide_their_secrets_too() {
    let mut config = Config::new("https://me:hunter2@lab");
    config.credentials = Credentials::Token(MARK.into());
    config.tls.client_identity = Some(ClientIdentity { certificate: KEY.into(), key: KEY.into() });
    assert_hidden(&config);
    let error = config.validate().unwrap_err();
    assert!(!format!("{error} {error:?}").contains(MARK));
    assert_hidden(&Secret::from(MARK));
    assert_hidden(&TokenFile::new("/x").with_initial(MARK.into()));
    let mut cache = TokenCache::default();
    cache.loaded(std::time::Instant::now(), Ok(MARK.into()));
    assert_hidden(&cache);
}
