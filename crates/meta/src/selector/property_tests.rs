//! What holds for every selector: printing and parsing are inverse, no input panics, and matching
//! agrees with a model that spells the rules out.

use std::borrow::Cow;
use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

/// A requirement as plain data, from a small world in which keys and values meet often.
#[derive(Debug, Clone)]
struct Plain {
    key: &'static str,
    operator: Operator,
    values: Vec<&'static str>,
}

fn key() -> impl Strategy<Value = &'static str> {
    select(vec!["a", "in", "notin", "example.com/a", "A_1.b-c", "nothing"])
}

fn value() -> impl Strategy<Value = &'static str> {
    select(vec!["", "a", "in", "notin", "0", "7", "007", "9223372036854775807", "1.5"])
}

fn integer() -> impl Strategy<Value = &'static str> {
    select(vec!["0", "6", "7", "007", "9223372036854775807"])
}

fn plain() -> impl Strategy<Value = Plain> {
    let operators = select(vec![
        Operator::Exists,
        Operator::DoesNotExist,
        Operator::Equals,
        Operator::NotEquals,
        Operator::In,
        Operator::NotIn,
        Operator::GreaterThan,
        Operator::LessThan,
    ]);
    (key(), operators, vec(value(), 1..4), integer()).prop_map(|(key, operator, set, integer)| {
        let values = match operator {
            Operator::Exists | Operator::DoesNotExist => Vec::new(),
            Operator::In | Operator::NotIn => set,
            Operator::GreaterThan | Operator::LessThan => vec![integer],
            _ => set.into_iter().take(1).collect(),
        };
        Plain { key, operator, values }
    })
}

fn built(plain: &[Plain]) -> Selector {
    Selector::from_requirements(plain.iter().map(|p| {
        Requirement::new(p.key, p.operator, p.values.iter().copied())
            .expect("legal by construction")
    }))
}

fn model_matches(plain: &[Plain], labels: &BTreeMap<String, String>) -> bool {
    plain.iter().all(|p| {
        let found = labels.get(p.key).map(String::as_str);
        let among = |label: &str| p.values.contains(&label);
        let numbers = || Some((found?.parse::<i64>().ok()?, p.values[0].parse::<i64>().ok()?));
        match p.operator {
            Operator::Exists => found.is_some(),
            Operator::DoesNotExist => found.is_none(),
            Operator::Equals | Operator::In => found.is_some_and(among),
            Operator::NotEquals | Operator::NotIn => found.is_none_or(|label| !among(label)),
            Operator::GreaterThan => numbers().is_some_and(|(label, bound)| label > bound),
            Operator::LessThan => numbers().is_some_and(|(label, bound)| label < bound),
        }
    })
}

fn labels() -> impl Strategy<Value = BTreeMap<String, String>> {
    btree_map(key().prop_map(str::to_owned), value().prop_map(str::to_owned), 0..6)
}

/// Text that is made of a selector's tokens, so that much of it gets past the first sign.
fn token_soup(tokens: &'static [&'static str]) -> impl Strategy<Value = String> {
    vec(select(tokens), 0..12).prop_map(|tokens| tokens.concat())
}

const LABEL_TOKENS: &[&str] = &[
    "a", "b", "in", "notin", "in ", " in (", " notin (", "(", ")", ",", "!", "=", "==", "!=", ">",
    "<", " ", "\t", "7", "_", "x/y", "é", "\0",
];
const FIELD_TOKENS: &[&str] =
    &["a", "b.c", "=", "==", "!=", "!", ",", "\\", "\\,", "\\=", "\\\\", " ", "é", "\0"];

proptest! {
    #[test]
    fn label_selectors_survive_printing(plain in vec(plain(), 0..5)) {
        let selector = built(&plain);
        prop_assert_eq!(selector.to_string().parse::<Selector>().unwrap(), selector);
    }

    #[test]
    fn whatever_parses_as_label_selector_survives_printing(text in token_soup(LABEL_TOKENS)) {
        if let Ok(selector) = text.parse::<Selector>() {
            let printed = selector.to_string();
            prop_assert_eq!(&printed.parse::<Selector>().unwrap(), &selector);
            prop_assert_eq!(printed.parse::<Selector>().unwrap().to_string(), printed);
        }
    }

    #[test]
    fn label_matching_agrees_with_the_model(plain in vec(plain(), 0..4), labels in labels()) {
        let selector = built(&plain);
        prop_assert_eq!(selector.matches(&labels), model_matches(&plain, &labels));
        let reparsed: Selector = selector.to_string().parse().unwrap();
        prop_assert_eq!(reparsed.matches(&labels), model_matches(&plain, &labels));
    }

    #[test]
    fn a_map_selects_what_contains_it(map in labels(), labels in labels()) {
        let selector = Selector::from_labels(&map).unwrap();
        prop_assert_eq!(selector.matches(&labels), map.iter().all(|(k, v)| labels.get(k) == Some(v)));
        prop_assert_eq!(selector.is_everything(), map.is_empty());
    }

    #[test]
    fn any_map_gives_an_error_or_a_selector_of_its_own_labels(
        map in btree_map(any::<String>(), any::<String>(), 1..3),
    ) {
        if let Ok(selector) = Selector::from_labels(&map) {
            prop_assert!(selector.matches(&map));
            prop_assert!(!selector.matches(&BTreeMap::new()));
        }
    }

    #[test]
    fn no_text_panics(bytes in vec(any::<u8>(), 0..64), soup in token_soup(LABEL_TOKENS)) {
        for text in [String::from_utf8_lossy(&bytes).into_owned(), soup] {
            let _ = text.parse::<Selector>().map_err(|e| e.to_string());
            let _ = text.parse::<FieldSelector>().map_err(|e| e.to_string());
            let _ = validation::check_label_key(&text);
            let _ = validation::check_label_value(&text);
            let _ = validation::check_dns_label(&text);
            let _ = validation::check_dns_subdomain(&text);
        }
    }

    #[test]
    fn field_selectors_of_any_values_survive_printing(
        terms in vec((select(vec!["a", "b.c", "metadata.name"]), any::<bool>(), any::<String>()), 0..4),
    ) {
        let selector = FieldSelector::from_terms(terms.iter().map(|(path, equal, value)| {
            let operator = if *equal { FieldOperator::Equals } else { FieldOperator::NotEquals };
            FieldTerm::new(*path, operator, value).unwrap()
        }));
        prop_assert_eq!(selector.to_string().parse::<FieldSelector>().unwrap(), selector);
    }

    #[test]
    fn whatever_parses_as_field_selector_survives_printing(text in token_soup(FIELD_TOKENS)) {
        if let Ok(selector) = text.parse::<FieldSelector>() {
            prop_assert_eq!(selector.to_string().parse::<FieldSelector>().unwrap(), selector);
        }
    }

    #[test]
    fn field_matching_agrees_with_the_model(
        terms in vec((select(vec!["a", "b", "c"]), any::<bool>(), select(vec!["", "x", "y,="])), 0..4),
        fields in btree_map(select(vec!["a", "b", "c"]), select(vec!["", "x", "y,="]), 0..3),
    ) {
        let selector = FieldSelector::from_terms(terms.iter().map(|(path, equal, value)| {
            let operator = if *equal { FieldOperator::Equals } else { FieldOperator::NotEquals };
            FieldTerm::new(*path, operator, *value).unwrap()
        }));
        let model = terms
            .iter()
            .all(|(path, equal, value)| (fields.get(path).unwrap_or(&"") == value) == *equal);
        let read = |path: &str| fields.get(path).map(|value| Cow::Borrowed(*value));
        prop_assert_eq!(selector.matches(read), model);
    }
}

/// A selector may come from a stranger's request, and its error may go into a log.
#[test]
fn errors_about_huge_input_stay_short() {
    let huge = "_x".repeat(100_000);
    let label_texts = [
        huge.clone(),
        format!("a={huge}"),
        format!("a {huge}"),
        format!("a in (b,{huge}"),
        format!("a>{huge}"),
    ];
    let field_texts = [huge.clone(), format!("a!{huge}=b")];
    let labels = label_texts.iter().map(|text| text.parse::<Selector>().unwrap_err());
    let fields = field_texts.iter().map(|text| text.parse::<FieldSelector>().unwrap_err());
    let built = Selector::from_labels([("a", &huge)]).unwrap_err();
    for error in labels.chain(fields).chain([built]) {
        let text = error.to_string();
        assert!(text.len() < 1500 && text.contains('…'), "{text}");
    }
}
