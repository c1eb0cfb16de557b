//! The verbs of one kind.

mod deleted;
mod encode;
mod list;
mod read;
mod subresource;
mod watch;
mod write;

use std::any::Any;
use std::fmt;

use kubewright_meta::{Kind, Object, Scope, Unstructured};

use crate::client::Client;
use crate::error::Error;
use crate::rest::{Request, RestClient};

pub use deleted::Deleted;
pub use list::RawList;
pub use watch::{RawWatch, WatchEvent, WatchStream};

/// Calls about objects of one kind, in one namespace, in all, or in the cluster: made by
/// [`Client::in_namespace`], [`Client::everywhere`], [`Client::cluster`] and [`Client::api`].
///
/// It is the same for typed and for [`Unstructured`] objects. Objects travel as JSON. Calls that make no sense are
/// refused before anything is sent ([`Error::is_invalid_request`]): an empty name, a namespaced kind without a
/// namespace for anything but list and watch, an object of another namespace than the Api's.
pub struct Api<K> {
    client: Client,
    kind: Kind<K>,
    /// `None` for all namespaces and for cluster-wide kinds.
    namespace: Option<String>,
}

impl<K: Object> Api<K> {
    pub(crate) fn new(client: Client, kind: Kind<K>) -> Self {
        Self { client, kind, namespace: None }
    }

    /// The same kind in one namespace. The empty name means all namespaces, for list and watch only.
    #[must_use]
    pub fn in_namespace(&self, namespace: impl Into<String>) -> Self {
        let namespace = Some(namespace.into()).filter(|namespace| !namespace.is_empty());
        Self { client: self.client.clone(), kind: self.kind.clone(), namespace }
    }

    /// The client it calls with.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The kind it is about.
    pub fn kind(&self) -> &Kind<K> {
        &self.kind
    }

    /// The namespace; `None` for all of them and for cluster-wide kinds.
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    fn rest(&self) -> RestClient {
        RestClient::for_group_version(&self.client, &self.kind.group_version())
    }

    /// A request about the collection.
    fn collection(&self, start: impl FnOnce(&RestClient) -> Request) -> Request {
        let request = start(&self.rest()).check(|| self.check_scope()).resource(self.kind.plural());
        match &self.namespace {
            Some(namespace) => request.namespace(namespace),
            None => request,
        }
    }

    /// A request about the collection of exactly one namespace, or of a cluster-wide kind.
    fn own_collection(&self, start: impl FnOnce(&RestClient) -> Request) -> Request {
        self.collection(|rest| start(rest).check(|| self.check_namespace()))
    }

    /// A request about one object.
    fn object(&self, name: &str, start: impl FnOnce(&RestClient) -> Request) -> Request {
        self.own_collection(start).name(name)
    }

    fn check_scope(&self) -> Result<(), Error> {
        match (self.kind.scope(), &self.namespace) {
            (Scope::Cluster, Some(namespace)) => Err(Error::invalid(format!(
                "{} are cluster-wide and not in namespace {namespace:?}",
                self.kind
            ))),
            _ => Ok(()),
        }
    }

    fn check_namespace(&self) -> Result<(), Error> {
        match (self.kind.scope(), &self.namespace) {
            (Scope::Namespaced, None) => Err(Error::invalid(format!(
                "{} need a namespace for this; all namespaces together can only be listed and watched",
                self.kind
            ))),
            _ => Ok(()),
        }
    }

    /// Whether an object's namespace is this Api's.
    fn check_object_namespace(&self, object: &K) -> Result<(), Error> {
        if let Some(namespace) = object.namespace()
            && Some(namespace) != self.namespace()
        {
            let name = object.name();
            return Err(Error::invalid(match self.namespace() {
                Some(own) => format!("{name:?} is in namespace {namespace:?}, the Api in {own:?}"),
                None => format!("{name:?} is in namespace {namespace:?}, the Api in none"),
            }));
        }
        Ok(())
    }

    /// Servers leave apiVersion and kind out of the items of built-in lists; unstructured objects need them.
    fn complete_types(&self, object: &mut K) {
        if let Some(object) = (object as &mut dyn Any).downcast_mut::<Unstructured>() {
            if object.types.api_version.is_empty() {
                object.types.api_version = self.kind.api_version().into_owned();
            }
            if object.types.kind.is_empty() {
                object.types.kind = self.kind.kind().to_owned();
            }
        }
    }
}

// By hand, since a derive would ask the same of `K`, which is never stored.
impl<K> Clone for Api<K> {
    fn clone(&self) -> Self {
        Self {
            client: self.client.clone(),
            kind: self.kind.clone(),
            namespace: self.namespace.clone(),
        }
    }
}

impl<K> fmt::Debug for Api<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api")
            .field("kind", &self.kind)
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}
