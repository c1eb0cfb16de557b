//! Free TCP ports on loopback.
//!
//! Chosen below the range the kernel hands to outgoing connections, because a restarted API server must find its own
//! port free again. Another program may still take one first; the start then tries other ports.

use std::hash::{BuildHasher, RandomState};
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;

use crate::error::{Error, Result};

const RANGE: Range<u16> = 20_000..30_000;

/// `N` different ports that nothing listens on at this moment.
pub(crate) fn free<const N: usize>() -> Result<[u16; N]> {
    let span = u64::from(RANGE.end - RANGE.start);
    let start = RandomState::new().hash_one(std::process::id()) % span;
    let mut found = [0; N];
    // The listeners stay open until all are found, so that no port is found twice.
    let mut held = Vec::with_capacity(N);
    for step in 0..span {
        if held.len() == N {
            return Ok(found);
        }
        let offset = u16::try_from((start + step) % span).unwrap_or_default();
        let port = RANGE.start + offset;
        if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            found[held.len()] = port;
            held.push(listener);
        }
    }
    Err(Error::new(format!("no {N} free TCP ports between {} and {}", RANGE.start, RANGE.end)))
}

#[cfg(test)]
#[path = "ports_tests.rs"]
mod tests;
