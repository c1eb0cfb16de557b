//! The address of an API server: what is accepted, and its one normal form.

use std::net::IpAddr;

use http::Uri;

/// A parsed and normal server address: scheme, authority, and a base path without the slash at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerUrl {
    text: String,
    https: bool,
    loopback: bool,
}

impl ServerUrl {
    /// Parses a server address as client-go does: without a scheme it is `http`, or `https` where TLS settings exist,
    /// and then it must have no path. A base path is kept, query and fragment are dropped.
    ///
    /// The error is the rest of a sentence that begins with the setting's name, and shows no user information.
    pub(crate) fn parse(server: &str, tls_configured: bool) -> Result<Self, String> {
        let server = server.trim();
        if server.is_empty() {
            return Err("is empty".to_owned());
        }
        let shown = redact(server);
        let plain = &server[..server.find(['?', '#']).unwrap_or(server.len())];
        let (full, had_scheme) = match plain.contains("://") {
            true => (plain.to_owned(), true),
            false => {
                (format!("{}://{plain}", if tls_configured { "https" } else { "http" }), false)
            }
        };
        let invalid = |why: &str| format!("{shown:?} is not a server address: {why}");
        let uri: Uri = full
            .parse()
            .map_err(|_| invalid("expected https://host:port, with IPv6 addresses in brackets"))?;
        let https = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(invalid("the scheme must be https or http")),
        };
        let authority = uri.authority().ok_or_else(|| invalid("it has no host"))?;
        if authority.as_str().contains('@') {
            return Err(invalid(
                "user information in it is not allowed; put credentials into the user entry",
            ));
        }
        let host = authority.host();
        if host.is_empty() {
            return Err(invalid("it has no host"));
        }
        let after_host = &authority.as_str()[host.len()..];
        if !after_host.is_empty() && authority.port_u16().is_none_or(|port| port == 0) {
            return Err(invalid("the port is not a number from 1 to 65535"));
        }
        let path = uri.path().trim_end_matches('/');
        if !had_scheme && !path.is_empty() {
            return Err(invalid("an address with a path needs a scheme, https:// or http://"));
        }
        let scheme = if https { "https" } else { "http" };
        Ok(Self {
            text: format!("{scheme}://{authority}{path}"),
            https,
            loopback: is_loopback(host),
        })
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_https(&self) -> bool {
        self.https
    }

    /// The host as it is written, without the brackets of an IPv6 address.
    pub(crate) fn host(&self) -> &str {
        let (_, authority) = self.text.split_once("://").unwrap_or(("", &self.text));
        let authority = authority.split('/').next().unwrap_or(authority);
        match authority.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or(rest),
            None => authority.split(':').next().unwrap_or(authority),
        }
    }

    /// The port, where none is written that of the scheme.
    pub(crate) fn port(&self) -> u16 {
        let written = self.text.parse::<Uri>().ok().and_then(|uri| uri.port_u16());
        written.unwrap_or(if self.https { 443 } else { 80 })
    }

    /// Whether traffic to this host stays in this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        self.loopback
    }
}

/// Joins host and port as RFC 3986 asks: IPv6 literals in brackets.
pub(crate) fn join_host_port(host: &str, port: &str) -> String {
    match host.contains(':') && !host.starts_with('[') {
        true => format!("[{host}]:{port}"),
        false => format!("{host}:{port}"),
    }
}

/// The address fit to be shown: without user information and without query.
///
/// User information ends at the last `@`, wherever that is: a password may hold any sign.
pub(crate) fn redact(server: &str) -> String {
    let shown = match server.rfind('@') {
        Some(at) => {
            let end = server[..at].find("://");
            let is_scheme = |end: &usize| server[..*end].bytes().all(|c| c.is_ascii_alphanumeric());
            let scheme = end.filter(is_scheme).map_or("", |end| &server[..end + 3]);
            format!("{scheme}***{}", &server[at..])
        }
        None => server.to_owned(),
    };
    match shown.find(['?', '#']) {
        Some(query) => shown[..query].to_owned(),
        None => shown,
    }
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => {
            let name = bare.strip_suffix('.').unwrap_or(bare).to_ascii_lowercase();
            name == "localhost" || name.ends_with(".localhost")
        }
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
