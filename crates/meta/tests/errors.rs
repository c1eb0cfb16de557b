//! Errors that a `main` returns are printed by their `Debug` form, so that is their text.

use std::fmt::{Debug, Display};

use kubewright_meta::selector::validation::check_label_key;
use kubewright_meta::{FieldSelector, GroupVersion, ObjectKey, Reason, Selector, StatusError};

fn reads_as_text<E: Debug + Display>(error: E) {
    let (debug, text) = (format!("{error:?}"), error.to_string());
    assert!(debug.ends_with(&format!("({text})")), "{debug}");
    assert_eq!(format!("{error:#?}"), debug);
}

#[test]
fn debug_forms_are_the_texts() {
    reads_as_text("a in (".parse::<Selector>().unwrap_err());
    reads_as_text("a".parse::<FieldSelector>().unwrap_err());
    reads_as_text("a/b/c".parse::<ObjectKey>().unwrap_err());
    reads_as_text("a/b/c".parse::<GroupVersion>().unwrap_err());
    reads_as_text(check_label_key("").unwrap_err());
    reads_as_text(StatusError::of(Reason::NotFound, "no such pod"));
}
