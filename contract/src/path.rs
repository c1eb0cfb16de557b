//! Short names for paths, so that a check reads like what it asks for.

/// The path of what a check names in its own namespace: `pods/web/status?pretty=1` becomes
/// `/api/v1/namespaces/NAMESPACE/pods/web/status?pretty=1`. What begins with a slash is a path already.
pub(crate) fn of(namespace: &str, short: &str) -> String {
    if short.starts_with('/') {
        return short.to_owned();
    }
    let resource = short.split(['/', '?']).next().unwrap_or_default();
    let base = match resource {
        "namespaces" | "nodes" => return format!("/api/v1/{short}"),
        "deployments" | "replicasets" => "/apis/apps/v1",
        "widgets" | "plains" => "/apis/contract.kubewright.test/v1",
        "leases" => "/apis/coordination.k8s.io/v1",
        "events.k8s.io" => {
            let rest = &short[resource.len()..];
            return format!("/apis/events.k8s.io/v1/namespaces/{namespace}/events{rest}");
        }
        _ => "/api/v1",
    };
    format!("{base}/namespaces/{namespace}/{short}")
}

/// `path` with one more query parameter, which must not need escaping.
pub(crate) fn with_param(path: &str, name: &str, value: &str) -> String {
    let separator = if path.contains('?') { '&' } else { '?' };
    format!("{path}{separator}{name}={value}")
}

/// Text as it stands in a query.
pub(crate) fn escape(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes().fold(String::new(), |mut escaped, byte| {
        match plain(byte) {
            true => escaped.push(char::from(byte)),
            false => escaped.push_str(&format!("%{byte:02X}")),
        }
        escaped
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_are_paths_in_the_namespace() {
        assert_eq!(of("n", "pods/a/status?x=1"), "/api/v1/namespaces/n/pods/a/status?x=1");
        assert_eq!(of("n", "leases"), "/apis/coordination.k8s.io/v1/namespaces/n/leases");
        assert_eq!(
            of("n", "replicasets?limit=1"),
            "/apis/apps/v1/namespaces/n/replicasets?limit=1"
        );
        assert_eq!(of("n", "events.k8s.io/e"), "/apis/events.k8s.io/v1/namespaces/n/events/e");
        assert_eq!(of("n", "nodes/a"), "/api/v1/nodes/a");
        assert_eq!(of("n", "/version"), "/version");
    }

    #[test]
    fn parameters_are_appended_and_escaped() {
        assert_eq!(with_param("/a", "b", "c"), "/a?b=c");
        assert_eq!(with_param("/a?x", "b", "c"), "/a?x&b=c");
        assert_eq!(escape("a in (b, é)"), "a%20in%20%28b%2C%20%C3%A9%29");
    }
}
