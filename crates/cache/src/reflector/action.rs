//! What a reflector is asked to read, and what it asks to be done.

use std::time::Duration;

use kubewright_meta::{FieldSelector, ListOptions, Selector, WatchOptions};

use crate::Delta;

/// What a reflector reads, and how.
#[derive(Clone, Debug, Default)]
pub struct ReflectorOptions {
    /// Only objects with such labels. Default: all.
    pub labels: Selector,
    /// Only objects with such fields. Default: all.
    pub fields: FieldSelector,
    /// How many objects a page of every list has. Default: 500 where the server's watch cache is not asked,
    /// otherwise no pages. 0: never pages.
    pub page_size: Option<u32>,
    /// Watches are asked to last between this and twice this, at random. At least one second, at most one day.
    /// Default: 5 minutes.
    pub min_watch_timeout: Option<Duration>,
    /// Keep `metadata.managedFields`. Default: no.
    pub keep_managed_fields: bool,
    /// Starts the random numbers, for tests. Default: by chance.
    pub seed: Option<u64>,
}

/// One request of a reflector. Whatever comes of it is given to the [`ReflectorCore`](crate::ReflectorCore) with this;
/// what comes when another request has been made since, or behind the end, is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call(pub(super) u64);

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Read one page of a list, giving each object to [`list_item`](crate::ReflectorCore::list_item), then
    /// [`list_end`](crate::ReflectorCore::list_end) or [`list_failed`](crate::ReflectorCore::list_failed).
    List(Call, ListOptions),
    /// Watch, giving each event to [`watch_event`](crate::ReflectorCore::watch_event), until that says to stop, or
    /// [`watch_ended`](crate::ReflectorCore::watch_ended).
    Watch(Call, WatchOptions),
    /// Wait, then ask again.
    Sleep(Duration),
}

/// What an event of a watch leads to.
#[derive(Debug)]
pub enum Step<K> {
    /// Put this into the queue and go on.
    Push(Delta<K>),
    /// Go on.
    Continue,
    /// Close the watch and ask for the next action. `watch_ended` need not be called.
    Stop,
}
