use super::*;

#[test]
fn only_v1_status_is_a_status() {
    let yes = [
        r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"uid":"u"}}"#,
        r#"{"metadata":{},"status":"Failure","apiVersion":"v1","code":404, "kind":"Status"}"#,
        " {\"kind\" : \"Status\" , \"apiVersion\" : \"v1\"}\n",
    ];
    let no = [
        r#"{"kind":"Pod","apiVersion":"v1","metadata":{"deletionTimestamp":"x"},"status":{"phase":"Running"}}"#,
        r#"{"kind":"Status","apiVersion":"lab.test/v1","metadata":{"name":"a"}}"#,
        r#"{"spec":{"kind":"Status","apiVersion":"v1"}}"#,
        r#"{"kind":"Status"}"#,
        r#"{"apiVersion":"v1"}"#,
        r#"{"kind":"Status","apiVersion":"v1""#,
        r#"["kind","Status"]"#,
        "",
        "<html>",
    ];
    for json in yes {
        assert!(is_status(json), "{json}");
    }
    for json in no {
        assert!(!is_status(json), "{json}");
    }
}

#[test]
fn a_status_is_taken_as_it_is() {
    let refusal = refusal(br#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old","reason":"Expired","code":410}"#);
    assert!(refusal.is_expired());
    assert_eq!((refusal.code(), refusal.message()), (410, "too old"));
    assert!(refusal.causes().is_empty());
}

#[test]
fn a_broken_status_is_an_internal_error_that_keeps_what_can_be_read() {
    for json in [&b"{}x"[..], b"", b"\xff", b"7", br#"{"kind":"Pod","metadata":{"name":"a"}}"#] {
        let refusal = refusal(json);
        assert_eq!((refusal.code(), refusal.reason()), (500, Reason::InternalError));
        assert!(refusal.has_cause("ClientWatchDecoding") && !refusal.message().is_empty());
    }
    let refusal = refusal(
        br#"{"kind":"Status","message":"m","reason":"Expired","code":410,"details":"none"}"#,
    );
    assert!(refusal.is_expired() && refusal.has_cause("ClientWatchDecoding"));
    assert_eq!((refusal.code(), refusal.message()), (410, "m"));
}
