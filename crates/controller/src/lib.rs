//! Acting on cluster state: controllers, expectations, owner references, events.
//!
//! A controller compares what is wanted with what is, and does something about the difference. This crate turns
//! changes of informers' caches into keys, and keys into calls of a *reconcile* function that reads listers and
//! writes through the API:
//!
//! | here | client-go and controller-runtime |
//! |---|---|
//! | [`Controller`] | `Controller` with its work queue, `EnqueueRequestForObject`, `EnqueueRequestForOwner` |
//! | [`Expectations`] | `UIDTrackingControllerExpectations` |
//! | [`controller_of`], [`owner_reference_of`], [`ControllerRefManager`] | `metav1.GetControllerOf`, `NewControllerRef`, `ControllerRefManager` |
//! | [`EventRecorder`] | `tools/events` |
//! | [`add_finalizer`], [`remove_finalizer`] | `controllerutil.AddFinalizer`, `RemoveFinalizer` |

mod action;
mod controller;
mod error;
mod events;
mod expectations;
mod finalizers;
mod owner;

pub use action::Action;
pub use controller::{Controller, ControllerStats, Enqueuer};
pub use error::{BoxError, Error};
pub use events::{
    CollectedEvents, EventRecorder, EventType, Occurrence, RecorderStats, object_reference,
};
pub use expectations::Expectations;
pub use finalizers::{add_finalizer, remove_finalizer};
pub use owner::{ControllerRefManager, controller_of, is_controlled_by, owner_reference_of};

pub use kubewright_queue::RateLimiter;
