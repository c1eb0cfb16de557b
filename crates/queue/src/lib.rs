//! What to do next, and how fast: the work queues that controllers are built on.
//!
//! Nothing here knows Kubernetes. A key is any `Clone + Eq + Hash` value; the queue holds each key at most
//! once, hands it to one worker at a time, and remembers when it was added again meanwhile.
//!
//! | type | adds | client-go (`util/workqueue`) |
//! |---|---|---|
//! | [`WorkQueue`] | first in, first out, without duplicates; shut down and drain | `TypedInterface` |
//! | [`DelayingQueue`] | [`add_after`](DelayingQueue::add_after) | `TypedDelayingInterface` |
//! | [`RateLimitingQueue`] | [`add_rate_limited`](RateLimitingQueue::add_rate_limited), [`forget`](RateLimitingQueue::forget) | `TypedRateLimitingInterface` |
//!
//! Each type dereferences to the one above it, as client-go's interfaces embed each other: they are handles
//! to one shared state, so a method exists once and `&RateLimitingQueue<T>` serves where `&WorkQueue<T>` is
//! wanted. Clones are handles to the same queue.
//!
//! # No task in the background
//! A queue is a plain state machine behind one lock. Keys that wait for their time are moved to the ready
//! line by whoever looks next: a worker in [`get`](WorkQueue::get), which sleeps until the first of them is
//! due, or [`len`](WorkQueue::len). So there is nothing to start, nothing to stop and nothing that leaks.
//!
//! # Bounds
//! A queue holds at most one entry a distinct key, however often it is added and however many delays were
//! asked for. A burst's memory is given back when the queue is empty again.
//!
//! ```
//! use std::time::Duration;
//! use kubewright_queue::RateLimitingQueue;
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() {
//! let queue = RateLimitingQueue::<&str>::default();
//! queue.add("shop/web");
//! queue.add_after("shop/db", Duration::from_secs(1));
//!
//! while let Some(key) = queue.get().await {
//!     match reconcile(key) {
//!         Ok(()) => queue.forget(&key),
//!         Err(()) => queue.add_rate_limited(key),
//!     }
//!     queue.done(&key);
//! #   if key == "shop/db" { queue.shut_down(); }
//! }
//! # }
//! # fn reconcile(_: &str) -> Result<(), ()> { Ok(()) }
//! ```

mod delaying_queue;
mod done_guard;
mod get;
mod limiter;
mod parallelize;
mod queue_core;
mod rate_limiting_queue;
mod shared;
mod work_queue;

pub use delaying_queue::DelayingQueue;
pub use done_guard::DoneGuard;
pub use limiter::{
    BucketLimiter, ExponentialLimiter, FastSlowLimiter, MaxOfLimiter, MaxWaitLimiter, RateLimiter,
    default_controller_limiter,
};
pub use parallelize::parallelize;
pub use rate_limiting_queue::RateLimitingQueue;
pub use work_queue::WorkQueue;
