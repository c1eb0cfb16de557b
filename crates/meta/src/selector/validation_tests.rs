use super::*;

fn messages(result: Result<(), Violations>) -> Vec<String> {
    result.err().map(|v| v.messages().to_vec()).unwrap_or_default()
}

const NAME_PART: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

#[test]
fn legal_label_keys() {
    let longest = format!("{}/{}", "a".repeat(253), "x".repeat(63));
    for key in [
        "a",
        "A",
        "1",
        "a-b",
        "a_b",
        "a.b",
        "a..b",
        "a-_.b",
        "simple",
        "now-with-dashes",
        "1-starts-with-num",
        "simple/simple",
        "1.2.3.4/5678",
        "example.com/MyName",
        "in",
        "a--b.c/X",
        &longest,
    ] {
        assert_eq!(messages(check_label_key(key)), Vec::<String>::new(), "{key}");
    }
}

#[test]
fn illegal_label_keys_are_told_each_rule() {
    let cases: &[(&str, &[&str])] = &[
        ("", &["name part must be non-empty", NAME_PART]),
        ("-a", &[NAME_PART]),
        ("a-", &[NAME_PART]),
        ("_", &[NAME_PART]),
        ("a b", &[NAME_PART]),
        ("a\0", &[NAME_PART]),
        ("ä", &[NAME_PART]),
        ("a\n", &[NAME_PART]),
        ("/a", &["prefix part must be non-empty"]),
        ("a/", &["name part must be non-empty", NAME_PART]),
    ];
    for (key, expected) in cases {
        assert_eq!(messages(check_label_key(key)), *expected, "{key:?}");
    }
    assert_eq!(messages(check_label_key("Example.com/a")), [format!("prefix part {SUBDOMAIN}")]);
    assert_eq!(
        messages(check_label_key(&"x".repeat(64))),
        ["name part must be no more than 63 bytes"]
    );
    assert_eq!(
        messages(check_label_key(&format!("{}/x", "a".repeat(254)))),
        ["prefix part must be no more than 253 bytes"]
    );
    assert_eq!(
        messages(check_label_key("a/b/c")),
        [
            "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        ]
    );
}

#[test]
fn label_values() {
    for value in ["", "a", "A.b_c-9", "10.10.100.1", &"x".repeat(63)] {
        assert_eq!(messages(check_label_value(value)), Vec::<String>::new(), "{value}");
    }
    let pattern = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
    for value in ["_lab", "lab.", "a b", "-1", "a/b", "é", " "] {
        assert_eq!(messages(check_label_value(value)), [pattern], "{value:?}");
    }
    assert_eq!(messages(check_label_value(&"x".repeat(64))), ["must be no more than 63 bytes"]);
    assert_eq!(
        messages(check_label_value(&"-".repeat(64))),
        ["must be no more than 63 bytes", pattern]
    );
}

#[test]
fn dns_names() {
    for name in ["a", "0", "a-b", "a--b", &"a".repeat(63)] {
        assert!(check_dns_label(name).is_ok(), "{name}");
        assert!(check_dns_subdomain(name).is_ok(), "{name}");
    }
    for name in ["a.b", "example.com", "1.2.3.4", &"a".repeat(253)] {
        assert!(check_dns_subdomain(name).is_ok(), "{name}");
    }
    for name in ["", "A", "-a", "a-", "a_b", "a b", "ä", "a\n"] {
        let expected = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
        assert_eq!(messages(check_dns_label(name)), [expected], "{name:?}");
    }
    for name in ["", "A", ".", "a.", ".a", "a..b", "a.-b", "a/b"] {
        assert_eq!(messages(check_dns_subdomain(name)), [SUBDOMAIN], "{name:?}");
    }
    assert_eq!(messages(check_dns_label("a.b")), ["must not contain dots"]);
    assert_eq!(messages(check_dns_label(&"a".repeat(64))), ["must be no more than 63 bytes"]);
    assert_eq!(messages(check_dns_subdomain(&"a".repeat(254))), ["must be no more than 253 bytes"]);
}

#[test]
fn dns_1035_labels_start_with_a_letter() {
    assert!(check_dns_1035_label("a-1").is_ok());
    for name in ["1a", "", "a.b", "A", "-a", "a-"] {
        assert_eq!(
            messages(check_dns_1035_label(name)),
            [
                "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
            ],
            "{name:?}"
        );
    }
    assert_eq!(messages(check_dns_1035_label(&"a".repeat(64))), ["must be no more than 63 bytes"]);
}

#[test]
fn path_segments() {
    for name in ["a", "system:node", "...", "a b", ""] {
        assert!(check_path_segment(name).is_ok(), "{name}");
    }
    assert_eq!(messages(check_path_segment(".")), ["may not be '.'"]);
    assert_eq!(messages(check_path_segment("..")), ["may not be '..'"]);
    assert_eq!(messages(check_path_segment("a/b")), ["may not contain '/'"]);
    assert_eq!(
        messages(check_path_segment("a/b%2f")),
        ["may not contain '/'", "may not contain '%'"]
    );
}

#[test]
fn violations_print_on_one_line() {
    let violations = check_label_key("").unwrap_err();
    assert_eq!(violations.to_string(), format!("name part must be non-empty; {NAME_PART}"));
}
