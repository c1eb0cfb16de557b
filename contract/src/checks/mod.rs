//! All checks, by topic.

mod concurrency;
mod create;
mod custom_resources;
mod delete;
mod discovery;
mod dry_run;
mod errors;
mod events;
mod finalizers;
mod get;
mod list;
mod names;
mod namespaces;
mod pages;
mod patch;
mod replace;
mod selectors;
mod status_scale;
mod watch;

use crate::Check;

/// All of them, topic by topic.
pub fn checks() -> Vec<Check> {
    let topics = [
        create::checks,
        names::checks,
        get::checks,
        list::checks,
        selectors::checks,
        pages::checks,
        watch::checks,
        replace::checks,
        patch::checks,
        delete::checks,
        finalizers::checks,
        status_scale::checks,
        namespaces::checks,
        events::checks,
        dry_run::checks,
        concurrency::checks,
        errors::checks,
        discovery::checks,
        custom_resources::checks,
    ];
    topics.iter().flat_map(|topic| topic()).collect()
}
