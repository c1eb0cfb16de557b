//! Bytes that nobody meant: whatever they are, the answer is a value or an error.

use proptest::prelude::*;

use super::golden::{self, GOLDEN};
use super::schema::Schema;
use super::to_json;
use super::writer::Writer;

/// Reads it; what can be read is an object that JSON can carry.
fn read(body: &[u8]) -> bool {
    match to_json(body) {
        Ok(value) => {
            assert!(value.is_object());
            let json = serde_json::to_vec(&value).unwrap();
            assert_eq!(serde_json::from_slice::<serde_json::Value>(&json).unwrap(), value);
            true
        }
        Err(error) => {
            assert!(error.is_malformed() || error.is_unexpected_kind(), "{error}");
            false
        }
    }
}

#[test]
fn a_body_cut_anywhere_is_no_panic() {
    for (hex, _) in GOLDEN {
        let body = golden::bytes(hex);
        for length in 0..body.len() {
            read(&body[..length]);
        }
    }
}

#[test]
fn a_body_with_any_byte_changed_is_no_panic() {
    let (mut read_well, mut tried) = (0, 0);
    for (hex, _) in GOLDEN {
        let body = golden::bytes(hex);
        for index in 0..body.len() {
            for change in [1, 2, 4, 7, 8, 0x40, 0x80, 0xff] {
                let mut changed = body.clone();
                changed[index] ^= change;
                read_well += usize::from(read(&changed));
                tried += 1;
            }
        }
    }
    // Both ways are taken: changed text is still text, changed lengths are none.
    assert!(read_well > tried / 20 && read_well < tried * 19 / 20, "{read_well} of {tried}");
}

/// Messages that are well formed and have nothing to do with the schema.
fn message() -> impl Strategy<Value = Writer> {
    let scalar = prop_oneof![
        (1..20_u32, any::<i64>()).prop_map(|(field, value)| Writer::new().number(field, value)),
        (1..20_u32, any::<Vec<u8>>()).prop_map(|(field, value)| Writer::new().bytes(field, value)),
        (1..20_u32, "[a-z]{0,5}").prop_map(|(field, value)| Writer::new().bytes(field, value)),
    ];
    scalar.prop_recursive(6, 60, 6, |inner| {
        prop::collection::vec((1..20_u32, inner), 0..6).prop_map(|fields| {
            fields
                .into_iter()
                .fold(Writer::new(), |message, (field, value)| message.message(field, value))
        })
    })
}

fn kind() -> impl Strategy<Value = (&'static str, &'static str)> {
    let mut kinds: Vec<_> = Schema::built_in().kinds().collect();
    kinds.sort_unstable();
    prop::sample::select(kinds)
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_no_panic((api_version, kind) in kind(), bytes: Vec<u8>) {
        read(&bytes);
        read(&Writer::new().raw(&bytes).enveloped(api_version, kind));
    }

    #[test]
    fn arbitrary_messages_are_no_panic((api_version, kind) in kind(), message in message()) {
        read(&message.enveloped(api_version, kind));
    }

    #[test]
    fn text_and_bytes_come_back_as_they_were(key in "\\PC{0,20}", text: String, bytes: Vec<u8>) {
        use base64::Engine;
        let config_map = Writer::new()
            .message(2, Writer::new().bytes(1, &key).bytes(2, &text))
            .message(3, Writer::new().bytes(1, &key).bytes(2, &bytes));
        let value = to_json(&config_map.enveloped("v1", "ConfigMap")).unwrap();
        prop_assert_eq!(&value["data"][&key], &text);
        let encoded = base64::engine::general_purpose::STANDARD.encode(&bytes);
        prop_assert_eq!(&value["binaryData"][&key], &encoded);
    }
}
