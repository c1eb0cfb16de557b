//! What the tests of this crate share: random JSON, ways to spoil it, and ways to cut it.

use bytes::Bytes;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::Value;

/// Any JSON value, nested a few levels.
pub(crate) fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        // serde_json reads back exactly only what has few digits.
        any::<i32>().prop_map(|number| Value::from(f64::from(number) / 8.0)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            btree_map(text(), inner, 0..6).prop_map(Value::from_iter),
        ]
    })
}

/// A JSON object.
pub(crate) fn object() -> impl Strategy<Value = Value> {
    btree_map(text(), json(), 0..6).prop_map(Value::from_iter)
}

/// Text full of what is special in JSON.
pub(crate) fn text() -> impl Strategy<Value = String> {
    let sign = prop_oneof![
        4 => proptest::char::range('a', 'z'),
        2 => prop::sample::select(vec!['"', '\\', '{', '}', '[', ']', ',', ':', '\n', '\u{1}', '/']),
        1 => any::<char>(),
    ];
    vec(sign, 0..20).prop_map(String::from_iter)
}

/// JSON text of a value, compact or with white space.
pub(crate) fn write(value: &Value, pretty: bool) -> String {
    if pretty { format!("{value:#}") } else { value.to_string() }
}

/// One way to spoil a document: at a place, with a byte.
#[derive(Clone, Debug)]
pub(crate) enum Spoil {
    Replace(prop::sample::Index, u8),
    Insert(prop::sample::Index, u8),
    Remove(prop::sample::Index),
    Truncate(prop::sample::Index),
    Duplicate(prop::sample::Index, prop::sample::Index),
}

pub(crate) fn spoils() -> impl Strategy<Value = Vec<Spoil>> {
    let byte = || {
        let telling = br#"{}[]",:\ntfu0123456789-+.eE "#.to_vec();
        prop_oneof![3 => prop::sample::select(telling), 1 => any::<u8>()]
    };
    let at = || any::<prop::sample::Index>();
    let spoil = prop_oneof![
        (at(), byte()).prop_map(|(at, byte)| Spoil::Replace(at, byte)),
        (at(), byte()).prop_map(|(at, byte)| Spoil::Insert(at, byte)),
        at().prop_map(Spoil::Remove),
        at().prop_map(Spoil::Truncate),
        (at(), at()).prop_map(|(from, to)| Spoil::Duplicate(from, to)),
    ];
    vec(spoil, 1..4)
}

pub(crate) fn spoil(text: &str, spoils: &[Spoil]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for spoil in spoils {
        if bytes.is_empty() {
            break;
        }
        let length = bytes.len();
        match spoil {
            Spoil::Replace(at, byte) => bytes[at.index(length)] = *byte,
            Spoil::Insert(at, byte) => bytes.insert(at.index(length), *byte),
            Spoil::Remove(at) => drop(bytes.remove(at.index(length))),
            Spoil::Truncate(at) => bytes.truncate(at.index(length)),
            Spoil::Duplicate(from, to) => {
                let (from, to) = (from.index(length), to.index(length));
                let part = bytes[from.min(to)..from.max(to)].to_vec();
                bytes.splice(from.min(to)..from.min(to), part);
            }
        }
    }
    bytes
}

/// Sizes to cut a stream into, over and over.
pub(crate) fn cuts() -> impl Strategy<Value = Vec<usize>> {
    vec(prop_oneof![1..4usize, 1..40usize, 1..400usize], 1..8)
}

pub(crate) fn chunks(stream: &[u8], sizes: &[usize]) -> Vec<Bytes> {
    let mut rest = Bytes::copy_from_slice(stream);
    let mut sizes = sizes.iter().cycle();
    let mut chunks = Vec::new();
    while !rest.is_empty() {
        let size = sizes.next().copied().unwrap_or(1).clamp(1, rest.len());
        chunks.push(rest.split_to(size));
    }
    chunks
}
