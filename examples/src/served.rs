//! Which kinds a server serves, read from its discovery documents.
//!
//! The garbage collector and the namespace controller act on objects of every kind, so they ask the server
//! instead of keeping a list.

use std::error::Error;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{APIGroupList, APIResource, APIResourceList};
use kubewright::client::{Client, RestClient};
use kubewright::meta::{GroupVersion, Kind, Scope, Unstructured};

/// What discovery told.
pub struct Served {
    /// The kinds that can be worked with.
    pub kinds: Vec<Kind<Unstructured>>,
    /// What the server told nothing about: there may be more kinds in these.
    pub refused: Vec<GroupVersion>,
}

/// The kinds, each at its group's preferred version, that have all of `verbs`.
///
/// A group whose document the server refuses is left out with a warning and told apart: one broken extension server must not
/// stop the others from being looked after.
///
/// # Errors
/// If the list of groups cannot be read, or the server does not answer: an incomplete list would look like a
/// complete one.
pub async fn kinds(
    client: &Client,
    verbs: &[&str],
) -> Result<Served, Box<dyn Error + Send + Sync>> {
    let rest = RestClient::unversioned(client);
    let groups: APIGroupList = rest.get().abs_path("/apis").send().await?.decode()?;
    let mut versions = vec![GroupVersion::new("", "v1")];
    for group in groups.groups {
        let preferred = group.preferred_version.or_else(|| group.versions.into_iter().next());
        versions.extend(preferred.and_then(|version| version.group_version.parse().ok()));
    }
    let (mut kinds, mut refused) = (Vec::new(), Vec::new());
    for version in versions {
        let path = format!("/{}", version.path());
        match rest.get().abs_path(&path).send().await.and_then(|answer| answer.decode()) {
            Ok::<APIResourceList, _>(list) => {
                kinds.extend(
                    list.resources.iter().filter_map(|served| kind(&version, served, verbs)),
                );
            }
            Err(error) if error.status().is_some() => {
                tracing::warn!(%version, %error, "kinds of this group are not looked after");
                refused.push(version);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Served { kinds, refused })
}

fn kind(
    version: &GroupVersion,
    served: &APIResource,
    verbs: &[&str],
) -> Option<Kind<Unstructured>> {
    let is_subresource = served.name.contains('/');
    let has = |verb: &&str| served.verbs.iter().any(|served| served == verb);
    if is_subresource || !verbs.iter().all(has) {
        return None;
    }
    let scope = if served.namespaced { Scope::Namespaced } else { Scope::Cluster };
    Some(Kind::dynamic(version.with_kind(served.kind.clone()), served.name.clone(), scope))
}
