//! A few of the same, through the typed client: that both together are what a user sees.

use futures_util::future::try_join_all;
use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_client::{Api, Error};
use kubewright_meta::{DeleteOptions, ListOptions};

use crate::check::{Outcome, checks};
use crate::objects::config_map;
use crate::{Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("typed":
        an_object_is_written_read_and_deleted,
        refusals_have_their_predicates,
        a_stale_replacement_is_a_conflict,
        a_long_list_streams,
    )
}

fn api(c: &Context) -> Api<ConfigMap> {
    c.client().in_namespace(c.namespace())
}

fn object(name: &str) -> Result<ConfigMap, String> {
    serde_json::from_value(config_map(name)).map_err(|error| error.to_string())
}

fn told(error: Error) -> String {
    error.to_string()
}

async fn an_object_is_written_read_and_deleted(c: Context) -> Outcome {
    let api = api(&c);
    let mut created = api.create(&object("a")?, &Default::default()).await.map_err(told)?;
    created.data.get_or_insert_default().insert("k".into(), "w".into());
    let replaced = api.replace(&created, &Default::default()).await.map_err(told)?;
    let read = api.get("a", &Default::default()).await.map_err(told)?;
    ensure_eq!(read, replaced, "what is read");
    let listed = api.list(&ListOptions::default()).await.map_err(told)?;
    ensure_eq!(listed.items.len(), 1, "how many are listed");
    api.delete("a", &DeleteOptions::default()).await.map_err(told)?;
    let gone = api.get("a", &Default::default()).await;
    ensure!(gone.as_ref().is_err_and(Error::is_not_found), "expected not found, saw {gone:?}");
    Ok(())
}

async fn refusals_have_their_predicates(c: Context) -> Outcome {
    let api = api(&c);
    api.create(&object("a")?, &Default::default()).await.map_err(told)?;
    let again = api.create(&object("a")?, &Default::default()).await;
    ensure!(
        again.as_ref().is_err_and(Error::is_already_exists),
        "expected already exists, saw {again:?}"
    );
    let invalid = api.create(&object("A")?, &Default::default()).await;
    ensure!(invalid.as_ref().is_err_and(Error::is_invalid), "expected invalid, saw {invalid:?}");
    Ok(())
}

async fn a_stale_replacement_is_a_conflict(c: Context) -> Outcome {
    let api = api(&c);
    let mut object = api.create(&object("a")?, &Default::default()).await.map_err(told)?;
    for expected in [true, false] {
        object.data.get_or_insert_default().insert("k".into(), format!("{expected}"));
        let replaced = api.replace(&object, &Default::default()).await;
        let seen = match &replaced {
            Ok(_) => true,
            Err(error) => !error.is_conflict(),
        };
        ensure_eq!(seen, expected, "whether it was replaced: {replaced:?}");
    }
    Ok(())
}

async fn a_long_list_streams(c: Context) -> Outcome {
    let api = api(&c);
    let names: Vec<String> = (0..50).map(|number| format!("a{number:02}")).collect();
    try_join_all(names.iter().map(|name| c.create("configmaps", config_map(name)))).await?;
    let mut list = api.list_raw(&ListOptions::default()).await.map_err(told)?;
    let mut seen = Vec::new();
    while let Some(item) = list.next().await {
        seen.push(item.map_err(told)?.key().name().to_owned());
    }
    ensure_eq!(seen, names, "names");
    Ok(())
}
