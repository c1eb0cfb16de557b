//! What a reconcile asks for when it has succeeded.

use std::time::Duration;

/// What becomes of a key after a reconcile that did not fail (controller-runtime's `Result`).
///
/// A key is reconciled again anyway when an event comes; this is about the time without events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Action(pub(crate) Next);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Nothing,
    After(Duration),
    RateLimited,
}

impl Action {
    /// Nothing to do until the next event. The key's back-off is forgotten.
    pub fn done() -> Self {
        Self(Next::Nothing)
    }

    /// Again after `delay`, or earlier if an event comes. The key's back-off is forgotten.
    pub fn requeue_after(delay: Duration) -> Self {
        Self(Next::After(delay))
    }

    /// Again when the rate limiter allows it: the key's back-off goes on growing as after a failure, though
    /// nothing counts or is logged as one.
    pub fn requeue() -> Self {
        Self(Next::RateLimited)
    }
}

impl Default for Action {
    fn default() -> Self {
        Self::done()
    }
}
