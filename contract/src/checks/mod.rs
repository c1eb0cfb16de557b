//! All checks, by topic.

mod about;
mod bodies;
mod concurrency;
mod create;
mod custom_resources;
mod custom_subresources;
mod custom_types;
mod delete;
mod delete_collection;
mod discovery;
mod dry_run;
mod errors;
mod events;
mod finalizers;
mod get;
mod grace;
mod immutable;
mod list;
mod names;
mod namespaces;
mod pages;
mod patch;
mod patch_documents;
mod pods;
mod replace;
mod scale;
mod selectors;
mod status;
mod typed;
mod watch;
mod watch_end;
mod watch_selectors;

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
        watch_end::checks,
        watch_selectors::checks,
        replace::checks,
        immutable::checks,
        patch::checks,
        patch_documents::checks,
        delete::checks,
        delete_collection::checks,
        grace::checks,
        finalizers::checks,
        status::checks,
        scale::checks,
        pods::checks,
        namespaces::checks,
        events::checks,
        dry_run::checks,
        concurrency::checks,
        errors::checks,
        bodies::checks,
        discovery::checks,
        about::checks,
        custom_resources::checks,
        custom_subresources::checks,
        custom_types::checks,
        typed::checks,
    ];
    topics.iter().flat_map(|topic| topic()).collect()
}
