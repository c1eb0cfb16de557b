use super::*;

#[test]
fn the_status_is_read_from_the_first_line() {
    assert_eq!(status_in(b"HTTP/1.1 200"), Some(200));
    assert_eq!(status_in(b"HTTP/1.0 503"), Some(503));
    assert_eq!(status_in(b"SSH-2.0-Open"), None);
    assert_eq!(status_in(b"HTTP/1.1"), None);
}

#[test]
fn nobody_listening_is_not_ready() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let certs = super::super::certs::Certs::ensure(folder.path()).expect("certificates");
    let [port] = super::super::ports::free::<1>().expect("a free port");
    let probe = Probe::new(port, &certs.ca_pem().expect("ca"), "t").expect("a probe");
    assert!(!probe.is_ready());
}
