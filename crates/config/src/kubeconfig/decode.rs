//! From a tree of values to a [`Kubeconfig`]. Unknown fields are ignored, as `kubectl` does; two entries of one name
//! in one list are an error.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    path::PathBuf,
};

use super::{
    fields::{Fields, text, texts},
    types::{
        AuthProvider, Cluster, Context, Exec, ExecEnv, Extensions, Kubeconfig, Preferences, User,
    },
    yaml,
};
use crate::error::{Error, Kind, Problem};

impl Kubeconfig {
    /// Reads a kubeconfig from memory: YAML or JSON, at most 8 MiB. Relative paths in it stay as they are, and are
    /// taken from the working directory when they are used.
    ///
    /// # Errors
    /// The text is neither YAML nor JSON, a field has the wrong type, or two entries of a list have the same name.
    pub fn parse(bytes: impl AsRef<[u8]>) -> Result<Self, Error> {
        let (kubeconfig, _) =
            decode(bytes.as_ref()).map_err(|why| Kind::Files(vec![Problem::new(None, why)]))?;
        Ok(kubeconfig)
    }
}

/// The kubeconfig in `bytes`, and whether more documents follow it. The error is about the whole file.
pub(crate) fn decode(bytes: &[u8]) -> Result<(Kubeconfig, bool), String> {
    let document = yaml::parse(bytes)?;
    let mut top = Fields::new("", document.value)?;
    check_type(&mut top)?;
    let preferences = preferences(top.mapping("preferences")?)?;
    let kubeconfig = Kubeconfig {
        clusters: entries(&mut top, "clusters", "cluster", cluster)?,
        users: entries(&mut top, "users", "user", user)?,
        contexts: entries(&mut top, "contexts", "context", context)?,
        current_context: top.text("current-context")?,
        current_context_file: None,
        preferences,
        extensions: extensions(&mut top)?,
    };
    Ok((kubeconfig, document.followed))
}

/// `kind: Config` and `apiVersion: v1` may both be left out, but not be something else.
fn check_type(top: &mut Fields) -> Result<(), String> {
    for (field, expected) in [("kind", "Config"), ("apiVersion", "v1")] {
        match top.text(field)? {
            Some(found) if found != expected => {
                return Err(format!("is not a kubeconfig: {field} is not {expected:?}"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// A list of `{name, <inner>}`.
fn entries<T>(
    top: &mut Fields,
    list: &str,
    inner: &str,
    decode: impl Fn(Fields) -> Result<T, String>,
) -> Result<BTreeMap<String, T>, String> {
    let mut named = BTreeMap::new();
    for (at, item) in top.list(list)? {
        let mut item = Fields::new(at, item)?;
        let name = item.text("name")?.unwrap_or_default();
        item.named(&name);
        let value = decode(item.mapping(inner)?)?;
        insert_new(&mut named, list, name, value)?;
    }
    Ok(named)
}

fn insert_new<T>(
    named: &mut BTreeMap<String, T>,
    list: &str,
    name: String,
    value: T,
) -> Result<(), String> {
    match named.entry(name) {
        Entry::Vacant(vacant) => {
            vacant.insert(value);
            Ok(())
        }
        Entry::Occupied(occupied) => Err(format!("{list}: duplicate name {:?}", occupied.key())),
    }
}

fn cluster(mut fields: Fields) -> Result<Cluster, String> {
    Ok(Cluster {
        server: fields.text("server")?,
        tls_server_name: fields.text("tls-server-name")?,
        insecure_skip_tls_verify: fields.flag("insecure-skip-tls-verify")?,
        certificate_authority: fields.text("certificate-authority")?.map(PathBuf::from),
        certificate_authority_data: fields.base64("certificate-authority-data")?,
        proxy_url: fields.text("proxy-url")?,
        disable_compression: fields.flag("disable-compression")?,
        extensions: extensions(&mut fields)?,
        file: None,
    })
}

fn user(mut fields: Fields) -> Result<User, String> {
    Ok(User {
        client_certificate: fields.text("client-certificate")?.map(PathBuf::from),
        client_certificate_data: fields.base64("client-certificate-data")?,
        client_key: fields.text("client-key")?.map(PathBuf::from),
        client_key_data: fields.base64("client-key-data")?.map(Into::into),
        token: fields.secret("token")?,
        token_file: fields.text("tokenFile")?.map(PathBuf::from),
        impersonate: fields.text("as")?,
        impersonate_uid: fields.text("as-uid")?,
        impersonate_groups: fields.texts("as-groups")?,
        impersonate_user_extra: user_extra(fields.mapping("as-user-extra")?)?,
        username: fields.text("username")?,
        password: fields.secret("password")?,
        auth_provider: fields.optional_mapping("auth-provider")?.map(auth_provider).transpose()?,
        exec: fields.optional_mapping("exec")?.map(exec).transpose()?,
        extensions: extensions(&mut fields)?,
        file: None,
    })
}

fn context(mut fields: Fields) -> Result<Context, String> {
    Ok(Context {
        cluster: fields.text("cluster")?,
        user: fields.text("user")?,
        namespace: fields.text("namespace")?,
        extensions: extensions(&mut fields)?,
        file: None,
    })
}

fn user_extra(fields: Fields) -> Result<BTreeMap<String, Vec<String>>, String> {
    let entries = fields.into_entries();
    entries.map(|(at, key, values)| Ok((key, texts(&at, values)?))).collect()
}

fn auth_provider(mut fields: Fields) -> Result<AuthProvider, String> {
    let config = fields.mapping("config")?.into_entries().map(|(at, key, value)| {
        let value = text(&at, value)?.unwrap_or_default();
        Ok((key, value.into()))
    });
    Ok(AuthProvider {
        config: config.collect::<Result<_, String>>()?,
        name: fields.text("name")?.unwrap_or_default(),
    })
}

fn exec(mut fields: Fields) -> Result<Exec, String> {
    let env = fields.list("env")?.into_iter().map(|(at, item)| {
        let mut item = Fields::new(at, item)?;
        let value = item.text("value")?.unwrap_or_default();
        Ok(ExecEnv { name: item.text("name")?.unwrap_or_default(), value: value.into() })
    });
    Ok(Exec {
        env: env.collect::<Result<_, String>>()?,
        api_version: fields.text("apiVersion")?,
        command: fields.text("command")?,
        args: fields.texts("args")?,
        install_hint: fields.text("installHint")?,
        provide_cluster_info: fields.flag("provideClusterInfo")?,
        interactive_mode: fields.text("interactiveMode")?,
    })
}

fn preferences(mut fields: Fields) -> Result<Preferences, String> {
    Ok(Preferences { colors: fields.flag("colors")?, extensions: extensions(&mut fields)? })
}

/// A list of `{name, extension}` with any value as the extension.
fn extensions(fields: &mut Fields) -> Result<Extensions, String> {
    let mut named = BTreeMap::new();
    for (at, item) in fields.list("extensions")? {
        let mut item = Fields::new(at, item)?;
        let name = item.text("name")?.unwrap_or_default();
        let value = item.take("extension");
        insert_new(&mut named, "extensions", name, value)?;
    }
    Ok(Extensions(named))
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
