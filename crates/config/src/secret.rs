//! A value that must not be seen by accident: tokens, passwords, private keys.
//!
//! Everything that carries credentials in this crate carries them as [`Secret`], so that no derived `Debug`, no log
//! line and no error text can show one.

use std::fmt;

use zeroize::Zeroizing;

/// Bytes of a credential. `Debug` prints a placeholder, there is no `Display` and no `Serialize`.
///
/// The bytes are read with [`expose`](Self::expose), a name that is easy to find in a review, and wiped from memory
/// when the last owner drops them (copies made by the kernel, by parsers or by TLS are beyond its reach).
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<Vec<u8>>);

impl Secret {
    /// Wraps the bytes of a credential.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(Zeroizing::new(bytes.into()))
    }

    /// The credential itself. Whoever calls this answers for where it goes.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }

    /// Whether there are no bytes at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same without white space at either end: files and YAML blocks end in a newline that is not part of a token.
    pub(crate) fn trimmed(&self) -> Self {
        Self::new(self.0.trim_ascii())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_empty() { "Secret(empty)" } else { "Secret(redacted)" })
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<Vec<u8>> for Secret {
    fn from(bytes: Vec<u8>) -> Self {
        Self::new(bytes)
    }
}
