use proptest::prelude::*;

use super::*;

fn error(text: &str) -> String {
    Kubeconfig::parse(text).unwrap_err().to_string()
}

#[test]
fn every_field_is_read() {
    let text = r#"
apiVersion: v1
kind: Config
current-context: lab
preferences: {colors: true, extensions: [{name: p, extension: 1}]}
extensions: [{name: top, extension: {any: [1, 2]}}]
clusters:
- name: lab
  cluster:
    server: https://lab
    tls-server-name: api
    insecure-skip-tls-verify: true
    certificate-authority: ca.pem
    certificate-authority-data: Q0E=
    proxy-url: http://proxy
    disable-compression: true
    extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: lab}}]
contexts:
- {name: lab, context: {cluster: lab, user: dev, namespace: ops}}
users:
- name: dev
  user:
    client-certificate: c.pem
    client-certificate-data: Q0VSVA==
    client-key: k.pem
    client-key-data: |
      S0
      VZ
    token: t
    tokenFile: tf
    as: root
    as-uid: "7"
    as-groups: [a, b]
    as-user-extra: {scope: [x, z]}
    username: u
    password: p
    auth-provider: {name: oidc, config: {id-token: it}}
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: cred
      args: [one]
      env: [{name: E, value: v}]
      installHint: get it
      provideClusterInfo: true
      interactiveMode: Never
"#;
    let read = Kubeconfig::parse(text).unwrap();
    assert_eq!(read.current_context.as_deref(), Some("lab"));
    assert!(read.preferences.colors && read.preferences.extensions.contains_key("p"));
    assert_eq!(read.extensions["top"], serde_json::json!({"any": [1, 2]}));
    let cluster = &read.clusters["lab"];
    assert_eq!(cluster.server.as_deref(), Some("https://lab"));
    assert_eq!(cluster.tls_server_name.as_deref(), Some("api"));
    assert!(cluster.insecure_skip_tls_verify && cluster.disable_compression);
    assert_eq!(cluster.certificate_authority.as_deref(), Some("ca.pem".as_ref()));
    assert_eq!(cluster.certificate_authority_data.as_deref(), Some(&b"CA"[..]));
    assert_eq!(cluster.proxy_url.as_deref(), Some("http://proxy"));
    assert_eq!(cluster.extensions["client.authentication.k8s.io/exec"]["audience"], "lab");
    let context = &read.contexts["lab"];
    assert_eq!(
        (context.cluster.as_deref(), context.user.as_deref(), context.namespace.as_deref()),
        (Some("lab"), Some("dev"), Some("ops"))
    );
    let user = &read.users["dev"];
    assert_eq!(user.client_certificate_data.as_deref(), Some(&b"CERT"[..]));
    assert_eq!(user.client_key_data.as_ref().unwrap().expose(), b"KEY");
    assert_eq!(user.client_certificate.as_deref(), Some("c.pem".as_ref()));
    assert_eq!(user.client_key.as_deref(), Some("k.pem".as_ref()));
    assert_eq!(user.token.as_ref().unwrap().expose(), b"t");
    assert_eq!(user.token_file.as_deref(), Some("tf".as_ref()));
    assert_eq!(user.impersonate.as_deref(), Some("root"));
    assert_eq!(user.impersonate_uid.as_deref(), Some("7"));
    assert_eq!(user.impersonate_groups, ["a", "b"]);
    assert_eq!(user.impersonate_user_extra["scope"], ["x", "z"]);
    assert_eq!(user.username.as_deref(), Some("u"));
    assert_eq!(user.password.as_ref().unwrap().expose(), b"p");
    let provider = user.auth_provider.as_ref().unwrap();
    assert_eq!(
        (provider.name.as_str(), provider.config["id-token"].expose()),
        ("oidc", &b"it"[..])
    );
    let exec = user.exec.as_ref().unwrap();
    assert_eq!(exec.api_version.as_deref(), Some("client.authentication.k8s.io/v1"));
    assert_eq!((exec.command.as_deref(), &*exec.args), (Some("cred"), &["one".to_owned()][..]));
    assert_eq!((exec.env[0].name.as_str(), exec.env[0].value.expose()), ("E", &b"v"[..]));
    assert_eq!(exec.install_hint.as_deref(), Some("get it"));
    assert_eq!(
        (exec.provide_cluster_info, exec.interactive_mode.as_deref()),
        (true, Some("Never"))
    );
}

#[test]
fn nothing_in_many_spellings_is_an_empty_kubeconfig() {
    for text in [
        "",
        "\n\n",
        "# only words\n",
        "---\n",
        "null",
        "~",
        "{}",
        "clusters: []\nusers: null\ncontexts:\n",
        "\u{feff}apiVersion: v1\nkind: Config\n",
        "kind: Config\npreferences: null\ncurrent-context: \"\"",
        "unknown: {x: [1, .nan, .inf, 1e999, 0x1f]}\n",
    ] {
        let read = Kubeconfig::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert!(read.clusters.is_empty() && read.contexts.is_empty() && read.users.is_empty());
        assert_eq!(read.current_context, None);
    }
}

#[test]
fn json_is_read_too_with_tabs_and_escapes() {
    let text = "{\n\t\"apiVersion\": \"v1\", \"kind\": \"Config\",\n\t\"users\": [{\"name\": \"d\\u00e9v\", \"user\": {\"token\": \"\\ud83d\\ude00\"}}]}";
    assert_eq!(
        Kubeconfig::parse(text).unwrap().users["dév"].token.as_ref().unwrap().expose(),
        "😀".as_bytes()
    );
}

#[test]
fn two_entries_of_one_name_in_one_file_are_an_error() {
    for (list, inner) in [("clusters", "cluster"), ("users", "user"), ("contexts", "context")] {
        let text =
            format!("{list}: [{{name: lab, {inner}: {{}}}}, {{name: other}}, {{name: lab}}]");
        let error = error(&text);
        assert!(error.contains(list) && error.contains("duplicate name \"lab\""), "{error}");
    }
    assert!(error("extensions: [{name: e}, {name: e}]").contains("duplicate name \"e\""));
}

#[test]
fn a_value_of_the_wrong_type_is_named_but_not_shown() {
    for (text, expected) in [
        (
            "users: [{name: dev, user: {token: 12345}}]",
            "users[0] (\"dev\").user.token: expected a text, found a number; put it in quotes",
        ),
        ("users: [{name: dev, user: {token: 1_2345}}]", "quotes"),
        (
            "users: [{name: dev, user: {password: true}}]",
            "user.password: expected a text, found true or false",
        ),
        (
            "users: [{name: dev, user: [12345]}]",
            "users[0] (\"dev\").user: expected a mapping, found a list",
        ),
        ("users: [{name: dev, user: '12345'}]", "expected a mapping, found a text"),
        ("users: [12345]", "users[0]: expected a mapping, found a number"),
        ("users: 12345", "users: expected a list, found a number"),
        ("'12345'", "expected a mapping, found a text"),
        ("- 12345", "expected a mapping, found a list"),
        (
            "clusters: [{name: c, cluster: {insecure-skip-tls-verify: '12345'}}]",
            "expected true or false, found a text",
        ),
        (
            "users: [{name: dev, user: {client-key-data: '12345'}}]",
            "user.client-key-data: is not valid base64",
        ),
        (
            "users: [{name: dev, user: {exec: {env: [{name: A, value: 12345}]}}}]",
            "user.exec.env[0].value",
        ),
        (
            "users: [{name: dev, user: {auth-provider: {config: {id-token: 12345}}}}]",
            "auth-provider.config.id-token",
        ),
        ("users: [{name: dev, user: {as-user-extra: {a: 12345}}}]", "as-user-extra.a"),
        ("kind: Secret", "not a kubeconfig"),
        ("apiVersion: v2", "not a kubeconfig"),
        ("a: [12345", "is not valid YAML"),
        ("a: *12345", "is not valid YAML"),
        ("a: \"\\q12345\"", "is not valid YAML"),
        ("12345: b\n  c: 12345\n- x", "is not valid YAML"),
    ] {
        let error = error(text);
        assert!(error.contains(expected), "{text:?} gave {error:?}");
        assert!(!error.contains("12345") && !error.contains("2345"), "{error}");
    }
}

#[test]
fn syntax_errors_tell_the_line() {
    let error = error("apiVersion: v1\nclusters:\n- name: [\n");
    assert!(error.contains("line "), "{error}");
}

#[test]
fn anchors_merge_keys_and_equal_keys_are_read_as_kubectl_reads_them() {
    let text = "
users:
- name: a
  user: &shared {token: one, username: u}
- name: b
  user: {<<: *shared, token: two}
- name: c
  user: *shared
- name: d
  user: {token: first, token: last}
";
    let users = Kubeconfig::parse(text).unwrap().users;
    let token = |name: &str| {
        String::from_utf8(users[name].token.as_ref().unwrap().expose().to_vec()).unwrap()
    };
    assert_eq!((token("b"), users["b"].username.as_deref()), ("two".to_owned(), Some("u")));
    assert_eq!((token("c"), token("d")), ("one".to_owned(), "last".to_owned()));
}

#[test]
fn only_the_first_document_counts_and_others_are_noticed() {
    let (read, followed) =
        decode(b"---\ncurrent-context: one\n---\ncurrent-context: two\n").unwrap();
    assert_eq!((read.current_context.as_deref(), followed), (Some("one"), true));
    let (read, followed) = decode(b"---\ncurrent-context: one\n...\n").unwrap();
    assert_eq!((read.current_context.as_deref(), followed), (Some("one"), false));
}

#[test]
fn boolean_words_of_old_yaml_are_booleans() {
    let text = "clusters: [{name: c, cluster: {insecure-skip-tls-verify: yes}}]";
    assert!(Kubeconfig::parse(text).unwrap().clusters["c"].insecure_skip_tls_verify);
}

#[test]
fn an_entry_without_content_is_an_empty_one() {
    let read = Kubeconfig::parse(
        "users: [{name: a}, {name: b, user: null}, {name: c, user: {token: \"\"}}]",
    )
    .unwrap();
    assert_eq!(read.users.len(), 3);
    assert!(read.users.values().all(|user| user.token.is_none()));
}

#[test]
fn bombs_and_giants_are_refused() {
    let mut bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (i, name) in "bcdefghij".chars().enumerate() {
        let before = "abcdefghij".as_bytes()[i] as char;
        bomb.push_str(&format!(
            "{name}: &{name} [{}]\n",
            vec![format!("*{before}"); 10].join(", ")
        ));
    }
    assert!(error(&bomb).contains("too many"), "{}", error(&bomb));
    let deep = format!("a: {}{}", "[".repeat(10_000), "]".repeat(10_000));
    assert!(error(&deep).contains("YAML"));
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(error(&deep).contains("YAML"));
    assert!(error(&" ".repeat(9 << 20)).contains("larger than"));
}

/// Small pieces of kubeconfigs that are put together in any order.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("clusters:".to_owned()),
        Just("users:\n- name: a\n  user: ".to_owned()),
        Just("- ".to_owned()),
        Just("  ".to_owned()),
        Just("\n".to_owned()),
        Just("---\n".to_owned()),
        Just("&a ".to_owned()),
        Just("*a".to_owned()),
        Just("<<: ".to_owned()),
        Just("{".to_owned()),
        Just("}".to_owned()),
        Just("[".to_owned()),
        Just("]".to_owned()),
        Just("|\n".to_owned()),
        Just("!!binary ".to_owned()),
        Just("? ".to_owned()),
        Just("exec: ".to_owned()),
        Just("token: 1e400".to_owned()),
        "[a-z:'\" #\\\\.0-9-]{0,6}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = Kubeconfig::parse(&bytes);
    }

    #[test]
    fn arbitrary_pieces_never_panic(pieces in prop::collection::vec(piece(), 0..30)) {
        let _ = Kubeconfig::parse(pieces.concat());
    }

    #[test]
    fn a_secret_is_in_no_message(pieces in prop::collection::vec(piece(), 0..12), at in 0usize..12) {
        let mut pieces = pieces;
        let at = at.min(pieces.len());
        pieces.insert(at, "token: MARKED".to_owned());
        match Kubeconfig::parse(pieces.concat()) {
            Ok(read) => drop(read),
            Err(error) => prop_assert!(!format!("{error} {error:?}").contains("MARKED"), "{}", error),
        }
    }
}
