//! Bookmarks, and the end of a watch.

use std::time::{Duration, Instant};

use super::watch::{from, number};
use crate::check::{Outcome, checks};
use crate::context::At;
use crate::objects::{config_map, lease};
use crate::{Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("watch_end":
        no_bookmarks_unless_asked_for,
        bookmarks_go_on_past_what_is_not_selected,
        a_timeout_ends_the_watch_cleanly,
        a_malformed_timeout_is_refused,
    )
}

async fn no_bookmarks_unless_asked_for(context: Context) -> Outcome {
    let start = context.list_version("configmaps").await?;
    let path = format!("{}&timeoutSeconds=4", from("configmaps", &start));
    let events = context.watch(&path).await?.rest().await?;
    ensure!(events.is_empty(), "nothing happened, but these came: {events:?}");
    Ok(())
}

/// B41.
async fn bookmarks_go_on_past_what_is_not_selected(context: Context) -> Outcome {
    let start = context.list_version("leases").await?;
    let options = "timeoutSeconds=5&allowWatchBookmarks=true&fieldSelector=metadata.name%3Dnobody";
    let mut watch = context.watch(&format!("{}&{options}", from("leases", &start))).await?;
    let unselected = number(&context.create("leases", lease("a")).await?.version())?;
    let mut last = number(&start)?;
    while let Some(event) = watch.next().await? {
        ensure_eq!(event.kind, "BOOKMARK", "nothing selected happened, so all that comes is a");
        let object = event.object;
        ensure_eq!(object.at("/kind"), "Lease", "the kind of a bookmark");
        ensure_eq!(object.at("/apiVersion"), "coordination.k8s.io/v1", "its version");
        ensure_eq!(object.at("/metadata/name"), "", "its name");
        let version = number(&object.version())?;
        ensure!(version >= last, "a bookmark goes back from {last} to {version}");
        last = version;
    }
    ensure!(last >= unselected, "no bookmark went beyond {last}, but {unselected} was written");
    Ok(())
}

async fn a_timeout_ends_the_watch_cleanly(context: Context) -> Outcome {
    let start = context.list_version("configmaps").await?;
    let began = Instant::now();
    let mut watch =
        context.watch(&format!("{}&timeoutSeconds=2", from("configmaps", &start))).await?;
    context.create("configmaps", config_map("a")).await?;
    watch.expect("ADDED", "a").await?;
    ensure!(watch.next().await?.is_none(), "something came instead of the end");
    let took = began.elapsed();
    let expected = Duration::from_millis(1500)..Duration::from_secs(8);
    ensure!(expected.contains(&took), "a watch of 2 s took {took:?}");
    Ok(())
}

async fn a_malformed_timeout_is_refused(context: Context) -> Outcome {
    context.get("configmaps?watch=1&timeoutSeconds=abc").await?.refused(400, "BadRequest")?;
    Ok(())
}
