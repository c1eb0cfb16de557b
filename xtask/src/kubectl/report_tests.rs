use super::*;
use crate::kubectl::script;

fn step(line: &str) -> Step {
    script::parse(line).expect("a list").remove(0)
}

fn said(code: i32, stdout: &str) -> Output {
    Output { code: Some(code), stdout: stdout.to_owned(), ..Output::default() }
}

#[test]
fn output_and_exit_status_are_compared() {
    let step = step("get pods");
    let none = Allowed::new();
    let real = said(0, "a   5s\n");
    assert_eq!(compare(&step, &real, &said(0, "a   7s\n"), &none), Outcome::Same);
    assert!(compare(&step, &real, &said(0, "b   7s\n"), &none).is_failure());
    assert!(compare(&step, &real, &said(1, "a   7s\n"), &none).is_failure());
    let mut warned = real.clone();
    warned.stderr = "Warning: x\n".to_owned();
    assert!(compare(&step, &real, &warned, &none).is_failure());
}

#[test]
fn two_failures_are_no_agreement_where_success_is_expected() {
    let none = Allowed::new();
    let failed = said(1, "");
    let outcome = compare(&step("get pods"), &failed, &failed, &none);
    assert!(matches!(outcome, Outcome::Unexpected { .. }));
    assert_eq!(compare(&step("! get pods"), &failed, &failed, &none), Outcome::Same);
}

#[test]
fn a_listed_difference_passes_and_a_needless_listing_shows() {
    let step = step("get pods");
    let allowed = Allowed::from([("get pods".to_owned(), "why".to_owned())]);
    let reason = "why".to_owned();
    assert_eq!(compare(&step, &said(0, "a"), &said(0, "b"), &allowed), Outcome::Allowed { reason });
    assert_eq!(compare(&step, &said(0, "a"), &said(0, "a"), &allowed), Outcome::Stale);
}

#[test]
fn a_subset_may_lack_lines_but_not_have_others() {
    let step = step("subset api-versions");
    let none = Allowed::new();
    let real = said(0, "a/v1\nb/v1\n");
    assert_eq!(compare(&step, &real, &said(0, "b/v1\n"), &none), Outcome::Same);
    assert_eq!(
        compare(&step, &real, &said(0, "c/v1\n"), &none),
        Outcome::Different { diff: "+c/v1\n".to_owned() }
    );
}
