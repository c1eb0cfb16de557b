//! The names most programs start with.

pub use crate::cache::{CachedObject, Event, Lister, SharedInformer, SharedInformerFactory};
pub use crate::client::{Api, BoxError, Client, WatchEvent};
pub use crate::config::Config;
pub use crate::controller::{
    Action, Controller, EventRecorder, add_finalizer, controller_of, object_reference,
    owner_reference_of, remove_finalizer,
};
pub use crate::meta::{
    CreateOptions, DeleteOptions, GetOptions, GroupVersionKind, Kind, ListOptions, Object,
    ObjectKey, ObjectMeta, Patch, PatchOptions, Reason, ReplaceOptions, Resource, Scope, Selector,
    StatusError, Unstructured, WatchOptions,
};
