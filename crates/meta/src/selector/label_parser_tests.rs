use crate::selector::{Operator, Requirement, Selector};

use Operator::*;

fn requirement(key: &str, operator: Operator, values: &[&str]) -> Requirement {
    Requirement::new(key, operator, values.iter().copied()).unwrap()
}

/// A selector as text, the requirements it means, and its canonical text.
type Case<'a> = (&'a str, &'a [(&'a str, Operator, &'a [&'a str])], &'a str);

const LEGAL: &[Case<'_>] = &[
    ("", &[], ""),
    (" \t\r\n ", &[], ""),
    ("x", &[("x", Exists, &[])], "x"),
    ("a ", &[("a", Exists, &[])], "a"),
    ("\rx", &[("x", Exists, &[])], "x"),
    ("!x", &[("x", DoesNotExist, &[])], "!x"),
    ("! x", &[("x", DoesNotExist, &[])], "!x"),
    ("!environment", &[("environment", DoesNotExist, &[])], "!environment"),
    ("x=a", &[("x", Equals, &["a"])], "x=a"),
    ("x==a", &[("x", Equals, &["a"])], "x=a"),
    (" x = a ", &[("x", Equals, &["a"])], "x=a"),
    ("x!=a", &[("x", NotEquals, &["a"])], "x!=a"),
    ("x>1", &[("x", GreaterThan, &["1"])], "x>1"),
    ("x < 7", &[("x", LessThan, &["7"])], "x<7"),
    ("environment=", &[("environment", Equals, &[""])], "environment="),
    ("environment= ", &[("environment", Equals, &[""])], "environment="),
    ("environment==", &[("environment", Equals, &[""])], "environment="),
    ("environment!=", &[("environment", NotEquals, &[""])], "environment!="),
    ("environment in ()", &[("environment", In, &[""])], "environment in ()"),
    ("environment in (,a)", &[("environment", In, &["", "a"])], "environment in (,a)"),
    ("x=,z= ", &[("x", Equals, &[""]), ("z", Equals, &[""])], "x=,z="),
    ("x= ,z=", &[("x", Equals, &[""]), ("z", Equals, &[""])], "x=,z="),
    ("a,b", &[("a", Exists, &[]), ("b", Exists, &[])], "a,b"),
    ("a , b", &[("a", Exists, &[]), ("b", Exists, &[])], "a,b"),
    (
        "x=a,y=b,z=c",
        &[("x", Equals, &["a"]), ("y", Equals, &["b"]), ("z", Equals, &["c"])],
        "x=a,y=b,z=c",
    ),
    ("z=c,a!=b", &[("a", NotEquals, &["b"]), ("z", Equals, &["c"])], "a!=b,z=c"),
    ("x in (def,abc)", &[("x", In, &["abc", "def"])], "x in (abc,def)"),
    ("x in(a)", &[("x", In, &["a"])], "x in (a)"),
    ("foo  in\t (abc)", &[("foo", In, &["abc"])], "foo in (abc)"),
    ("x notin\n (abc)", &[("x", NotIn, &["abc"])], "x notin (abc)"),
    ("x  notin\t\t\r\n( abc , def )", &[("x", NotIn, &["abc", "def"])], "x notin (abc,def)"),
    ("x in (a,a,a)", &[("x", In, &["a"])], "x in (a)"),
    ("x in (abc,)", &[("x", In, &["", "abc"])], "x in (,abc)"),
    ("x notin ( )", &[("x", NotIn, &[""])], "x notin ()"),
    ("x notin (, a)", &[("x", NotIn, &["", "a"])], "x notin (,a)"),
    ("x in (,,,)", &[("x", In, &[""])], "x in ()"),
    (
        "x notin (abc,,def),bar,z in (),w",
        &[
            ("bar", Exists, &[]),
            ("w", Exists, &[]),
            ("x", NotIn, &["", "abc", "def"]),
            ("z", In, &[""]),
        ],
        "bar,w,x notin (,abc,def),z in ()",
    ),
    ("x,y in (a)", &[("x", Exists, &[]), ("y", In, &["a"])], "x,y in (a)"),
    // `in` and `notin` are words wherever no operator is due.
    ("in", &[("in", Exists, &[])], "in"),
    ("!notin", &[("notin", DoesNotExist, &[])], "!notin"),
    ("notin=in", &[("notin", Equals, &["in"])], "notin=in"),
    ("in in (in,notin)", &[("in", In, &["in", "notin"])], "in in (in,notin)"),
    ("notin notin (notin)", &[("notin", NotIn, &["notin"])], "notin notin (notin)"),
    ("in,notin", &[("in", Exists, &[]), ("notin", Exists, &[])], "in,notin"),
    (
        "a in (x,y,notin, z,in)",
        &[("a", In, &["in", "notin", "x", "y", "z"])],
        "a in (in,notin,x,y,z)",
    ),
    (
        "this-is-a-dns.domain.com/key-with-dash",
        &[("this-is-a-dns.domain.com/key-with-dash", Exists, &[])],
        "this-is-a-dns.domain.com/key-with-dash",
    ),
    (
        "0.1.2.domain/99 notin (tick.tack.clock, 10.10.100.1)",
        &[("0.1.2.domain/99", NotIn, &["10.10.100.1", "tick.tack.clock"])],
        "0.1.2.domain/99 notin (10.10.100.1,tick.tack.clock)",
    ),
    ("z!=a,z", &[("z", Exists, &[]), ("z", NotEquals, &["a"])], "z,z!=a"),
    ("a=1,a=1", &[("a", Equals, &["1"])], "a=1"),
    ("a=1,a=2", &[("a", Equals, &["1"]), ("a", Equals, &["2"])], "a=1,a=2"),
];

#[test]
fn legal_selectors() {
    for (text, meaning, canonical) in LEGAL {
        let parsed: Selector = text.parse().unwrap_or_else(|e| panic!("{text:?}: {e}"));
        let meant = meaning.iter().map(|(k, o, v)| requirement(k, *o, v));
        assert_eq!(parsed, Selector::from_requirements(meant), "{text:?}");
        assert_eq!(parsed.to_string(), *canonical, "{text:?}");
        assert_eq!(canonical.parse::<Selector>().unwrap(), parsed, "{canonical:?}");
    }
}

/// A selector that must be refused, and the end of what is said about it.
const ILLEGAL: &[(&str, &str)] = &[
    (",", ": at character 1: expected a label key or '!', found ','"),
    (",x,y", ": at character 1: expected a label key or '!', found ','"),
    ("x,,y", ": at character 3: expected a label key or '!', found ','"),
    ("x,", ": at its end: expected a label key or '!', found the end"),
    ("a in (xyz),", ": at its end: expected a label key or '!', found the end"),
    ("!", ": at its end: expected a label key, found the end"),
    ("!!x", ": at character 2: expected a label key, found '!'"),
    ("!=x", ": at character 1: expected a label key or '!', found '!='"),
    ("=x", ": at character 1: expected a label key or '!', found '='"),
    ("(", ": at character 1: expected a label key or '!', found '('"),
    ("!x=a", ": at character 3: expected ',' or the end, found '='"),
    ("!x in (a)", ": at character 4: expected ',' or the end, found \"in\""),
    ("x=a,b=c=d", ": at character 8: expected ',' or the end, found '='"),
    ("x==a==b", ": at character 5: expected ',' or the end, found '='"),
    ("x===a", ": at character 4: expected a value, found '='"),
    ("x=!a", ": at character 3: expected a value, found '!'"),
    ("x<=3", ": at character 3: expected a value, found '='"),
    ("x=(a)", ": at character 3: expected a value, found '('"),
    ("x=a b", ": at character 5: expected ',' or the end, found \"b\""),
    (
        "x nott in (y)",
        ": at character 3: expected one of =, ==, !=, >, <, in, notin, or ',' or the end, found \"nott\"",
    ),
    (
        "x exists",
        ": at character 3: expected one of =, ==, !=, >, <, in, notin, or ',' or the end, found \"exists\"",
    ),
    (
        "x In (a)",
        ": at character 3: expected one of =, ==, !=, >, <, in, notin, or ',' or the end, found \"In\"",
    ),
    (
        "x !",
        ": at character 3: expected one of =, ==, !=, >, <, in, notin, or ',' or the end, found '!'",
    ),
    (
        "a (",
        ": at character 3: expected one of =, ==, !=, >, <, in, notin, or ',' or the end, found '('",
    ),
    ("a in", ": at its end: expected '(', found the end"),
    ("a in b", ": at character 6: expected '(', found \"b\""),
    ("a notin(", ": at its end: expected a value, ',' or ')', found the end"),
    ("a in (x", ": at its end: expected a value, ',' or ')', found the end"),
    ("a in (x,", ": at its end: expected a value, ',' or ')', found the end"),
    ("a in (xyz abc)", ": at character 11: expected a value, ',' or ')', found \"abc\""),
    ("a in (=)", ": at character 7: expected a value, ',' or ')', found '='"),
    ("a in ((x))", ": at character 7: expected a value, ',' or ')', found '('"),
    ("a in (xyz)b notin ()", ": at character 11: expected ',' or the end, found \"b\""),
    (
        "x<a",
        ": at character 3: value \"a\" of label \"x\": GreaterThan and LessThan need an integer of 64 bits",
    ),
    (
        "x>",
        ": at its end: value \"\" of label \"x\": GreaterThan and LessThan need an integer of 64 bits",
    ),
    (
        "x>9223372036854775808",
        ": at character 3: value \"9223372036854775808\" of label \"x\": GreaterThan and LessThan need an integer of 64 bits",
    ),
];

#[test]
fn illegal_selectors_say_what_and_where() {
    for (text, reason) in ILLEGAL {
        let error = text.parse::<Selector>().expect_err(text).to_string();
        assert_eq!(error, format!("invalid label selector {text:?}{reason}"));
    }
}

#[test]
fn illegal_keys_and_values_are_found_where_they_stand() {
    let long = "x".repeat(64);
    let cases = [
        (
            "x=a||y=b".to_owned(),
            "at character 3: value \"a||y\" of label \"x\": a valid label must",
        ),
        ("a=1, a/b/c=d".to_owned(), "at character 6: key \"a/b/c\": a valid label key must"),
        (
            "app=_lab".to_owned(),
            "at character 5: value \"_lab\" of label \"app\": a valid label must",
        ),
        (
            "app in (ok,_lab)".to_owned(),
            "at character 12: value \"_lab\" of label \"app\": a valid label must",
        ),
        ("ok,é=1".to_owned(), "at character 4: key \"é\": name part must consist"),
        ("é,ok in (ü)".to_owned(), "at character 1: key \"é\": name part must consist"),
        ("a\0b".to_owned(), "at character 1: key \"a\\0b\": name part must consist"),
        ("x>-1".to_owned(), "at character 3: value \"-1\" of label \"x\": a valid label must"),
        (format!("x={long}"), "must be no more than 63 bytes"),
        (format!("{long}=x"), "name part must be no more than 63 bytes"),
    ];
    for (text, part) in cases {
        let error = text.parse::<Selector>().expect_err(&text).to_string();
        assert!(error.contains(part), "{text:?}: {error}");
    }
}

#[test]
fn a_very_long_selector_is_cut_in_the_message() {
    let error = format!("{}=", "é".repeat(100_000)).parse::<Selector>().unwrap_err();
    assert!(error.to_string().starts_with("invalid label selector \"ééé"));
    assert!(error.to_string().contains("é…\": at character 1: key"));
}
