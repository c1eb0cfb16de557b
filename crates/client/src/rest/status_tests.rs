use http::HeaderValue;

use super::*;

fn subject() -> Subject {
    Subject { group: "apps".into(), resource: "replicasets".into(), name: "web".into() }
}

fn answer(code: u16, content_type: &str, body: &str, verb: Verb) -> StatusError {
    let mut headers = HeaderMap::new();
    if !content_type.is_empty() {
        headers.insert(CONTENT_TYPE, HeaderValue::from_str(content_type).unwrap());
    }
    refusal(StatusCode::from_u16(code).unwrap(), &headers, body.as_bytes(), verb, &subject())
}

#[test]
fn a_status_is_taken_as_it_is() {
    let body = r#"{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"message":"old"}"#;
    let error = answer(410, "application/json", body, Verb::List);
    assert!(error.is_expired());
    assert_eq!(error.message(), "old");
    // A real one without a code gets that of the answer.
    let body = r#"{"kind":"Status","apiVersion":"v1","status":"Failure"}"#;
    assert!(answer(404, "application/json", body, Verb::Get).is_not_found());
}

#[test]
fn a_custom_kind_named_status_is_no_status() {
    let body = r#"{"kind":"Status","apiVersion":"lab.test/v1","message":"mine"}"#;
    let error = answer(500, "application/json", body, Verb::Get);
    assert!(error.is_internal_error());
    assert!(!error.message().contains("mine"));
}

#[test]
fn other_bodies_are_read_by_their_code() {
    assert!(answer(404, "text/plain", "404 page not found", Verb::Get).is_not_found());
    assert!(answer(409, "", "", Verb::Create).is_already_exists());
    assert!(answer(409, "", "", Verb::Replace).is_conflict());
    assert!(answer(410, "", "", Verb::List).is_expired());
    assert!(answer(502, "", "", Verb::Get).is_internal_error());
    assert!(answer(504, "", "", Verb::Get).is_timeout());
    assert_eq!(answer(418, "", "", Verb::Get).code(), 418);
    assert!(answer(422, "", "", Verb::Patch).is_invalid());
}

#[test]
fn the_message_names_verb_resource_and_name_and_only_text_is_shown() {
    let error = answer(404, "text/plain; charset=utf-8", " gone\n", Verb::Get);
    assert_eq!(
        error.to_string(),
        "the server does not have what was asked for (get replicasets \"web\"): gone (NotFound, 404)"
    );
    let details = error.status().details.as_ref().unwrap();
    assert_eq!(
        (details.kind.as_deref(), details.name.as_deref()),
        (Some("replicasets"), Some("web"))
    );
    assert!(error.has_cause("UnexpectedServerResponse"));
    assert!(!answer(500, "application/octet-stream", "bin", Verb::Get).message().contains("bin"));
    assert!(!answer(500, "application/json", "{}", Verb::Get).message().contains("{}"));
}

#[test]
fn a_long_text_is_cut_between_characters() {
    let text = format!("x{}", "é".repeat(3000));
    let error = answer(500, "text/html", &text, Verb::Get);
    let shown = error.message().split(": ").nth(1).unwrap();
    assert_eq!(shown.len(), 2047);
    assert!(shown.ends_with('é'));
}

#[test]
fn the_wait_comes_from_the_header() {
    let mut headers = HeaderMap::new();
    headers.insert("retry-after", HeaderValue::from_static("7"));
    let wait = |body: &str| {
        refusal(StatusCode::TOO_MANY_REQUESTS, &headers, body.as_bytes(), Verb::Get, &subject())
            .retry_after()
            .map(|wait| wait.as_secs())
    };
    assert_eq!(wait(""), Some(7));
    let status = r#"{"kind":"Status","apiVersion":"v1","status":"Failure","code":429"#;
    assert_eq!(wait(&format!("{status}}}")), Some(7));
    assert_eq!(wait(&format!(r#"{status},"details":{{"retryAfterSeconds":3}}}}"#)), Some(3));
}
