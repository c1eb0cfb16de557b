use super::*;

fn normal(server: &str) -> String {
    ServerUrl::parse(server, false).unwrap().as_str().to_owned()
}

#[test]
fn normal_form_keeps_the_base_path_and_drops_query_and_fragment() {
    assert_eq!(normal("https://lab:6443"), "https://lab:6443");
    assert_eq!(normal("https://lab:6443/"), "https://lab:6443");
    assert_eq!(normal(" https://lab/k8s/c-1/?x=1#y "), "https://lab/k8s/c-1");
    assert_eq!(normal("HTTPS://lab"), "https://lab");
    assert_eq!(normal("https://[fd00::1]:6443/a"), "https://[fd00::1]:6443/a");
}

#[test]
fn an_address_without_scheme_is_http_or_https_where_tls_is_configured() {
    assert_eq!(normal("lab:8080"), "http://lab:8080");
    assert_eq!(normal("lab"), "http://lab");
    assert_eq!(ServerUrl::parse("lab:6443", true).unwrap().as_str(), "https://lab:6443");
    assert!(ServerUrl::parse("lab:6443/base", true).unwrap_err().contains("needs a scheme"));
}

#[test]
fn unusable_addresses_are_refused() {
    for bad in [
        "",
        "  ",
        "ftp://lab",
        "https://",
        "https:///path",
        "https://fd00::1:443",
        "https://lab:99999",
        "https://lab:0",
        "https://lab:",
        "https://la b",
        "unix:///run/x",
        "\u{0}",
        "https://lab:port",
    ] {
        assert!(ServerUrl::parse(bad, false).is_err(), "{bad:?} was accepted");
    }
}

#[test]
fn user_information_is_refused_and_not_shown() {
    for bad in [
        "https://me:hunter2@lab",
        "me:hunter2@lab:6443",
        "https://lab:bad@hunter2:9@x?token=hunter2",
        "https://me:hunter2?x@lab",
        "https://me:hunter2#x@lab",
        "me:hunter2://x@lab",
        "https://me:?hunter2@lab/a b",
    ] {
        let error = ServerUrl::parse(bad, false).unwrap_err();
        assert!(!error.contains("hunter2"), "{error}");
    }
    assert_eq!(redact("https://me:hunter2@lab/a?token=1"), "https://***@lab/a");
}

#[test]
fn loopback_is_recognised_by_address_and_by_name() {
    for local in [
        "http://127.0.0.1:1",
        "http://127.9.9.9",
        "http://[::1]:80",
        "http://localhost",
        "http://[::ffff:127.0.0.1]",
    ] {
        assert!(ServerUrl::parse(local, false).unwrap().is_loopback(), "{local}");
    }
    for other in
        ["http://lab", "http://10.0.0.1", "http://localhost.example.com", "http://[fd00::1]"]
    {
        assert!(!ServerUrl::parse(other, false).unwrap().is_loopback(), "{other}");
    }
}

#[test]
fn host_and_port_are_joined_with_brackets_only_for_ipv6() {
    assert_eq!(join_host_port("fd00:10:96::1", "443"), "[fd00:10:96::1]:443");
    assert_eq!(join_host_port("[fd00::1]", "443"), "[fd00::1]:443");
    assert_eq!(join_host_port("10.0.0.1", "443"), "10.0.0.1:443");
    assert_eq!(join_host_port("api.lab", "443"), "api.lab:443");
}
