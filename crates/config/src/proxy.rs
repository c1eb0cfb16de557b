//! Proxies that the environment asks for. They are not supported yet, and leaving one out in silence would show as a
//! timeout, or bypass a network's rule; so a server that Go's rules would reach through one is refused.

use std::net::IpAddr;

use crate::{
    config::Config,
    environment::{Environment, HTTP_PROXY, HTTPS_PROXY, NO_PROXY},
    error::Problem,
    server::ServerUrl,
};

impl Environment {
    /// The proxy that stands between this process and the configuration's server, as a problem.
    pub(crate) fn unsupported_proxy(&self, config: &Config) -> Option<Problem> {
        // An address that is none is told by the configuration's own check.
        let server = config.server_url().ok()?;
        let names = match server.is_https() {
            true => HTTPS_PROXY,
            false => HTTP_PROXY,
        };
        let (name, _) = self.first_of(names)?;
        let exempt = self.first_of(NO_PROXY);
        let list = exempt.map(|(_, list)| list.to_string_lossy());
        if server.is_loopback() || list.is_some_and(|list| exempts(&list, &server)) {
            return None;
        }
        let host = server.host();
        let remedy = match exempt {
            Some((no_proxy, _)) => format!("add {host} to {no_proxy}"),
            None => format!("set {}={host}", NO_PROXY[0]),
        };
        // The value stays out: it may hold a password.
        Some(Problem::unsupported_variable(
            name,
            format!(
                "asks for a proxy to {}, but proxies are not supported yet; {remedy} if the server can be reached without one, or unset {name}",
                server.as_str()
            ),
        ))
    }
}

/// Whether the list of a `NO_PROXY` exempts the server: Go's rules.
fn exempts(list: &str, server: &ServerUrl) -> bool {
    let host = server.host().to_ascii_lowercase();
    let address = host.parse::<IpAddr>().ok();
    list.split(',').map(|entry| entry.trim().to_ascii_lowercase()).any(|entry| {
        match address.map(|address| address.to_canonical()) {
            _ if entry == "*" => true,
            Some(address) if entry.contains('/') => in_block(&entry, address),
            address => {
                let (name, port) = split_port(&entry);
                let same_port = port.is_none_or(|port| port == server.port().to_string());
                same_port && matches(name, &host, address)
            }
        }
    })
}

/// Whether an address or a domain of the list is, or includes, the host.
fn matches(name: &str, host: &str, address: Option<IpAddr>) -> bool {
    if let Ok(exempt) = name.parse::<IpAddr>() {
        return Some(exempt.to_canonical()) == address;
    }
    // `.lab` and `*.lab` are what is below `lab`; `lab` is itself and what is below.
    let below = name.strip_prefix("*.").or_else(|| name.strip_prefix('.'));
    let domain = below.unwrap_or(name);
    if domain.is_empty() {
        return false;
    }
    match host.strip_suffix(domain) {
        Some("") => below.is_none(),
        Some(rest) => rest.ends_with('.'),
        None => false,
    }
}

/// `HOST:PORT` and `[IPv6]:PORT` in two parts; everything else has no port.
fn split_port(entry: &str) -> (&str, Option<&str>) {
    let split = match entry.strip_prefix('[') {
        Some(rest) => rest.split_once("]:"),
        None => entry.split_once(':').filter(|(_, port)| !port.contains(':')),
    };
    match split {
        // Go takes an empty port for any.
        Some((host, port)) => (host, Some(port).filter(|port| !port.is_empty())),
        None => (entry, None),
    }
}

/// Whether a block such as `10.0.0.0/8` includes the address.
fn in_block(block: &str, address: IpAddr) -> bool {
    let Some((base, length)) = block.split_once('/') else {
        return false;
    };
    let (Ok(base), Ok(length)) = (base.parse::<IpAddr>(), length.parse::<u32>()) else {
        return false;
    };
    match (base, address) {
        (IpAddr::V4(base), IpAddr::V4(address)) if length <= 32 => {
            let differing = base.to_bits() ^ address.to_bits();
            differing.checked_shr(32 - length).unwrap_or(0) == 0
        }
        (IpAddr::V6(base), IpAddr::V6(address)) if length <= 128 => {
            let differing = base.to_bits() ^ address.to_bits();
            differing.checked_shr(128 - length).unwrap_or(0) == 0
        }
        _ => false,
    }
}

#[cfg(test)]
#[path = "proxy_tests.rs"]
mod tests;
