//! `delete`: at once, after a grace period, or when the last finalizer is gone.

use http::{Response, StatusCode};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Status, StatusDetails};
use kubewright_meta::{Object, PropagationPolicy, Unstructured};
use serde_json::Value;

use super::delete_options::DeleteOptions;
use super::{Call, admission};
use crate::clock::{self, Clock};
use crate::failure::{self, Result};
use crate::kinds::ResourceKind;
use crate::protocol::{self, Body};
use crate::store::State;

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

pub(super) fn delete(call: &Call<'_>) -> Result<Response<Body>> {
    let options = DeleteOptions::read(call)?;
    let mut state = call.server.store.lock();
    let outcome = delete_one(
        &mut state,
        &call.server.clock,
        call.kind(),
        &call.key(),
        call.name(),
        &options,
    )?;
    answer(call.kind(), &options, outcome)
}

/// The object as the deletion left it.
pub(super) enum Outcome {
    Gone(Unstructured),
    Stays(Unstructured),
}

fn answer(
    kind: &ResourceKind,
    options: &DeleteOptions,
    outcome: Outcome,
) -> Result<Response<Body>> {
    let (object, code) = match outcome {
        Outcome::Gone(object) if !kind.rules.returns_deleted => {
            let details = StatusDetails {
                name: object.metadata.name,
                group: Some(kind.group.to_string()).filter(|group| !group.is_empty()),
                kind: Some(kind.plural.to_string()),
                uid: object.metadata.uid,
                ..StatusDetails::default()
            };
            let status = Status {
                status: Some("Success".into()),
                details: Some(details),
                ..Status::default()
            };
            return Ok(protocol::status(StatusCode::OK, &status));
        }
        Outcome::Stays(object) if options.accepted_when_it_stays => (object, StatusCode::ACCEPTED),
        Outcome::Gone(object) | Outcome::Stays(object) => (object, StatusCode::OK),
    };
    Ok(protocol::json(code, protocol::unstored_bytes(kind, object)?))
}

/// Deletes the object at `key`, or takes it as far as it goes now.
pub(super) fn delete_one(
    state: &mut State,
    clock: &Clock,
    kind: &ResourceKind,
    key: &str,
    name: &str,
    options: &DeleteOptions,
) -> Result<Outcome> {
    admission::check_delete(kind, name)?;
    let Some(held) = state.get(kind, key) else {
        return Err(failure::not_found(kind, name));
    };
    let object = held.decode()?;
    check_preconditions(kind, &object, options)?;
    let deletion = Deletion { state, clock, kind, key, dry_run: options.dry_run };
    if kind.is_namespace() {
        deletion.namespace(object, options)
    } else {
        deletion.plain(object, options)
    }
}

fn check_preconditions(
    kind: &ResourceKind,
    object: &Unstructured,
    options: &DeleteOptions,
) -> Result<()> {
    if let Some(uid) = options.uid.as_deref().filter(|uid| *uid != object.uid()) {
        let why = format!(
            "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been deleted and then recreated",
            object.uid()
        );
        return Err(failure::precondition(kind, object.name(), &why));
    }
    let version = options.resource_version.as_deref();
    if let Some(version) = version.filter(|version| *version != object.resource_version()) {
        let why = format!(
            "the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record ({}). The object might have been modified",
            object.resource_version()
        );
        return Err(failure::precondition(kind, object.name(), &why));
    }
    Ok(())
}

struct Deletion<'a> {
    state: &'a mut State,
    clock: &'a Clock,
    kind: &'a ResourceKind,
    key: &'a str,
    dry_run: bool,
}

/// What grace means for this request.
enum Grace {
    /// The kind or the object has none.
    None,
    /// The object ends after so many seconds; its metadata says so now.
    Ends(i64),
    /// It is ending already, and this request does not shorten that.
    Pending,
}

impl Deletion<'_> {
    fn plain(mut self, mut object: Unstructured, options: &DeleteOptions) -> Result<Outcome> {
        let grace = self.grace(&mut object, options);
        if matches!(grace, Grace::Pending) {
            return Ok(Outcome::Stays(object));
        }
        collector_finalizers(&mut object, options.propagation);
        let waits = !object.finalizers().is_empty();
        match grace {
            Grace::Ends(seconds) if seconds > 0 || waits => self.keep(object),
            Grace::Ends(_) => {
                // As a real server, which first writes the shortened period and then removes the object.
                let object = self.store(object)?;
                self.remove(object)
            }
            Grace::None | Grace::Pending if waits => {
                self.mark(&mut object);
                self.keep(object)
            }
            Grace::None | Grace::Pending => self.remove(object),
        }
    }

    /// Namespaces end in two steps: first they are marked, and when their content is gone somebody empties
    /// `spec.finalizers` through `/finalize`.
    fn namespace(self, mut object: Unstructured, options: &DeleteOptions) -> Result<Outcome> {
        if object.metadata.deletion_timestamp.is_none() {
            object.metadata.deletion_timestamp = Some(self.clock.timestamp());
            object.set_field(&["status", "phase"], "Terminating");
            collector_finalizers(&mut object, options.propagation);
            return self.keep(object);
        }
        let finalizers = object.field(&["spec", "finalizers"]).and_then(Value::as_array);
        if finalizers.is_some_and(|finalizers| !finalizers.is_empty()) {
            return Ok(Outcome::Stays(object));
        }
        self.plain(object, options)
    }

    fn grace(&self, object: &mut Unstructured, options: &DeleteOptions) -> Grace {
        if !self.kind.rules.graceful {
            return Grace::None;
        }
        if let Some(ends) =
            object.metadata.deletion_timestamp.as_ref().map(|time| time.0.as_second())
        {
            let period = object.metadata.deletion_grace_period_seconds.unwrap_or(0);
            return match options.grace_period {
                _ if period == 0 => Grace::None,
                Some(shorter) if shorter < period => {
                    let started = ends.saturating_sub(period);
                    object.metadata.deletion_timestamp =
                        Some(clock::at_second(started.saturating_add(shorter)));
                    object.metadata.deletion_grace_period_seconds = Some(shorter);
                    Grace::Ends(shorter)
                }
                _ => Grace::Pending,
            };
        }
        let period = grace_period(object, options);
        object.metadata.deletion_timestamp = Some(self.clock.timestamp_after(period));
        object.metadata.deletion_grace_period_seconds = Some(period);
        raise_generation(object);
        Grace::Ends(period)
    }

    /// Marks an object that only waits for its finalizers.
    fn mark(&self, object: &mut Unstructured) {
        let now = self.clock.timestamp();
        if object.metadata.deletion_timestamp.is_none() {
            raise_generation(object);
        }
        if object.metadata.deletion_timestamp.as_ref().is_none_or(|time| time.0 > now.0) {
            object.metadata.deletion_timestamp = Some(now);
        }
        object.metadata.deletion_grace_period_seconds = Some(0);
    }

    fn keep(mut self, object: Unstructured) -> Result<Outcome> {
        Ok(Outcome::Stays(self.store(object)?))
    }

    /// Writes the object unless nothing has changed.
    fn store(&mut self, object: Unstructured) -> Result<Unstructured> {
        let held = self.state.get(self.kind, self.key).map(|held| held.decode()).transpose()?;
        let same = held
            .is_some_and(|held| held.metadata == object.metadata && held.fields == object.fields);
        if same || self.dry_run { Ok(object) } else { self.state.put(self.kind, object)?.decode() }
    }

    fn remove(self, object: Unstructured) -> Result<Outcome> {
        if self.dry_run {
            return Ok(Outcome::Gone(object));
        }
        match self.state.remove(self.kind, self.key)? {
            Some(last) => Ok(Outcome::Gone(last.decode()?)),
            None => Ok(Outcome::Gone(object)),
        }
    }
}

/// How long a pod gets: nothing where no node runs it or where it has ended.
fn grace_period(pod: &Unstructured, options: &DeleteOptions) -> i64 {
    let text = |path: &[&str]| pod.field(path).and_then(Value::as_str).unwrap_or_default();
    let idle = text(&["spec", "nodeName"]).is_empty();
    if idle || ["Failed", "Succeeded"].contains(&text(&["status", "phase"])) {
        return 0;
    }
    let own = || {
        pod.field(&["spec", "terminationGracePeriodSeconds"]).and_then(Value::as_i64).unwrap_or(0)
    };
    match options.grace_period.unwrap_or_else(own) {
        ..0 => 1,
        period => period,
    }
}

/// Sets the finalizers that the garbage collector handles. Without a policy those already there decide.
fn collector_finalizers(object: &mut Unstructured, policy: Option<PropagationPolicy>) {
    let wanted = match policy {
        None => return,
        Some(PropagationPolicy::Orphan) => Some(ORPHAN),
        Some(PropagationPolicy::Foreground) => Some(FOREGROUND),
        Some(PropagationPolicy::Background) => None,
    };
    let finalizers = object.metadata.finalizers.get_or_insert_default();
    finalizers.retain(|finalizer| {
        Some(finalizer.as_str()) == wanted || ![ORPHAN, FOREGROUND].contains(&&**finalizer)
    });
    if let Some(wanted) =
        wanted.filter(|wanted| !finalizers.iter().any(|finalizer| finalizer == wanted))
    {
        finalizers.push(wanted.to_owned());
    }
    object.metadata.finalizers.take_if(|finalizers| finalizers.is_empty());
}

fn raise_generation(object: &mut Unstructured) {
    if let Some(generation) =
        object.metadata.generation.as_mut().filter(|generation| **generation > 0)
    {
        // Kinds that do not count generations keep whatever number they were created with.
        *generation = generation.saturating_add(1);
    }
}
