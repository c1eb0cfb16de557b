//! Faults on request: what networks and busy servers do, at a chosen moment.

mod aim;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use kubewright_meta::StatusError;
use parking_lot::{Mutex, RwLock};

use self::aim::ANY;
use crate::Error;
use crate::api::Verb;
use crate::kinds::Registry;
use crate::protocol::Target;

/// The faults a server will show. See [`DevServer::faults`](crate::DevServer::faults).
///
/// ```
/// # use kubewright_devserver::{DevServer, Fault};
/// # use kubewright_meta::{Reason, StatusError};
/// # fn main() -> Result<(), kubewright_devserver::Error> {
/// let server = DevServer::new();
/// // The second update of pods meets a conflict.
/// let busy = StatusError::of(Reason::Conflict, "somebody was faster");
/// let fault = server.faults().inject(Fault::on("update", "pods").after(1).answer(busy))?;
/// assert_eq!(fault.hits(), 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Faults {
    registry: Arc<RwLock<Arc<Registry>>>,
    rules: Arc<Mutex<Vec<Arc<Rule>>>>,
}

/// Which requests meet a fault, and what happens to them. Without an effect nothing happens, but
/// [`FaultHandle::hits`] still counts.
#[derive(Clone, Debug)]
pub struct Fault {
    verb: String,
    resource: String,
    skip: u32,
    times: u32,
    effects: Effects,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Effects {
    pub(crate) delay: Option<Duration>,
    pub(crate) drop_request: bool,
    pub(crate) answer: Option<StatusError>,
    pub(crate) lose_answer: bool,
    pub(crate) cut_after: Option<u64>,
}

struct Rule {
    fault: Fault,
    seen: AtomicU32,
}

/// An injected fault: counts its hits, and can be taken back.
pub struct FaultHandle {
    faults: Faults,
    rule: Arc<Rule>,
}

impl Fault {
    /// The next request with this verb (`get`, `list`, `watch`, `create`, `update`, `patch`, `delete`,
    /// `deletecollection`) on this resource (`pods`, `pods/status`, `replicasets.apps`). `*` stands for any. The
    /// group may be left out where no other has such a resource.
    pub fn on(verb: impl Into<String>, resource: impl Into<String>) -> Self {
        Self {
            verb: verb.into(),
            resource: resource.into(),
            skip: 0,
            times: 1,
            effects: Effects::default(),
        }
    }

    /// So many requests instead of one.
    #[must_use]
    pub fn times(mut self, times: u32) -> Self {
        self.times = times;
        self
    }

    /// Lets so many matching requests pass first.
    #[must_use]
    pub fn after(mut self, requests: u32) -> Self {
        self.skip = requests;
        self
    }

    /// Waits, on tokio's clock, before anything else.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.effects.delay = Some(delay);
        self
    }

    /// Refuses without acting.
    #[must_use]
    pub fn answer(mut self, refusal: StatusError) -> Self {
        self.effects.answer = Some(refusal);
        self
    }

    /// Breaks the connection without acting.
    #[must_use]
    pub fn drop_request(mut self) -> Self {
        self.effects.drop_request = true;
        self
    }

    /// Acts, then breaks the connection without an answer: the client cannot know whether it happened.
    #[must_use]
    pub fn lose_answer(mut self) -> Self {
        self.effects.lose_answer = true;
        self
    }

    /// Breaks the connection after so many bytes of the answer's body, of a watch or of anything else.
    #[must_use]
    pub fn cut_after(mut self, bytes: u64) -> Self {
        self.effects.cut_after = Some(bytes);
        self
    }

    fn matches(&self, verb: &str, resource: &str) -> bool {
        (self.verb == ANY || self.verb == verb)
            && (self.resource == ANY || self.resource == resource)
    }
}

impl Faults {
    pub(crate) fn of(registry: Arc<RwLock<Arc<Registry>>>) -> Self {
        Self { registry, rules: Arc::default() }
    }

    /// Adds a fault, which stays when the handle is dropped. Where several match a request, each counts it, and all
    /// their effects apply.
    ///
    /// # Errors
    /// [`Error::is_invalid_fault`]: no request could ever meet it, as the server does not know such a resource (yet),
    /// or the resource has no such verb.
    pub fn inject(&self, mut fault: Fault) -> Result<FaultHandle, Error> {
        let registry = self.registry.read().clone();
        fault.resource = aim::resolve(&registry, &fault.verb, &fault.resource)?;
        let rule = Arc::new(Rule { fault, seen: AtomicU32::new(0) });
        self.rules.lock().push(rule.clone());
        Ok(FaultHandle { faults: self.clone(), rule })
    }

    /// Takes all faults back.
    pub fn clear(&self) {
        self.rules.lock().clear();
    }

    pub(crate) fn meet(&self, verb: Verb, target: &Target) -> Effects {
        let rules = self.rules.lock();
        if rules.is_empty() {
            return Effects::default();
        }
        let resource = target.resource();
        let mut all = Effects::default();
        for rule in rules.iter().filter(|rule| rule.fault.matches(verb.as_str(), &resource)) {
            let seen = rule.seen.fetch_add(1, Ordering::Relaxed);
            let fault = &rule.fault;
            if seen >= fault.skip && seen - fault.skip < fault.times {
                all.add(&fault.effects);
            }
        }
        all
    }
}

impl Effects {
    fn add(&mut self, other: &Self) {
        self.delay = self.delay.max(other.delay);
        self.drop_request |= other.drop_request;
        self.answer = self.answer.take().or_else(|| other.answer.clone());
        self.lose_answer |= other.lose_answer;
        self.cut_after = self.cut_after.into_iter().chain(other.cut_after).min();
    }
}

impl FaultHandle {
    /// How many requests have met the fault.
    pub fn hits(&self) -> u32 {
        let fault = &self.rule.fault;
        self.rule.seen.load(Ordering::Relaxed).saturating_sub(fault.skip).min(fault.times)
    }

    /// Takes the fault back.
    pub fn remove(self) {
        self.faults.rules.lock().retain(|rule| !Arc::ptr_eq(rule, &self.rule));
    }
}

impl fmt::Debug for FaultHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fault = &self.rule.fault;
        write!(
            f,
            "FaultHandle({} {}, {} of {} hits)",
            fault.verb,
            fault.resource,
            self.hits(),
            fault.times
        )
    }
}
