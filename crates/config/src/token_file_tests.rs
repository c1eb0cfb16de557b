use super::*;

fn at(start: Instant, seconds: u64) -> Instant {
    start + Duration::from_secs(seconds)
}

fn text(token: Result<Secret, Error>) -> String {
    String::from_utf8(token.unwrap().expose().to_vec()).unwrap()
}

#[test]
fn white_space_around_the_token_is_not_part_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    for content in ["abc123\n", "abc123\r\n", " abc123", "\tabc123 \n\n"] {
        fs::write(&path, content).unwrap();
        assert_eq!(text(TokenFile::new(&path).token(Instant::now())), "abc123", "{content:?}");
    }
}

#[test]
fn a_blank_a_garbled_and_a_missing_file_are_errors_that_name_the_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    for (content, expected) in
        [("", "empty token"), (" \r\n", "empty token"), ("two words", "header")]
    {
        fs::write(&path, content).unwrap();
        let error = TokenFile::new(&path).token(Instant::now()).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains(path.to_str().unwrap()), "{error}");
        assert!(!error.contains("words"), "{error}");
    }
    fs::remove_file(&path).unwrap();
    let error = TokenFile::new(&path).token(Instant::now()).unwrap_err();
    assert!(std::error::Error::source(&error).is_some());
}

#[test]
fn a_renewed_file_is_seen_within_a_minute_and_not_read_before_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    let start = Instant::now();
    fs::write(&path, "one").unwrap();
    let file = TokenFile::new(&path);
    assert_eq!(text(file.token(start)), "one");
    fs::write(&path, "two").unwrap();
    assert_eq!(text(file.token(at(start, 49))), "one");
    assert_eq!(text(file.clone().token(at(start, 50))), "two");
    assert_eq!(text(file.token(at(start, 51))), "two");
}

#[test]
fn the_last_good_token_serves_while_the_file_is_gone_and_the_new_one_when_it_is_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    let start = Instant::now();
    fs::write(&path, "one").unwrap();
    let file = TokenFile::new(&path);
    file.token(start).unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!(text(file.token(at(start, 60))), "one");
    fs::write(&path, " \n").unwrap();
    assert_eq!(text(file.token(at(start, 600))), "one");
    fs::write(&path, "two").unwrap();
    assert_eq!(text(file.token(at(start, 605))), "one", "not retried at every call");
    assert_eq!(text(file.token(at(start, 610))), "two");
}

#[test]
fn a_file_that_appears_late_is_used_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    let now = Instant::now();
    let file = TokenFile::new(&path);
    assert!(file.token(now).is_err());
    fs::write(&path, "late").unwrap();
    assert_eq!(text(file.token(now)), "late");
}

#[test]
fn a_refusal_makes_an_older_token_be_read_again_but_not_a_newer_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    let start = Instant::now();
    fs::write(&path, "one").unwrap();
    let file = TokenFile::new(&path);
    file.token(at(start, 10)).unwrap();
    fs::write(&path, "two").unwrap();
    file.invalidate(at(start, 5));
    assert_eq!(text(file.token(at(start, 11))), "one");
    file.invalidate(at(start, 10));
    assert_eq!(text(file.token(at(start, 12))), "two");
    fs::remove_file(&path).unwrap();
    file.invalidate(at(start, 13));
    assert_eq!(text(file.token(at(start, 14))), "two", "the last good token is the last resort");
}

#[test]
fn an_inline_token_stands_in_until_the_file_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    let start = Instant::now();
    let file = TokenFile::new(&path).with_initial("inline".into());
    assert_eq!(text(file.token(start)), "inline");
    fs::write(&path, "file").unwrap();
    assert_eq!(text(file.token(at(start, 10))), "file");
}

#[test]
fn debug_shows_the_path_and_no_token() {
    let file = TokenFile::new("/run/token").with_initial("MARKED".into());
    let shown = format!("{file:?} {:?}", file.cache.lock());
    assert!(shown.contains("/run/token") && !shown.contains("MARKED"), "{shown}");
}
