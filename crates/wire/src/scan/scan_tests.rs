use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::test_support::{chunks, cuts, json, object, spoil, spoils, write};

fn check(bytes: &[u8]) -> Scan<()> {
    let mut scanner = Scanner::new(bytes);
    scanner.skip_space();
    scanner.skip_value(0)?;
    scanner.finish()
}

fn accepts(bytes: &[u8]) -> bool {
    check(bytes).is_ok() && std::str::from_utf8(bytes).is_ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn what_serde_json_writes_is_accepted(value in json(), pretty: bool) {
        let text = write(&value, pretty);
        prop_assert_eq!(check(text.as_bytes()), Ok(()), "{}", text);
    }

    #[test]
    fn spoiled_documents_are_accepted_when_serde_json_accepts_them(
        value in json(), pretty: bool, spoils in spoils(),
    ) {
        let bytes = spoil(&write(&value, pretty), &spoils);
        let serde = serde_json::from_slice::<Value>(&bytes).is_ok();
        prop_assert_eq!(accepts(&bytes), serde, "{:?}", String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_bytes_are_accepted_when_serde_json_accepts_them(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        prop_assert_eq!(accepts(&bytes), serde_json::from_slice::<Value>(&bytes).is_ok());
    }

    #[test]
    fn members_are_those_serde_json_sees(value in object(), pretty: bool) {
        let text = write(&value, pretty);
        let bytes = text.as_bytes();
        let mut scanner = Scanner::new(bytes);
        let mut walk = ObjectWalk::enter(&mut scanner).unwrap();
        let mut seen = serde_json::Map::new();
        while let Some(key) = walk.next_key(&mut scanner).unwrap() {
            prop_assert!(key.is(bytes, &key.read(bytes)));
            let member = scanner.skip_value(1).unwrap();
            seen.insert(key.read(bytes).into_owned(), serde_json::from_slice(&bytes[member]).unwrap());
        }
        prop_assert_eq!(scanner.finish(), Ok(()));
        prop_assert_eq!(Value::from(seen), value);
    }

    #[test]
    fn the_end_of_a_document_is_found_however_it_is_cut(value in object(), pretty: bool, sizes in cuts()) {
        let text = write(&value, pretty);
        let stream = format!("{text}{{}}");
        let mut nesting = Nesting::opened();
        let mut before = 1;
        for chunk in chunks(&stream.as_bytes()[1..], &sizes) {
            match nesting.advance(&chunk) {
                Some(length) => {
                    prop_assert_eq!(before + length, text.len());
                    return Ok(());
                }
                None => before += chunk.len(),
            }
        }
        prop_assert!(false, "no end found");
    }

    #[test]
    fn the_end_of_a_text_is_found_however_it_is_cut(text in crate::test_support::text(), sizes in cuts()) {
        let quoted = Value::from(text).to_string();
        let stream = format!("{quoted}\"x");
        let mut end = TextEnd::default();
        let mut before = 1;
        for chunk in chunks(&stream.as_bytes()[1..], &sizes) {
            match end.advance(&chunk) {
                Some(length) => {
                    prop_assert_eq!(before + length, quoted.len());
                    return Ok(());
                }
                None => before += chunk.len(),
            }
        }
        prop_assert!(false, "no end found");
    }
}

#[test]
fn faults_are_placed() {
    let cases = [
        ("", 0, "the document ends too early"),
        (r#"{"a":}"#, 5, "expected a value"),
        (r#"{"a" 1}"#, 5, "expected a colon after an object key"),
        (r#"{"a":1,}"#, 7, "expected an object key in quotes"),
        ("[1 2]", 3, "expected a comma or the end of an array"),
        ("[1}", 2, "expected a comma or the end of an array"),
        ("01", 1, "more text after the end of the document"),
        ("1.", 2, "the document ends too early"),
        ("-x", 1, "expected a digit"),
        ("tru ", 3, "expected true, false or null"),
        (r#"["a\x"]"#, 4, "unknown escape in a string"),
        (r#"["\ud800"]"#, 2, "half a surrogate pair in a string"),
        ("[\"a\nb\"]", 3, "control character in a string"),
        ("1e400", 0, "number out of range"),
    ];
    for (text, offset, problem) in cases {
        assert_eq!(check(text.as_bytes()), Err(SyntaxError { offset, problem }), "{text}");
    }
}

#[test]
fn nesting_is_bounded_where_serde_json_bounds_it() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        for (depth, fits) in [(127, true), (128, false), (100_000, false)] {
            let text = format!("{}0{}", open.repeat(depth), close.repeat(depth));
            assert_eq!(check(text.as_bytes()).is_ok(), fits, "{depth}");
            assert_eq!(serde_json::from_str::<Value>(&text).is_ok(), fits, "{depth}");
        }
    }
}
