use super::*;
use crate::kubectl::script;

#[test]
fn a_reason_may_take_several_lines() {
    let steps = script::parse("get pods\n").expect("a list");
    let allowed = parse("# head\n\nget pods\n    because\n    of it\n", &steps).expect("allowed");
    assert_eq!(allowed["get pods"], "because of it");
}

#[test]
fn an_entry_needs_a_reason_and_a_command() {
    let steps = script::parse("get pods\n").expect("a list");
    assert!(parse("get pods\n", &steps).is_err());
    assert!(parse("get nodes\n  why\n", &steps).is_err());
    assert!(parse("  why\n", &steps).is_err());
}
