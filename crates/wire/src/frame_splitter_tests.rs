use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::RawWatchEvent;
use crate::test_support::{chunks, cuts, object, spoil, spoils, write};

/// Everything that comes of these chunks, and how the stream ended.
fn split(
    chunks: impl IntoIterator<Item = Bytes>,
) -> (Vec<Result<Bytes, Error>>, Result<(), Error>) {
    let mut splitter = FrameSplitter::new();
    let mut frames = Vec::new();
    for chunk in chunks {
        splitter.feed(chunk);
        frames.extend(std::iter::from_fn(|| splitter.next_frame()));
    }
    (frames, splitter.finish())
}

fn event(kind: &str, version: &str) -> String {
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "a", "resourceVersion": version}, "data": {"名": "é🦀"}});
    json!({"type": kind, "object": object}).to_string()
}

#[test]
fn events_are_the_same_wherever_the_stream_is_cut() {
    let (first, second) = (event("ADDED", "11"), event("MODIFIED", "12"));
    let streams = [
        format!("{first}\n{second}\n"),
        format!("{first}\r\n{second}\r\n"),
        format!("\n\n{first}\n\n \r\n{second}"),
        format!("{first}{second}"),
    ];
    for stream in &streams {
        for cut in 0..=stream.len() {
            let (left, right) = stream.as_bytes().split_at(cut);
            let (frames, end) = split([left, right].map(Bytes::copy_from_slice));
            let frames: Vec<Bytes> = frames.into_iter().collect::<Result<_, _>>().unwrap();
            assert_eq!(frames, [first.as_str(), second.as_str()], "cut at {cut}");
            assert!(end.is_ok());
        }
        let bytewise = stream.bytes().map(|byte| Bytes::copy_from_slice(&[byte]));
        assert_eq!(split(bytewise).0.len(), 2);
    }
}

#[test]
fn a_last_event_that_is_cut_is_reported_and_not_passed_on() {
    let (first, second) = (event("ADDED", "11"), event("MODIFIED", "12"));
    for cut in 1..second.len() {
        let mut stream = format!("{first}\n").into_bytes();
        stream.extend_from_slice(&second.as_bytes()[..cut]);
        let (frames, end) = split([stream.into()]);
        assert_eq!(frames.len(), 1, "cut at {cut}");
        let last = RawWatchEvent::parse(frames[0].as_ref().unwrap(), false).unwrap();
        assert_eq!(last.resource_version(), Some("11"));
        assert!(end.unwrap_err().is_truncated());
    }
    assert!(split([]).1.is_ok());
}

#[test]
fn a_frame_beyond_the_limit_is_reported_once_and_skipped() {
    let huge = format!(r#"{{"a":"{}"}}"#, "}\\\"".repeat(MAX_OBJECT_BYTES / 3 + 1));
    let stream = Bytes::from(format!(r#"{{"b":1}}{huge}{{"c":2}}"#));
    for size in [60_000, stream.len()] {
        let (frames, end) = split(chunks(&stream, &[size]));
        assert_eq!(frames.len(), 3);
        assert_eq!(frames[0].as_ref().unwrap(), r#"{"b":1}"#);
        assert!(frames[1].as_ref().unwrap_err().is_too_large());
        assert_eq!(frames[2].as_ref().unwrap(), r#"{"c":2}"#);
        assert!(end.is_ok());
    }
    let fits = format!(r#"{{"a":"{}"}}"#, "x".repeat(MAX_OBJECT_BYTES - 8));
    let (frames, _) = split(chunks(fits.as_bytes(), &[1 << 20]));
    assert_eq!(frames[0].as_ref().unwrap().len(), MAX_OBJECT_BYTES);
}

#[test]
fn text_that_is_no_document_is_reported_once_and_skipped() {
    let (frames, end) = split([Bytes::from("{\"a\":1}\nupstream gone }{\n{\"b\":2}\n")]);
    assert_eq!(frames.len(), 3);
    let error = frames[1].as_ref().unwrap_err();
    assert!(error.is_malformed() && error.offset() == Some(8), "{error}");
    assert_eq!(frames[2].as_ref().unwrap(), r#"{"b":2}"#);
    assert!(end.is_ok());
}

#[test]
fn a_frame_within_a_chunk_is_not_copied() {
    let chunk = Bytes::from("{\"a\":1}\n{\"b\":2}");
    let (frames, _) = split([chunk.clone()]);
    for frame in frames {
        assert!(chunk.as_ptr_range().contains(&frame.unwrap().as_ptr()));
    }
}

#[test]
fn frames_left_behind_are_an_error() {
    let mut splitter = FrameSplitter::new();
    splitter.feed("{}\n".into());
    assert!(
        splitter.finish().unwrap_err().to_string().contains("not all of its events were taken")
    );
}

proptest! {
    #[test]
    fn any_documents_come_out_as_they_went_in(
        values in prop::collection::vec(object(), 0..6), pretty: bool, sizes in cuts(), space in "[ \r\n\t]{0,3}",
    ) {
        let stream: String = values.iter().map(|value| write(value, pretty) + &space).collect();
        let (frames, end) = split(chunks(stream.as_bytes(), &sizes));
        let seen: Vec<Value> = frames.iter().map(|frame| serde_json::from_slice(frame.as_ref().unwrap()).unwrap()).collect();
        prop_assert_eq!(seen, values);
        prop_assert!(end.is_ok());
    }

    #[test]
    fn spoiled_streams_never_panic_and_lose_nothing_before_the_fault(
        values in prop::collection::vec(object(), 1..4), sizes in cuts(), spoils in spoils(),
    ) {
        let stream: String = values.iter().map(|value| write(value, false) + "\n").collect();
        let (frames, _) = split(chunks(&spoil(&stream, &spoils), &sizes));
        for frame in frames.into_iter().flatten() {
            prop_assert_eq!(frame.first(), Some(&b'{'));
            let _ = RawWatchEvent::parse(frame, true);
        }
    }
}
