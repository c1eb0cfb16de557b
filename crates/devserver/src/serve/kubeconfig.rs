//! How `kubectl` and everybody else find the server.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Nothing in it needs quotes in YAML but the token, which could look like a number.
pub(super) fn text(url: &str, ca_pem: &str, token: &str) -> String {
    let ca = STANDARD.encode(ca_pem);
    format!(
        "apiVersion: v1
kind: Config
clusters:
- name: kubewright
  cluster:
    server: {url}
    certificate-authority-data: {ca}
users:
- name: kubewright
  user:
    token: \"{token}\"
contexts:
- name: kubewright
  context:
    cluster: kubewright
    user: kubewright
current-context: kubewright
"
    )
}
