use super::*;

fn only_code(code: i32) -> StatusError {
    StatusError::new(Status { code: Some(code), ..Status::default() })
}

#[test]
fn predicates_go_by_reason_then_by_code() {
    assert!(StatusError::of(Reason::NotFound, "x").is_not_found());
    assert!(StatusError::of(Reason::AlreadyExists, "x").is_already_exists());
    assert!(!StatusError::of(Reason::AlreadyExists, "x").is_conflict());
    assert!(only_code(404).is_not_found());
    assert!(only_code(409).is_conflict());
    assert!(!only_code(409).is_already_exists());
    assert!(only_code(410).is_expired());
    assert!(only_code(504).is_timeout());
    assert!(!only_code(418).is_not_found());
    // A known reason beats a code that says something else.
    assert!(!StatusError::of(Reason::Invalid, "x").with_code(404).is_not_found());
    // An unknown reason does not hide the code.
    let odd = Status { code: Some(410), reason: Some("Odd".into()), ..Status::default() };
    assert!(StatusError::new(odd).is_expired());
}

#[test]
fn expired_covers_both_names_of_410() {
    assert!(StatusError::of(Reason::Expired, "x").is_expired());
    assert!(StatusError::of(Reason::Gone, "x").is_expired());
}

#[test]
fn a_version_from_the_future_is_known_by_cause_or_message() {
    let cause =
        StatusCause { reason: Some("ResourceVersionTooLarge".into()), ..Default::default() };
    let details = StatusDetails { causes: Some(vec![cause]), ..Default::default() };
    let error = StatusError::of(Reason::Timeout, "x").with_details(details);
    assert!(error.is_resource_version_too_large());
    let old = StatusError::of(Reason::Timeout, "Too large resource version: 9, current: 3");
    assert!(old.is_resource_version_too_large());
    assert!(!StatusError::of(Reason::Timeout, "slow").is_resource_version_too_large());
}

#[test]
fn it_prints_what_the_server_said() {
    let error = StatusError::of(Reason::NotFound, "pods \"web\" not found");
    assert_eq!(error.to_string(), "pods \"web\" not found (NotFound, 404)");
    assert_eq!(only_code(500).to_string(), "the server refused (no reason given, 500)");
}

#[test]
fn every_reason_reads_back() {
    for (reason, text, code) in &REASONS {
        assert_eq!((&Reason::from(*text), reason.code()), (reason, *code));
    }
    assert_eq!(Reason::from("Odd").as_str(), "Odd");
}
