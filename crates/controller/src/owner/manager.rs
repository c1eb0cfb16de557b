//! Carrying out claims: adopt orphans that match, release children that no longer do.

use std::fmt;

use kubewright_cache::CachedObject;
use kubewright_client::{Api, Client};
use kubewright_meta::{
    GetOptions, Kind, Object, Patch, PatchOptions, Selector, StatusError, Unstructured,
};
use serde_json::Value;

use super::claim::{Child, Claimant, Decision};
use super::owner_reference_of;
use crate::Error;

/// Claims the children of one owner: decides which objects of kind `C` are its own, and makes it so (client-go's
/// `ControllerRefManager`). Make one a reconcile; it is cheap.
///
/// Children are changed by JSON merge patches that carry uid, resourceVersion and the *whole* new list of owner
/// references. client-go sends strategic merge patches that name the one reference; those work on built-in
/// kinds only, and say nothing about the version, so that two controllers with stale caches can both adopt. These
/// work on every kind, and against a stale cache end in a Conflict instead of a lost reference.
pub struct ControllerRefManager<C> {
    /// Only the owner's metadata is looked at, so its type stays out of this one.
    owners: Api<Unstructured>,
    children: Api<C>,
    owner_name: String,
    owner_text: String,
    claimant: Claimant,
}

impl<C: Object> ControllerRefManager<C> {
    /// For the children of `owner`, which was read from the API server or a cache.
    pub fn new<K: Object>(
        client: &Client,
        owner: &K,
        owner_kind: &Kind<K>,
        child_kind: &Kind<C>,
    ) -> Self {
        let untyped = Kind::<Unstructured>::dynamic(
            owner_kind.gvk().clone(),
            owner_kind.plural().to_owned(),
            owner_kind.scope(),
        );
        let owners = in_namespace_of(client.api(untyped), owner.namespace());
        Self {
            owners,
            children: client.api(child_kind.clone()),
            owner_name: owner.name().to_owned(),
            owner_text: format!("{owner_kind} {}", owner.key()),
            claimant: Claimant {
                reference: owner_reference_of(owner, owner_kind),
                namespace: owner.namespace().map(str::to_owned),
                being_deleted: owner.is_being_deleted(),
            },
        }
    }

    /// Those of `children` that belong to the owner, after adopting and releasing what has to be.
    ///
    /// - Controlled by the owner and matching: kept.
    /// - Controlled by the owner, not matching: released, unless the owner is being deleted.
    /// - Controlled by another: left alone.
    /// - Without controller, matching, neither side being deleted: adopted. Before the first adoption the owner
    ///   is read once from the API server: it must be the same object and not being deleted, since an owner
    ///   that the garbage collector is about to orphan children from must not take them back.
    ///
    /// Adopted children are returned as they were in the cache, still without the reference. `children` should be
    /// all candidates, say those of the owner's namespace: what must be released no longer matches. A child that
    /// is gone, or another by the same name, is quietly left out.
    ///
    /// # Errors
    /// The first failure, once all the others have been tried: [`is_conflict`](Error::is_conflict) when
    /// the cache was behind, [`is_owner_gone`](Error::is_owner_gone) when the owner is no longer what
    /// the cache says, or any other failure of a call. Trying again later is right for all of them.
    pub async fn claim(
        &self,
        children: impl IntoIterator<Item = CachedObject<C>>,
        selector: &Selector,
    ) -> Result<Vec<CachedObject<C>>, Error> {
        let mut claimed = Vec::new();
        let mut first_error = None;
        let mut may_adopt = None;
        for child in children {
            let owners = child.owner_references();
            let known = Child {
                uid: child.uid(),
                resource_version: child.resource_version(),
                namespace: child.namespace(),
                owners: &owners,
                being_deleted: child.is_being_deleted(),
            };
            let outcome = match self.claimant.decide(&known, &child, selector) {
                Decision::Ignore => Ok(false),
                Decision::Keep => Ok(true),
                Decision::Release => self
                    .change(&child, "release", self.claimant.release(&known))
                    .await
                    .map(|_| false),
                Decision::Adopt => {
                    if may_adopt.is_none() {
                        let checked = self.check_owner().await;
                        may_adopt = Some(checked.is_ok());
                        if let Err(error) = checked {
                            first_error.get_or_insert(error);
                        }
                    }
                    if may_adopt == Some(true) {
                        self.change(&child, "adopt", self.claimant.adoption(&known)).await
                    } else {
                        Ok(false)
                    }
                }
            };
            match outcome {
                Ok(true) => claimed.push(child),
                Ok(false) => {}
                Err(error) => {
                    first_error.get_or_insert(error);
                }
            }
        }
        first_error.map_or(Ok(claimed), Err)
    }

    /// Patches a child; `false` if it is gone, or is another object by now.
    async fn change(
        &self,
        child: &CachedObject<C>,
        verb: &str,
        document: Value,
    ) -> Result<bool, Error> {
        let attempt =
            || format!("{verb} {} {} for {}", self.children.kind(), child.key(), self.owner_text);
        let patch = Patch::merge(document).map_err(|error| Error::patch(attempt(), error))?;
        let api = in_namespace_of(self.children.clone(), child.namespace());
        match api.patch(child.name(), &patch, &PatchOptions::default()).await {
            Ok(_) => {
                tracing::debug!(child = %child.key(), owner = %self.owner_text, verb, "owner changed");
                Ok(true)
            }
            Err(error) if error.is_not_found() || is_other_uid(&error) => {
                tracing::debug!(child = %child.key(), owner = %self.owner_text, verb, %error, "child gone");
                Ok(false)
            }
            Err(error) => Err(Error::call(attempt(), error)),
        }
    }

    /// The owner as the API server has it now may adopt.
    async fn check_owner(&self) -> Result<(), Error> {
        let gone = |why: String| Err(Error::owner_gone(self.owner_text.clone(), why));
        match self.owners.get(&self.owner_name, &GetOptions::default()).await {
            Ok(live) if live.uid() != self.claimant.reference.uid => gone(format!(
                "it was deleted and created again: its uid is {}, not {}",
                live.uid(),
                self.claimant.reference.uid
            )),
            Ok(live) if live.is_being_deleted() => gone("it is being deleted".to_owned()),
            Ok(_) => Ok(()),
            Err(error) if error.is_not_found() => gone("it no longer exists".to_owned()),
            Err(error) => {
                Err(Error::call(format!("read {} before adopting", self.owner_text), error))
            }
        }
    }
}

/// A patch whose uid is not the object's is refused as an attempt to change it. Anything else that is invalid is not
/// the sign of another object.
fn is_other_uid(error: &kubewright_client::Error) -> bool {
    let field = Some("metadata.uid");
    let named = |status: &StatusError| {
        let mut causes = status.causes().iter();
        status.is_invalid() && causes.any(|cause| cause.field.as_deref() == field)
    };
    error.status().is_some_and(named)
}

fn in_namespace_of<K: Object>(api: Api<K>, namespace: Option<&str>) -> Api<K> {
    match namespace {
        Some(namespace) => api.in_namespace(namespace),
        None => api,
    }
}

impl<C> fmt::Debug for ControllerRefManager<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControllerRefManager")
            .field("owner", &self.owner_text)
            .finish_non_exhaustive()
    }
}
