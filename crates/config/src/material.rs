//! Certificates and keys as they are given: PEM in a file or base64 in the kubeconfig.

use std::{
    fs,
    io::{self, Read},
    path::Path,
};

use crate::{error::Problem, origin::Origin};

/// A bundle of every public authority is a few hundred KiB; a larger file is the wrong file.
const MAX_BYTES: u64 = 16 << 20;

/// What a PEM text is expected to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pem {
    Certificate,
    PrivateKey,
}

/// PEM that an entry gives as a path or inline, but not both.
pub(crate) struct Material<'a> {
    pub(crate) origin: &'a Origin,
    pub(crate) what: Pem,
    pub(crate) path_field: &'static str,
    pub(crate) data_field: &'static str,
    pub(crate) path: Option<&'a Path>,
    pub(crate) data: Option<&'a [u8]>,
}

impl Material<'_> {
    /// Whether the entry says anything about it.
    pub(crate) fn is_given(&self) -> bool {
        self.path.is_some() || self.data.is_some()
    }

    /// The PEM; `None` where the entry says nothing or the problem was added.
    pub(crate) fn read(&self, problems: &mut Vec<Problem>) -> Option<Vec<u8>> {
        let result = match (self.path, self.data) {
            (None, None) => return None,
            (Some(_), Some(_)) => {
                let message = format!("and {} are both set; keep one of them", self.data_field);
                Err(Problem::field(self.origin, self.path_field, message))
            }
            (Some(path), None) => self.read_file(path),
            (None, Some(data)) => match check(self.what, data) {
                Ok(()) => Ok(data.to_vec()),
                Err(why) => Err(Problem::field(self.origin, self.data_field, why)),
            },
        };
        result.map_err(|problem| problems.push(problem)).ok()
    }

    fn read_file(&self, path: &Path) -> Result<Vec<u8>, Problem> {
        let bytes = read(path).map_err(|error| {
            let message = format!("{} cannot be read", path.display());
            Problem::field(self.origin, self.path_field, message).with_source(error)
        })?;
        match check(self.what, &bytes) {
            Ok(()) => Ok(bytes),
            Err(why) => Err(Problem::field(
                self.origin,
                self.path_field,
                format!("{} {why}", path.display()),
            )),
        }
    }
}

/// Reads a file whole, up to a bound.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_bounded(path, MAX_BYTES)
}

/// Reads a file whole; one with more than `limit` bytes is an error.
pub(crate) fn read_bounded(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > limit {
        true => {
            Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {limit} bytes")))
        }
        false => Ok(bytes),
    }
}

/// Sees that the bytes look like what they should be, so that a wrong file is named here and not by a TLS library
/// that no longer knows where they came from. The error is the rest of a sentence that begins with the field's name.
pub(crate) fn check(what: Pem, bytes: &[u8]) -> Result<(), &'static str> {
    let (label, missing) = match what {
        Pem::Certificate => ("CERTIFICATE-----", "holds no PEM certificate"),
        Pem::PrivateKey => ("PRIVATE KEY-----", "holds no PEM private key"),
    };
    if bytes.trim_ascii().is_empty() {
        return Err("is empty");
    }
    let found = bytes
        .split(|&c| c == b'\n')
        .map(<[u8]>::trim_ascii)
        .any(|line| line.starts_with(b"-----BEGIN ") && line.ends_with(label.as_bytes()));
    if found { Ok(()) } else { Err(missing) }
}
