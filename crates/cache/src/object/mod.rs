//! Objects as a cache holds them: bytes that are decoded when somebody asks.

mod cached;
mod decoded;

pub use cached::CachedObject;
pub use decoded::{DEFAULT_DECODED_BUDGET, Decoded, Decoder};

#[cfg(test)]
#[path = "object_tests.rs"]
mod tests;
