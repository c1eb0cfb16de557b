//! The names most programs start with.

pub use crate::cache::{CachedObject, Event, Lister, SharedInformer, SharedInformerFactory};
pub use crate::client::{Api, Client};
pub use crate::config::Config;
pub use crate::controller::{Action, Controller};
pub use crate::meta::{
    CreateOptions, DeleteOptions, GetOptions, Kind, ListOptions, Object, ObjectKey, Patch,
    PatchOptions, ReplaceOptions, Resource, Selector, Unstructured, WatchOptions,
};
