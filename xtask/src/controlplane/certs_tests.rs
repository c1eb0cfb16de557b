use std::os::unix::fs::PermissionsExt;

use super::*;

#[test]
fn made_once_and_found_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let first = Certs::ensure(&folder.path().join("pki")).expect("certificates");
    let (token, ca) = (first.token().expect("token"), first.ca_pem().expect("ca"));
    assert_eq!(token.len(), 48);
    assert!(ca.contains("BEGIN CERTIFICATE"));
    let again = Certs::ensure(&folder.path().join("pki")).expect("certificates");
    assert_eq!(again.token().expect("token"), token);
    assert_eq!(again.ca_pem().expect("ca"), ca);
}

#[test]
fn keys_are_for_their_owner_only() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let certs = Certs::ensure(folder.path()).expect("certificates");
    for file in [certs.serving_key(), certs.service_account_key(), certs.tokens()] {
        let mode = fs::metadata(&file).expect("the file").permissions().mode();
        assert_eq!(mode & 0o077, 0, "{} is {mode:o}", file.display());
    }
}
