//! A local copy of cluster state that stays true.
//!
//! A [`SharedInformer`] lists the objects of a kind once, then watches them, and keeps what it has seen in an
//! [`Indexer`]. Whoever needs the state reads it there, through a [`Lister`], without a request; whoever needs the changes
//! adds a handler. A [`SharedInformerFactory`] makes one informer for each kind and choice of objects.
//!
//! ```text
//! server -> Reflector -> Fifo -> Indexer -> handlers
//!           list, watch   in      atomic     one task and one
//!           back-off      order   batches    bounded buffer each
//! ```
//!
//! # What is kept
//! The bytes of each object without `managedFields`, and a header read from them. A [`CachedObject`] is a handle on
//! that: key, uid, labels and owners are at hand, [`CachedObject::get`] decodes the rest. The objects decoded
//! last stay decoded, up to [`DEFAULT_DECODED_BUDGET`].
//!
//! # What is promised
//! - A list counts when its end was read, and then all at once.
//! - Within one run the store does not go back: a list after the first asks for at least the version seen.
//! - The store is changed before handlers hear of it.
//! - Each handler hears of each object's changes in order. Beyond [`DEFAULT_HANDLER_BUFFER`] waiting events, those
//!   of one object are merged; a slow handler slows down nobody else.
//! - An object that cannot be read is left out and counted; the others go on.
//!
//! # Bounds
//! Between reading and applying wait at most 10,000 objects and one list. For each handler wait at most
//! its buffer's bound and one event for each object.

mod error;
mod event;
mod factory;
mod fifo;
mod indexer;
mod informer;
mod lister;
mod object;
mod reentry;
mod reflector;
#[cfg(test)]
mod simulation;
mod version;

pub use error::Error;
pub use event::Event;
pub use factory::{SharedInformerFactory, WaitForSync};
pub use fifo::{Batch, Delta, Fifo, MAX_BATCH};
pub use indexer::{IndexValues, Indexer};
pub use informer::{
    DEFAULT_HANDLER_BUFFER, HandlerBuilder, HandlerRegistration, HandlerStatus, InformerOptions,
    InformerStatus, PendingEvents, SharedInformer,
};
pub use lister::{Lister, NamespaceLister};
pub use object::{CachedObject, DEFAULT_DECODED_BUDGET, Decoded, Decoder};
pub use reflector::{
    Action, Call, Cause, Failure, Phase, Reflector, ReflectorCore, ReflectorMonitor,
    ReflectorOptions, ReflectorStatus, Step,
};
