use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::*;

fn selector(text: &str) -> Selector {
    text.parse().unwrap_or_else(|e| panic!("{text:?}: {e}"))
}

fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
}

fn expression(key: &str, operator: &str, values: &[&str]) -> LabelSelectorRequirement {
    LabelSelectorRequirement {
        key: key.to_owned(),
        operator: operator.to_owned(),
        values: (!values.is_empty()).then(|| values.iter().map(|v| (*v).to_owned()).collect()),
    }
}

/// A selector, an object's labels, and whether they match.
type MatchCase<'a> = (&'a str, &'a [(&'a str, &'a str)], bool);

#[test]
fn match_table() {
    let cases: &[MatchCase<'_>] = &[
        ("", &[], true),
        ("", &[("x", "y")], true),
        ("x=y", &[("x", "y")], true),
        ("x=y", &[("x", "z")], false),
        ("x=z", &[], false),
        ("x=y,z=w", &[("x", "y"), ("z", "w")], true),
        ("x=y,z=w", &[("x", "w"), ("z", "w")], false),
        ("x!=y,z!=w", &[("x", "z"), ("z", "a")], true),
        ("x!=y,z!=w", &[("x", "z"), ("z", "w")], false),
        ("notin=in", &[("notin", "in")], true),
        ("x", &[("x", "")], true),
        ("x", &[("y", "z")], false),
        ("!x", &[("y", "z")], true),
        ("!x", &[("x", "")], false),
        // A missing key has none of the values.
        ("x!=y", &[], true),
        ("x notin (y)", &[], true),
        ("x notin ()", &[], true),
        ("x notin ()", &[("x", "")], false),
        ("x in ()", &[], false),
        ("x in (a,b)", &[("x", "b")], true),
        ("x in (a,b)", &[("x", "c")], false),
        // Integers of 64 bits on both sides, or no match.
        ("x>1", &[("x", "2")], true),
        ("x>1", &[("x", "1")], false),
        ("x>1", &[("x", "10")], true),
        ("x<1", &[("x", "0")], true),
        ("x<1", &[("x", "2")], false),
        ("x>1", &[], false),
        ("x<1", &[], false),
        ("x>1", &[("x", "v2")], false),
        ("x>1", &[("x", "2.5")], false),
        ("x>1", &[("x", "")], false),
        ("x>1", &[("x", "9223372036854775807")], true),
        ("x>1", &[("x", "9223372036854775808")], false),
        ("x<1", &[("x", "-9223372036854775808")], true),
        ("x>1,x<5", &[("x", "3")], true),
        ("x>1,x<5", &[("x", "5")], false),
    ];
    for (text, pairs, expected) in cases {
        assert_eq!(selector(text).matches(&labels(pairs)), *expected, "{text:?} on {pairs:?}");
    }
}

/// Three objects: `environment` empty, with a value, and absent.
#[test]
fn empty_values_select_exactly_as_the_api_server_does() {
    let objects = [
        ("empty", labels(&[("environment", "")])),
        ("x", labels(&[("environment", "x")])),
        ("none", labels(&[])),
    ];
    let cases: &[(&str, &[&str])] = &[
        ("environment=", &["empty"]),
        ("environment= ", &["empty"]),
        ("environment==", &["empty"]),
        ("environment!=", &["x", "none"]),
        ("environment in ()", &["empty"]),
        ("environment in (,a)", &["empty"]),
        ("environment in (,x)", &["empty", "x"]),
        ("environment notin ()", &["x", "none"]),
        ("environment notin (,x)", &["none"]),
        ("!environment", &["none"]),
        ("environment", &["empty", "x"]),
    ];
    for (text, expected) in cases {
        let parsed = selector(text);
        for parsed in [selector(&parsed.to_string()), parsed] {
            let found: Vec<&str> = objects
                .iter()
                .filter(|(_, labels)| parsed.matches(labels))
                .map(|(name, _)| *name)
                .collect();
            assert_eq!(found, *expected, "{text:?}");
        }
    }
}

#[test]
fn an_invalid_label_map_never_becomes_everything() {
    let long = "x".repeat(64);
    for (key, value, reason) in [
        ("app", "_lab", "value \"_lab\" of label \"app\": a valid label must"),
        ("app", long.as_str(), "must be no more than 63 bytes"),
        ("a/b/c", "d", "key \"a/b/c\": a valid label key must"),
        ("", "", "key \"\": name part must be non-empty"),
        ("app,tier", "x", "key \"app,tier\": name part must consist"),
        ("app", "x,tier=y", "value \"x,tier=y\" of label \"app\": a valid"),
    ] {
        let map = labels(&[("good", "one"), (key, value)]);
        let error = Selector::from_labels(&map).unwrap_err().to_string();
        assert!(error.starts_with("invalid label selector: "), "{error}");
        assert!(error.contains(reason), "{error}");
        let structured = LabelSelector { match_labels: Some(map), match_expressions: None };
        let error = Selector::try_from(&structured).unwrap_err().to_string();
        assert!(error.starts_with("invalid label selector: matchLabels: "), "{error}");
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn an_empty_label_map_is_everything() {
    assert_eq!(Selector::from_labels(&labels(&[])).unwrap(), Selector::everything());
}

#[test]
fn from_labels_requires_each_label() {
    let built = Selector::from_labels([("b", ""), ("a", "1")]).unwrap();
    assert_eq!(built.to_string(), "a=1,b=");
    assert_eq!(built, selector("b=,a=1"));
}

#[test]
fn everything_and_nothing_are_distinct_in_memory_and_in_print() {
    let (everything, nothing) = (Selector::everything(), Selector::nothing());
    assert_ne!(everything, nothing);
    assert!(everything.is_everything() && !everything.is_nothing());
    assert!(nothing.is_nothing() && !nothing.is_everything());
    assert!(everything.matches(&labels(&[])) && !nothing.matches(&labels(&[])));
    assert_eq!(everything.requirements(), Some(&[][..]));
    assert_eq!(nothing.requirements(), None);
    assert_eq!(Selector::default(), everything);

    assert_eq!(everything.to_string(), "");
    assert_eq!(nothing.to_string(), "nothing,!nothing");
    assert_eq!(selector(&nothing.to_string()), nothing);
    // What a server that knows nothing of this meaning makes of it: no object can match.
    let [there, not_there] = ["nothing", "!nothing"].map(selector);
    for object in [labels(&[]), labels(&[("nothing", "")])] {
        assert!(!(there.matches(&object) && not_there.matches(&object)));
    }
}

#[test]
fn label_selectors() {
    let both = LabelSelector {
        match_labels: Some(labels(&[("b", "2"), ("a", "1")])),
        match_expressions: Some(vec![
            expression("e", "In", &["y", "x"]),
            expression("d", "NotIn", &["z"]),
            expression("c", "Exists", &[]),
            expression("f", "DoesNotExist", &[]),
        ]),
    };
    assert_eq!(Selector::try_from(&both).unwrap(), selector("a=1,b=2,c,d notin (z),e in (x,y),!f"));
    assert_eq!(
        Selector::from_label_selector(Some(&both)).unwrap(),
        Selector::try_from(&both).unwrap()
    );
}

#[test]
fn an_absent_label_selector_is_nothing_an_empty_one_everything() {
    assert_eq!(Selector::from_label_selector(None).unwrap(), Selector::nothing());
    let empty = LabelSelector::default();
    assert_eq!(Selector::from_label_selector(Some(&empty)).unwrap(), Selector::everything());
    let hollow =
        LabelSelector { match_labels: Some(BTreeMap::new()), match_expressions: Some(Vec::new()) };
    assert_eq!(Selector::try_from(&hollow).unwrap(), Selector::everything());
}

#[test]
fn invalid_label_selectors_are_errors_that_name_the_expression() {
    let cases = [
        (expression("a", "in", &["x"]), "\"in\" is not a valid label selector operator"),
        (expression("a", "Gt", &["1"]), "\"Gt\" is not a valid label selector operator"),
        (expression("a", "", &[]), "\"\" is not a valid label selector operator"),
        (expression("a", "In", &[]), "label \"a\": In and NotIn need at least one value, got 0"),
        (expression("a", "NotIn", &[]), "label \"a\": In and NotIn need at least one value, got 0"),
        (
            expression("a", "Exists", &["x"]),
            "label \"a\": Exists and DoesNotExist take no values, got 1",
        ),
        (
            expression("a", "DoesNotExist", &[""]),
            "label \"a\": Exists and DoesNotExist take no values, got 1",
        ),
        (expression("", "Exists", &[]), "key \"\": name part must be non-empty"),
        (expression("a", "In", &["ok", "-"]), "value \"-\" of label \"a\": a valid label must"),
    ];
    for (bad, reason) in cases {
        let structured = LabelSelector {
            match_labels: None,
            match_expressions: Some(vec![expression("good", "Exists", &[]), bad]),
        };
        let error = Selector::try_from(&structured).unwrap_err().to_string();
        let start = format!("invalid label selector: matchExpressions[1]: {reason}");
        assert!(error.starts_with(&start), "{error}");
    }
}

#[test]
fn requirements_are_validated() {
    let none: [&str; 0] = [];
    for operator in
        [Operator::Equals, Operator::NotEquals, Operator::GreaterThan, Operator::LessThan]
    {
        assert!(Requirement::new("x", operator, none).is_err(), "{operator:?}");
        assert!(Requirement::new("x", operator, ["1", "2"]).is_err(), "{operator:?}");
        assert!(Requirement::new("x", operator, ["1"]).is_ok(), "{operator:?}");
    }
    for operator in [Operator::In, Operator::NotIn] {
        assert!(Requirement::new("x", operator, none).is_err(), "{operator:?}");
        assert!(Requirement::new("x", operator, [""]).is_ok(), "{operator:?}");
        assert!(Requirement::new("x", operator, ["a b"]).is_err(), "{operator:?}");
    }
    for operator in [Operator::Exists, Operator::DoesNotExist] {
        assert!(Requirement::new("x", operator, none).is_ok(), "{operator:?}");
        assert!(Requirement::new("x", operator, ["a"]).is_err(), "{operator:?}");
    }
    assert!(Requirement::new("x".repeat(64), Operator::Exists, none).is_err());
    assert!(Requirement::new("x", Operator::LessThan, ["bar"]).is_err());
    let set = Requirement::new("x", Operator::In, ["b", "a", "b"]).unwrap();
    assert_eq!(
        (set.key(), set.operator(), set.values()),
        ("x", Operator::In, &["a".to_owned(), "b".to_owned()][..])
    );
}

#[test]
fn the_order_of_writing_does_not_matter() {
    let one = selector("x=a,a in (p,q),x!=b");
    let other = selector("x!=b,a in (q,p),x==a");
    assert_eq!(one, other);
    assert_eq!(HashSet::from([one, other]).len(), 1);
}

#[test]
fn narrowing() {
    let tier = Requirement::new("tier", Operator::Equals, ["web"]).unwrap();
    let narrowed = selector("z,a=1").with(tier.clone());
    assert_eq!(narrowed.to_string(), "a=1,tier=web,z");
    assert_eq!(Selector::everything().with(tier.clone()), selector("tier=web"));
    assert_eq!(Selector::nothing().with(tier), Selector::nothing());
}

#[test]
fn exact_matches() {
    assert_eq!(selector("key in (value)").exact_match("key"), Some("value"));
    assert_eq!(selector("key in (value,value2)").exact_match("key"), None);
    assert_eq!(selector("key in (a,b),key2 in (c)").exact_match("key2"), Some("c"));
    assert_eq!(selector("key==value").exact_match("key"), Some("value"));
    assert_eq!(selector("key=").exact_match("key"), Some(""));
    assert_eq!(selector("key!=value").exact_match("key"), None);
    assert_eq!(selector("key,key!=b,key=value").exact_match("key"), Some("value"));
    assert_eq!(selector("key=value").exact_match("other"), None);
    assert_eq!(Selector::nothing().exact_match("key"), None);
}

#[test]
fn labels_come_from_many_places() {
    struct Encoded;
    impl Labels for Encoded {
        fn label(&self, key: &str) -> Option<Cow<'_, str>> {
            (key == "app").then(|| Cow::Owned("we".to_owned() + "b"))
        }
    }
    let app = selector("app=web");
    assert!(app.matches(&Encoded));
    assert!(app.matches(&&Encoded as &dyn Labels));
    assert!(app.matches(&Some(labels(&[("app", "web")]))));
    assert!(!app.matches(&None::<BTreeMap<String, String>>));
    assert!(app.matches(&HashMap::from([("app".to_owned(), "web".to_owned())])));
}
