//! The options of the API verbs, and the query parameters they become.
//!
//! Every `Default` is what the API server does when nothing is said.

use std::borrow::Cow;
use std::time::Duration;

use serde::Serialize;

use crate::{FieldSelector, Selector};

/// Query parameters in the order they are sent.
type Params = Vec<(&'static str, Cow<'static, str>)>;

/// How a `resource_version` of a read is meant (`resourceVersionMatch`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResourceVersionMatch {
    /// At this version or a newer one.
    NotOlderThan,
    /// At exactly this version.
    Exact,
}

impl ResourceVersionMatch {
    fn as_str(self) -> &'static str {
        match self {
            Self::NotOlderThan => "NotOlderThan",
            Self::Exact => "Exact",
        }
    }
}

/// Options of `get`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GetOptions {
    /// The answer may be no older than this; `0` takes whatever the server has in its cache. Default: the
    /// newest state.
    pub resource_version: Option<String>,
}

impl GetOptions {
    /// The query parameters.
    pub fn params(&self) -> Params {
        let mut params = Params::new();
        push(&mut params, "resourceVersion", self.resource_version.clone());
        params
    }
}

/// Options of `list`, and of the reads that start with a list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListOptions {
    /// Only objects with such labels. Default: all.
    pub labels: Selector,
    /// Only objects with such fields. Default: all. Which fields can be selected depends on the kind.
    pub fields: FieldSelector,
    /// At most so many objects a page; the list says with which token to go on. Default: no pages.
    pub limit: Option<u32>,
    /// The token of the previous page (`continue`).
    pub continue_token: Option<String>,
    /// Read at a version; see [`ListOptions::resource_version_match`]. `0` takes what the server has in its
    /// cache. Default: the newest state.
    pub resource_version: Option<String>,
    /// How `resource_version` is meant. Default: not older than it.
    pub resource_version_match: Option<ResourceVersionMatch>,
    /// How long the server may take, in whole seconds, rounded up (`timeoutSeconds`).
    pub timeout: Option<Duration>,
}

impl ListOptions {
    /// Everything the selector matches.
    pub fn with_labels(labels: Selector) -> Self {
        Self { labels, ..Self::default() }
    }

    /// The query parameters.
    pub fn params(&self) -> Params {
        let mut params = selector_params(&self.labels, &self.fields);
        push(&mut params, "limit", self.limit.map(|limit| limit.to_string()));
        push(&mut params, "continue", self.continue_token.clone());
        push(&mut params, "resourceVersion", self.resource_version.clone());
        push_match(&mut params, self.resource_version_match);
        push_timeout(&mut params, self.timeout);
        params
    }
}

/// Options of `watch`.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchOptions {
    /// Only objects with such labels. Default: all.
    pub labels: Selector,
    /// Only objects with such fields. Default: all.
    pub fields: FieldSelector,
    /// Changes after this version. Default: the server first sends synthetic events for what exists.
    pub resource_version: Option<String>,
    /// How `resource_version` is meant; only with `send_initial_events`.
    pub resource_version_match: Option<ResourceVersionMatch>,
    /// Whether the server may send bookmarks, events that only carry a version. Default: true.
    pub bookmarks: bool,
    /// Ask for the existing objects as events, ended by a marked bookmark. Default: not asked for.
    pub send_initial_events: Option<bool>,
    /// When the server ends the watch, in whole seconds, rounded up (`timeoutSeconds`). Default: the
    /// server's, between half an hour and an hour.
    pub timeout: Option<Duration>,
}

impl Default for WatchOptions {
    fn default() -> Self {
        Self {
            labels: Selector::default(),
            fields: FieldSelector::default(),
            resource_version: None,
            resource_version_match: None,
            bookmarks: true,
            send_initial_events: None,
            timeout: None,
        }
    }
}

impl WatchOptions {
    /// Changes after `resource_version`, as a list has given it.
    pub fn from_version(resource_version: impl Into<String>) -> Self {
        Self { resource_version: Some(resource_version.into()), ..Self::default() }
    }

    /// The query parameters, `watch=true` included.
    pub fn params(&self) -> Params {
        let mut params = vec![("watch", Cow::Borrowed("true"))];
        params.extend(selector_params(&self.labels, &self.fields));
        push(&mut params, "resourceVersion", self.resource_version.clone());
        push_match(&mut params, self.resource_version_match);
        push(&mut params, "allowWatchBookmarks", self.bookmarks.then_some("true"));
        push(&mut params, "sendInitialEvents", self.send_initial_events.map(bool_text));
        push_timeout(&mut params, self.timeout);
        params
    }
}

/// Options of `create`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CreateOptions {
    /// Check and answer as if created, but store nothing.
    pub dry_run: bool,
    /// Who owns the fields, at most 128 characters. Default: the server takes it from the user agent.
    pub field_manager: Option<String>,
}

impl CreateOptions {
    /// The query parameters.
    pub fn params(&self) -> Params {
        write_params(self.dry_run, self.field_manager.as_ref())
    }
}

/// Options of `replace` (`update` in client-go).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplaceOptions {
    /// Check and answer as if replaced, but store nothing.
    pub dry_run: bool,
    /// Who owns the fields, at most 128 characters. Default: the server takes it from the user agent.
    pub field_manager: Option<String>,
}

impl ReplaceOptions {
    /// The query parameters.
    pub fn params(&self) -> Params {
        write_params(self.dry_run, self.field_manager.as_ref())
    }
}

/// Options of `patch`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PatchOptions {
    /// Check and answer as if patched, but store nothing.
    pub dry_run: bool,
    /// Who owns the fields, at most 128 characters; required for server-side apply.
    pub field_manager: Option<String>,
    /// Server-side apply only: take over fields that another manager owns.
    pub force: bool,
}

impl PatchOptions {
    /// The query parameters.
    pub fn params(&self) -> Params {
        let mut params = write_params(self.dry_run, self.field_manager.as_ref());
        push(&mut params, "force", self.force.then_some("true"));
        params
    }
}

/// What happens to the objects that the deleted one owns (`propagationPolicy`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum PropagationPolicy {
    /// They stay, without their owner reference.
    Orphan,
    /// The garbage collector deletes them afterwards.
    Background,
    /// They go first; the owner stays, marked for deletion, until those that block it are gone.
    Foreground,
}

/// What must hold for a delete to happen; otherwise the server answers Conflict.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Preconditions {
    /// The object's uid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// The object's resourceVersion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<String>,
}

/// Options of `delete` and `delete_collection`; they travel as the body of the request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeleteOptions {
    /// Check and answer as if deleted, but delete nothing.
    pub dry_run: bool,
    /// How long the object may take to end, in whole seconds, rounded up; zero deletes at once. Default:
    /// the kind's own, 30 s for pods.
    pub grace_period: Option<Duration>,
    /// What must hold.
    pub preconditions: Option<Preconditions>,
    /// What happens to dependants. Default: the kind's own, `Background` for most.
    pub propagation: Option<PropagationPolicy>,
}

impl DeleteOptions {
    /// With a propagation policy.
    pub fn with_propagation(policy: PropagationPolicy) -> Self {
        Self { propagation: Some(policy), ..Self::default() }
    }

    /// Only the object with this uid, so that one created again under the same name is left alone.
    pub fn with_uid(uid: impl Into<String>) -> Self {
        let preconditions = Preconditions { uid: Some(uid.into()), resource_version: None };
        Self { preconditions: Some(preconditions), ..Self::default() }
    }

    /// The body to send: a `v1` `DeleteOptions` document.
    pub fn body(&self) -> impl Serialize + '_ {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Body<'a> {
            api_version: &'static str,
            kind: &'static str,
            #[serde(skip_serializing_if = "Option::is_none")]
            grace_period_seconds: Option<u64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            preconditions: Option<&'a Preconditions>,
            #[serde(skip_serializing_if = "Option::is_none")]
            propagation_policy: Option<PropagationPolicy>,
            #[serde(skip_serializing_if = "Option::is_none")]
            dry_run: Option<[&'static str; 1]>,
        }
        Body {
            api_version: "v1",
            kind: "DeleteOptions",
            grace_period_seconds: self.grace_period.map(whole_seconds),
            preconditions: self.preconditions.as_ref(),
            propagation_policy: self.propagation,
            dry_run: self.dry_run.then_some(["All"]),
        }
    }
}

fn selector_params(labels: &Selector, fields: &FieldSelector) -> Params {
    let mut params = Params::new();
    push(&mut params, "labelSelector", Some(labels.to_string()).filter(|text| !text.is_empty()));
    push(&mut params, "fieldSelector", Some(fields.to_string()).filter(|text| !text.is_empty()));
    params
}

fn write_params(dry_run: bool, field_manager: Option<&String>) -> Params {
    let mut params = Params::new();
    push(&mut params, "dryRun", dry_run.then_some("All"));
    push(&mut params, "fieldManager", field_manager.cloned());
    params
}

fn push_match(params: &mut Params, rule: Option<ResourceVersionMatch>) {
    push(params, "resourceVersionMatch", rule.map(ResourceVersionMatch::as_str));
}

fn push_timeout(params: &mut Params, timeout: Option<Duration>) {
    push(params, "timeoutSeconds", timeout.map(|timeout| whole_seconds(timeout).to_string()));
}

fn push(params: &mut Params, name: &'static str, value: Option<impl Into<Cow<'static, str>>>) {
    params.extend(value.map(|value| (name, value.into())));
}

fn bool_text(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

/// The API counts in whole seconds of 63 bits; rounding up never cuts what was asked for to nothing.
fn whole_seconds(duration: Duration) -> u64 {
    let seconds = duration.as_secs();
    seconds.saturating_add(u64::from(duration.subsec_nanos() > 0)).min(i64::MAX as u64)
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
