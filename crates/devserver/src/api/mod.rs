//! The verbs of the API.

mod admission;
mod create;
mod delete;
mod delete_collection;
mod delete_options;
mod get;
mod list;
mod list_options;
mod patch;
mod pods;
mod replace;
mod scale;
mod update;
mod watch;
mod write_options;

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Response};
use kubewright_meta::StatusError;

pub(crate) use create::complete_new;

use crate::failure::{self, Result};
use crate::kinds::{ResourceKind, Subresource};
use crate::protocol::{Body, Query, Target};
use crate::server::Inner;
use crate::store::key_of;

/// One request to a resource.
pub(crate) struct Call<'a> {
    pub(crate) server: &'a Arc<Inner>,
    pub(crate) verb: Verb,
    pub(crate) target: &'a Target,
    pub(crate) query: &'a Query,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: Bytes,
}

impl Call<'_> {
    fn kind(&self) -> &Arc<ResourceKind> {
        &self.target.kind
    }

    fn namespace(&self) -> Option<&str> {
        self.target.namespace.as_deref()
    }

    /// The name in the path; empty for verbs on a collection, which do not ask for it.
    fn name(&self) -> &str {
        self.target.name.as_deref().unwrap_or_default()
    }

    /// The named object's key in the store.
    fn key(&self) -> String {
        key_of(self.namespace(), self.name())
    }
}

/// What is asked, as authorization names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    List,
    Watch,
    Create,
    Update,
    Patch,
    Delete,
    DeleteCollection,
}

impl Verb {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        }
    }

    /// The verb of a method on a target; 405 where the target does not have it.
    pub(crate) fn of(
        method: &Method,
        target: &Target,
        query: &Query,
    ) -> std::result::Result<Self, StatusError> {
        let everywhere = target.kind.is_namespaced() && target.namespace.is_none();
        let verb = match (method, target.name.is_some(), target.subresource) {
            (&Method::GET, false, None) if query.flag("watch") => Self::Watch,
            (&Method::GET, false, None) => Self::List,
            (&Method::POST, false, None) if !everywhere => Self::Create,
            (&Method::DELETE, false, None)
                if !everywhere && target.kind.rules.delete_collection =>
            {
                Self::DeleteCollection
            }
            (&Method::POST, true, Some(Subresource::Binding | Subresource::Eviction)) => {
                Self::Create
            }
            (&Method::PUT, true, Some(Subresource::Finalize)) => Self::Update,
            (
                _,
                true,
                Some(Subresource::Binding | Subresource::Eviction | Subresource::Finalize),
            ) => {
                return Err(failure::method_not_allowed());
            }
            (&Method::GET, true, _) => Self::Get,
            (&Method::PUT, true, _) => Self::Update,
            (&Method::PATCH, true, _) => Self::Patch,
            (&Method::DELETE, true, None) => Self::Delete,
            _ => return Err(failure::method_not_allowed()),
        };
        Ok(verb)
    }
}

pub(crate) fn dispatch(call: &Call<'_>) -> Result<Response<Body>> {
    match (call.verb, call.target.subresource) {
        (Verb::Get, Some(Subresource::Scale)) => scale::get(call),
        (Verb::Get, _) => get::get(call),
        (Verb::List, _) => list::list(call),
        (Verb::Watch, _) => watch::watch(call),
        (Verb::Create, Some(Subresource::Binding)) => pods::bind(call),
        (Verb::Create, Some(Subresource::Eviction)) => pods::evict(call),
        (Verb::Create, _) => create::create(call),
        (Verb::Update, Some(Subresource::Scale)) => scale::replace(call),
        (Verb::Update, _) => replace::replace(call),
        (Verb::Patch, Some(Subresource::Scale)) => scale::patch(call),
        (Verb::Patch, _) => patch::patch(call),
        (Verb::Delete, _) => delete::delete(call),
        (Verb::DeleteCollection, _) => delete_collection::delete_collection(call),
    }
}
