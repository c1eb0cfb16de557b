//! What a controller has asked for and its cache has not seen yet.
//!
//! A reconcile reads from a cache that lags behind the API server. One that has just created three pods and runs
//! again before the cache shows them would create three more. So it notes what it is about to do, the event
//! handlers tick off what arrives, and until then a reconcile of that key leaves creations and deletions alone.

use std::time::Duration;

use hashbrown::{HashMap, HashSet};
use kubewright_meta::ObjectKey;
use parking_lot::Mutex;
use tokio::time::Instant;

#[cfg(test)]
#[path = "expectations_tests.rs"]
mod tests;

/// After this an expectation no longer holds anything up (client-go's `ExpectationsTimeout`).
const TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// Creations and deletions that controllers wait to see, per controlled object (client-go's
/// `UIDTrackingControllerExpectations`).
///
/// The order that makes it work:
/// 1. In the reconcile: only if [`satisfied`](Self::satisfied), and **before** the calls to the API server,
///    [`expect_creations`](Self::expect_creations) or [`expect_deletions`](Self::expect_deletions).
/// 2. For each call that fails, [`creation_observed`](Self::creation_observed) or
///    [`deletion_observed`](Self::deletion_observed): no event will come for it.
/// 3. In the event handler, before the owner's key is enqueued: the same two, for each child that appears, and for
///    each that is deleted or marked for deletion.
/// 4. When the owner is gone, [`delete`](Self::delete).
///
/// Deletions are known by the child's key, so that an event heard twice (marked, then gone) counts once.
///
/// An event that never comes holds a key up for 5 minutes at most. Time is tokio's, so tests may pause it.
///
/// ```
/// use kubewright_controller::Expectations;
/// use kubewright_meta::ObjectKey;
///
/// let expectations = Expectations::new();
/// let web = ObjectKey::namespaced("shop", "web");
/// expectations.expect_creations(&web, 2);
/// expectations.creation_observed(&web);
/// assert!(!expectations.satisfied(&web));
/// expectations.creation_observed(&web);
/// assert!(expectations.satisfied(&web));
/// ```
#[derive(Debug, Default)]
pub struct Expectations {
    pending: Mutex<HashMap<ObjectKey, Pending>>,
}

#[derive(Debug)]
struct Pending {
    creations: usize,
    deletions: HashSet<ObjectKey>,
    since: Instant,
}

impl Pending {
    fn is_fulfilled(&self) -> bool {
        self.creations == 0 && self.deletions.is_empty()
    }

    fn is_expired(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.since) >= TIMEOUT
    }
}

impl Expectations {
    /// Nothing is expected.
    pub fn new() -> Self {
        Self::default()
    }

    /// `count` more children of `owner` are about to be created. The 5 minutes start anew.
    pub fn expect_creations(&self, owner: &ObjectKey, count: usize) {
        self.expect(owner, |pending| {
            pending.creations = pending.creations.saturating_add(count);
        });
    }

    /// These children of `owner` are about to be deleted. The 5 minutes start anew.
    pub fn expect_deletions(
        &self,
        owner: &ObjectKey,
        children: impl IntoIterator<Item = ObjectKey>,
    ) {
        // Collected first: a caller's iterator may use these expectations itself.
        let children: Vec<ObjectKey> = children.into_iter().collect();
        self.expect(owner, |pending| pending.deletions.extend(children));
    }

    /// A child of `owner` has appeared, or could not be created after all.
    pub fn creation_observed(&self, owner: &ObjectKey) {
        if let Some(pending) = self.pending.lock().get_mut(owner) {
            pending.creations = pending.creations.saturating_sub(1);
        }
    }

    /// A child of `owner` is gone or on its way, or could not be deleted after all. Of a child that was not expected
    /// to go nothing is noted.
    pub fn deletion_observed(&self, owner: &ObjectKey, child: &ObjectKey) {
        if let Some(pending) = self.pending.lock().get_mut(owner) {
            pending.deletions.remove(child);
        }
    }

    /// Whether the cache can be trusted to show what was last done for `owner`: everything expected was seen,
    /// nothing was expected, or 5 minutes have passed.
    pub fn satisfied(&self, owner: &ObjectKey) -> bool {
        let now = Instant::now();
        let mut all = self.pending.lock();
        let settled = |pending: &Pending| pending.is_fulfilled() || pending.is_expired(now);
        if all.get(owner).is_some_and(|pending| !settled(pending)) {
            return false;
        }
        let settled = all.remove(owner);
        drop(all);
        if let Some(expired) = settled.filter(|pending| !pending.is_fulfilled()) {
            tracing::warn!(
                %owner,
                creations = expired.creations,
                deletions = expired.deletions.len(),
                "expected changes were not seen within 5 minutes; going on without them"
            );
        }
        true
    }

    /// Forgets `owner`, which no longer exists.
    pub fn delete(&self, owner: &ObjectKey) {
        self.pending.lock().remove(owner);
    }

    fn expect(&self, owner: &ObjectKey, add: impl FnOnce(&mut Pending)) {
        let now = Instant::now();
        let mut all = self.pending.lock();
        let pending = all.entry(owner.clone()).or_insert_with(|| Pending {
            creations: 0,
            deletions: HashSet::new(),
            since: now,
        });
        // What has timed out would otherwise hold up for five minutes more.
        if pending.is_expired(now) {
            pending.creations = 0;
            pending.deletions.clear();
        }
        pending.since = now;
        add(pending);
    }
}
