//! What the API server proves itself with: a certificate authority, a serving certificate of it, the key that signs
//! service account tokens, and the one administrator's token. Made once for a folder and found again there later.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

use crate::error::{Context, Result};

/// The names and addresses a client may know the API server by.
const SERVER_NAMES: [&str; 7] = [
    "127.0.0.1",
    "10.96.0.1",
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
];

/// The files of one control plane's `pki` folder.
pub(crate) struct Certs {
    folder: PathBuf,
}

impl Certs {
    /// Those in `folder`, made now if they are not there.
    pub(crate) fn ensure(folder: &Path) -> Result<Self> {
        let certs = Self { folder: folder.to_path_buf() };
        // The token is written last, so its presence says that the others are complete.
        if !certs.tokens().is_file() {
            fs::create_dir_all(folder).context(|| format!("cannot create {}", folder.display()))?;
            certs.make()?;
        }
        Ok(certs)
    }

    pub(crate) fn ca(&self) -> PathBuf {
        self.folder.join("ca.crt")
    }

    pub(crate) fn serving_certificate(&self) -> PathBuf {
        self.folder.join("apiserver.crt")
    }

    pub(crate) fn serving_key(&self) -> PathBuf {
        self.folder.join("apiserver.key")
    }

    pub(crate) fn service_account_key(&self) -> PathBuf {
        self.folder.join("sa.key")
    }

    /// kube-apiserver reads an ECDSA public key from a file of its own only.
    pub(crate) fn service_account_public_key(&self) -> PathBuf {
        self.folder.join("sa.pub")
    }

    /// The static token file: one administrator, in `system:masters`.
    pub(crate) fn tokens(&self) -> PathBuf {
        self.folder.join("tokens.csv")
    }

    /// The authority's certificate, PEM.
    pub(crate) fn ca_pem(&self) -> Result<String> {
        read(&self.ca())
    }

    /// The administrator's bearer token.
    pub(crate) fn token(&self) -> Result<String> {
        let tokens = read(&self.tokens())?;
        Ok(tokens.split(',').next().unwrap_or_default().to_owned())
    }

    fn make(&self) -> Result<()> {
        let failed = || "cannot make the control plane's certificates";
        let ca_key = KeyPair::generate().context(failed)?;
        let mut ca = CertificateParams::default();
        ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        ca.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        ca.distinguished_name.push(DnType::CommonName, "kubewright control plane");
        let ca_pem = ca.self_signed(&ca_key).context(failed)?.pem();
        let issuer = Issuer::new(ca, ca_key);

        let serving_key = KeyPair::generate().context(failed)?;
        let mut serving =
            CertificateParams::new(SERVER_NAMES.map(str::to_owned).to_vec()).context(failed)?;
        serving.distinguished_name.push(DnType::CommonName, "kube-apiserver");
        serving.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        serving.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let serving_pem = serving.signed_by(&serving_key, &issuer).context(failed)?.pem();

        let service_accounts = KeyPair::generate().context(failed)?;

        write_private(&self.ca(), &ca_pem)?;
        write_private(&self.serving_certificate(), &serving_pem)?;
        write_private(&self.serving_key(), &serving_key.serialize_pem())?;
        write_private(&self.service_account_key(), &service_accounts.serialize_pem())?;
        write_private(&self.service_account_public_key(), &service_accounts.public_key_pem())?;
        write_private(
            &self.tokens(),
            &format!("{},admin,admin,\"system:masters\"\n", random_token()?),
        )
    }
}

/// Writes a file only its owner may read.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<()> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .context(|| format!("cannot write {}", path.display()))
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).context(|| format!("cannot read {}", path.display()))
}

fn random_token() -> Result<String> {
    let mut bytes = [0_u8; 24];
    File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(&mut bytes))
        .context(|| "cannot read random bytes from /dev/urandom")?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
#[path = "certs_tests.rs"]
mod tests;
