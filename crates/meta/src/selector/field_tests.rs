use std::borrow::Cow;
use std::collections::HashSet;

use super::*;

use FieldOperator::{Equals, NotEquals};

fn selector(text: &str) -> FieldSelector {
    text.parse().unwrap_or_else(|e| panic!("{text:?}: {e}"))
}

/// A selector as text, the terms it means, and its canonical text.
type Case<'a> = (&'a str, &'a [(&'a str, FieldOperator, &'a str)], &'a str);

const LEGAL: &[Case<'_>] = &[
    ("", &[], ""),
    (",", &[], ""),
    (",,,", &[], ""),
    ("x=a", &[("x", Equals, "a")], "x=a"),
    ("x==a", &[("x", Equals, "a")], "x=a"),
    ("x!=a", &[("x", NotEquals, "a")], "x!=a"),
    ("x=", &[("x", Equals, "")], "x="),
    ("x==", &[("x", Equals, "")], "x="),
    ("x!=", &[("x", NotEquals, "")], "x!="),
    ("status.podIP=", &[("status.podIP", Equals, "")], "status.podIP="),
    ("x=a,y=b", &[("x", Equals, "a"), ("y", Equals, "b")], "x=a,y=b"),
    ("y=b,,x!=a,", &[("x", NotEquals, "a"), ("y", Equals, "b")], "x!=a,y=b"),
    ("x=a,x=a", &[("x", Equals, "a")], "x=a"),
    // A blank is part of what it stands in.
    ("x= a", &[("x", Equals, " a")], "x= a"),
    ("x =a", &[("x ", Equals, "a")], "x =a"),
    (r"x=a\,b", &[("x", Equals, "a,b")], r"x=a\,b"),
    (r"x=a\=b", &[("x", Equals, "a=b")], r"x=a\=b"),
    (r"x=a\\b", &[("x", Equals, r"a\b")], r"x=a\\b"),
    (r"x=a\\,y=b", &[("x", Equals, r"a\"), ("y", Equals, "b")], r"x=a\\,y=b"),
    (r"x=a\\\,y\=b", &[("x", Equals, r"a\,y=b")], r"x=a\\\,y\=b"),
    (r"x=\=", &[("x", Equals, "=")], r"x=\="),
    (r"x==\=", &[("x", Equals, "=")], r"x=\="),
    (r"x!=\=\=", &[("x", NotEquals, "==")], r"x!=\=\="),
    ("x=a!b!", &[("x", Equals, "a!b!")], "x=a!b!"),
    ("x=é\u{1F600}\0", &[("x", Equals, "é\u{1F600}\0")], "x=é\u{1F600}\0"),
];

#[test]
fn legal_selectors() {
    for (text, meaning, canonical) in LEGAL {
        let parsed = selector(text);
        let meant = meaning
            .iter()
            .map(|(path, operator, value)| FieldTerm::new(*path, *operator, *value).unwrap());
        assert_eq!(parsed, FieldSelector::from_terms(meant), "{text:?}");
        assert_eq!(parsed.to_string(), *canonical, "{text:?}");
        assert_eq!(selector(canonical), parsed, "{canonical:?}");
    }
}

#[test]
fn illegal_selectors_say_what_and_where() {
    let cases = [
        ("x", ": at character 1: \"x\" has none of '=', '==' and '!='"),
        ("x=a,y", ": at character 5: \"y\" has none of '=', '==' and '!='"),
        ("x in (a)", ": at character 1: \"x in (a)\" has none of '=', '==' and '!='"),
        ("x>1", ": at character 1: \"x>1\" has none of '=', '==' and '!='"),
        (" ", ": at character 1: \" \" has none of '=', '==' and '!='"),
        ("=a", ": at character 1: the field path is empty"),
        ("x=a,!=b", ": at character 5: the field path is empty"),
        ("!x=a", ": at character 1: field path \"!x\" must not contain '!'"),
        (r"x\,y=a", ": at character 1: field path \"x\\\\,y\" must not contain '\\'"),
        ("x=a=b", ": at character 4: unescaped '=' in the value; write it as \"\\=\""),
        ("x===a", ": at character 4: unescaped '=' in the value; write it as \"\\=\""),
        ("x!==a", ": at character 4: unescaped '=' in the value; write it as \"\\=\""),
        ("x!=a!=b", ": at character 6: unescaped '=' in the value; write it as \"\\=\""),
        ("é=é,x=a||y=b", ": at character 11: unescaped '=' in the value; write it as \"\\=\""),
        (
            r"x=a\b",
            ": at character 4: invalid escape sequence \"\\b\"; write a backslash as \"\\\\\"",
        ),
        (
            r"x=a\",
            ": at character 4: a backslash at the end escapes nothing; write a backslash as \"\\\\\"",
        ),
        (
            r"x=a\\\",
            ": at character 6: a backslash at the end escapes nothing; write a backslash as \"\\\\\"",
        ),
    ];
    for (text, reason) in cases {
        let error = text.parse::<FieldSelector>().expect_err(text).to_string();
        assert_eq!(error, format!("invalid field selector {text:?}{reason}"));
    }
}

#[test]
fn a_path_that_cannot_be_written_is_refused() {
    for path in ["", "a=b", "a,b", "a!", r"a\"] {
        let error = FieldTerm::new(path, Equals, "x").unwrap_err().to_string();
        assert!(error.starts_with("invalid field selector: "), "{error}");
    }
    assert!(FieldSelector::equals("a,metadata.name", "x").is_err());
}

#[test]
fn any_value_can_be_asked_for() {
    let injected = FieldSelector::equals("metadata.name", r"a,b=c\d").unwrap();
    assert_eq!(injected.to_string(), r"metadata.name=a\,b\=c\\d");
    assert_eq!(injected.terms().len(), 1);
    assert_eq!(injected.exact_match("metadata.name"), Some(r"a,b=c\d"));
}

#[test]
fn match_table() {
    let pod = |path: &str| match path {
        "metadata.name" => Some(Cow::Borrowed("a")),
        "spec.nodeName" => Some(Cow::Owned("n".to_owned() + "1")),
        "status.podIP" => Some(Cow::Borrowed("")),
        _ => None,
    };
    let cases = [
        ("", true),
        ("spec.nodeName=n1", true),
        ("spec.nodeName=n2", false),
        ("metadata.name!=a", false),
        ("metadata.name!=b", true),
        ("metadata.name=a,spec.nodeName==n1", true),
        ("metadata.name=a,spec.nodeName==n2", false),
        ("status.podIP=", true),
        ("status.podIP!=", false),
        // A missing field counts as empty.
        ("spec.bogus=", true),
        ("spec.bogus!=", false),
        ("spec.bogus=1", false),
        ("spec.bogus!=1", true),
    ];
    for (text, expected) in cases {
        assert_eq!(selector(text).matches(pod), expected, "{text:?}");
    }
}

#[test]
fn exact_matches() {
    assert_eq!(selector("metadata.name=a,x!=b").exact_match("metadata.name"), Some("a"));
    assert_eq!(selector("metadata.name=a,x!=b").exact_match("x"), None);
    assert_eq!(selector("metadata.name=a").exact_match("metadata.namespace"), None);
    assert_eq!(FieldSelector::everything().exact_match("metadata.name"), None);
}

#[test]
fn everything() {
    assert_eq!(FieldSelector::default(), FieldSelector::everything());
    assert!(selector(",").is_everything());
    assert!(!selector("x=").is_everything());
    assert!(FieldSelector::everything().matches(|_| None));
}

#[test]
fn the_order_of_writing_does_not_matter() {
    let set = HashSet::from([selector("a=1,b!=2"), selector("b!=2,a==1")]);
    assert_eq!(set.len(), 1);
    let narrowed = selector("b!=2").with(FieldTerm::new("a", Equals, "1").unwrap());
    assert!(set.contains(&narrowed));
}
