//! Lists: their form, their order, and which state they are of.

use http::header::{HeaderValue, RETRY_AFTER};
use serde_json::{Value, json};

use crate::check::{Outcome, checks};
use crate::context::{At, names};
use crate::objects::{config_map, labelled, replica_set};
use crate::{Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("list":
        a_list_has_type_version_and_items,
        an_empty_list_has_items,
        items_are_in_order_of_name,
        all_namespaces_are_in_order_of_path,
        a_missing_namespace_has_an_empty_list,
        a_list_sees_what_was_written_before,
        version_zero_is_any_state,
        a_version_is_a_lower_bound,
        an_exact_version_is_that_state,
        a_limit_makes_a_version_exact,
        versions_from_the_future_time_out,
        malformed_versions_are_refused,
        match_rules_are_validated,
        initial_events_are_for_watches,
        malformed_numbers_are_refused,
        the_version_is_at_least_that_of_each_item,
    )
}

async fn a_list_has_type_version_and_items(c: Context) -> Outcome {
    let created = c.create("replicasets", replica_set("a")).await?;
    let list = c.read("replicasets").await?;
    ensure_eq!(list["kind"], "ReplicaSetList", "kind");
    ensure_eq!(list["apiVersion"], "apps/v1", "apiVersion");
    list.version_number()?;
    ensure_eq!(list["metadata"]["continue"], Value::Null, "continue");
    // Items of built-in kinds leave out what the list says already.
    let mut item = created;
    item.as_object_mut().map(|fields| (fields.remove("kind"), fields.remove("apiVersion")));
    ensure_eq!(list["items"], json!([item]), "items");
    Ok(())
}

async fn an_empty_list_has_items(c: Context) -> Outcome {
    for path in [
        "configmaps",
        "leases",
        "deployments",
        "configmaps?limit=5",
        "configmaps?resourceVersion=0",
    ] {
        ensure_eq!(c.read(path).await?["items"], json!([]), "items of {path}");
    }
    Ok(())
}

async fn items_are_in_order_of_name(c: Context) -> Outcome {
    for name in ["b", "a.b", "a", "a-b", "ab", "10", "9"] {
        c.create("configmaps", config_map(name)).await?;
    }
    let ordered = ["10", "9", "a", "a-b", "a.b", "ab", "b"];
    for path in ["configmaps", "configmaps?limit=100", "configmaps?resourceVersion=0"] {
        ensure_eq!(c.names(path).await?, ordered, "names of {path}");
    }
    Ok(())
}

async fn all_namespaces_are_in_order_of_path(c: Context) -> Outcome {
    let other = c.unique("2");
    let namespace = json!({"metadata": {"name": other, "labels": c.run_labels()}});
    c.create("namespaces", namespace).await?;
    let labels = json!({"contract": c.namespace()});
    c.create("configmaps", labelled("a", labels.clone())).await?;
    let path = format!("/api/v1/namespaces/{other}/configmaps");
    c.create(&path, labelled("b", labels)).await?;
    ensure_eq!(c.names("configmaps").await?, ["a"], "names in one namespace");
    // The other name sorts between this one and this one with a slash.
    let all = format!("/api/v1/configmaps?labelSelector=contract%3D{}", c.namespace());
    ensure_eq!(c.names(&all).await?, ["b", "a"], "names in all namespaces");
    Ok(())
}

async fn a_missing_namespace_has_an_empty_list(c: Context) -> Outcome {
    let path = format!("/api/v1/namespaces/{}/configmaps", c.unique("none"));
    ensure_eq!(c.names(&path).await?, Vec::<String>::new(), "names");
    Ok(())
}

async fn a_list_sees_what_was_written_before(c: Context) -> Outcome {
    for number in 0..10 {
        let created = c.create("configmaps", config_map("a")).await?;
        let list = c.read("configmaps").await?;
        ensure_eq!(names(&list), ["a"], "names after creation {number}");
        ensure!(
            list.version_number()? >= created.version_number()?,
            "the list is older than its item"
        );
        c.delete("configmaps/a").await?.expect(200)?;
        ensure_eq!(
            c.names("configmaps").await?.len(),
            0,
            "how many are left after deletion {number}"
        );
    }
    Ok(())
}

async fn version_zero_is_any_state(c: Context) -> Outcome {
    c.create("configmaps", config_map("a")).await?;
    for path in [
        "configmaps?resourceVersion=0",
        "configmaps?resourceVersion=0&resourceVersionMatch=NotOlderThan",
        "configmaps?resourceVersion=0&resourceVersionMatch=NotOlderThan&limit=5",
    ] {
        let list = c.read(path).await?;
        ensure!(list.version_number()? > 0, "{path}: {list}");
    }
    Ok(())
}

async fn a_version_is_a_lower_bound(c: Context) -> Outcome {
    let first = c.create("configmaps", config_map("a")).await?.version_number()?;
    let second = c.create("configmaps", config_map("b")).await?.version_number()?;
    for query in [
        format!("resourceVersion={second}"),
        format!("resourceVersion={second}&resourceVersionMatch=NotOlderThan"),
        format!("resourceVersion={second}&resourceVersionMatch=NotOlderThan&limit=9"),
    ] {
        let list = c.read(&format!("configmaps?{query}")).await?;
        ensure_eq!(names(&list), ["a", "b"], "names with {query}");
        ensure!(list.version_number()? >= second, "{} with {query}", list.version());
    }
    let list = c.read(&format!("configmaps?resourceVersion={first}")).await?;
    ensure!(list.version_number()? >= first, "{} with {first}", list.version());
    Ok(())
}

async fn an_exact_version_is_that_state(c: Context) -> Outcome {
    let first = c.create("configmaps", config_map("a")).await?.version();
    let second = c.merge("configmaps/a", json!({"data": {"k": "w"}})).await?.expect(200)?.version();
    c.create("configmaps", config_map("b")).await?;
    c.delete("configmaps/a").await?.expect(200)?;
    for (version, value) in [(first, "v"), (second, "w")] {
        let path = format!("configmaps?resourceVersion={version}&resourceVersionMatch=Exact");
        let list = c.read(&path).await?;
        ensure_eq!(list.version(), version, "the version of the list");
        ensure_eq!(names(&list), ["a"], "names at {version}");
        ensure_eq!(list.at("/items/0/data/k"), value, "value at {version}");
        ensure_eq!(list["items"][0].version(), version, "the item's version at {version}");
    }
    ensure_eq!(c.names("configmaps").await?, ["b"], "names now");
    Ok(())
}

async fn a_limit_makes_a_version_exact(c: Context) -> Outcome {
    let first = c.create("configmaps", config_map("a")).await?.version();
    c.create("configmaps", config_map("b")).await?;
    let list = c.read(&format!("configmaps?resourceVersion={first}&limit=9")).await?;
    ensure_eq!(names(&list), ["a"], "names");
    ensure_eq!(list.version(), first, "version");
    Ok(())
}

async fn versions_from_the_future_time_out(c: Context) -> Outcome {
    let future = c.create("configmaps", config_map("a")).await?.version_number()? + 1_000_000_000;
    for rule in
        ["", "&resourceVersionMatch=NotOlderThan", "&resourceVersionMatch=Exact", "&limit=5"]
    {
        let answer = c.get(&format!("configmaps?resourceVersion={future}{rule}")).await?;
        let retry_after = answer.headers.get(RETRY_AFTER).cloned();
        ensure_eq!(retry_after, Some(HeaderValue::from_static("1")), "Retry-After with {rule:?}");
        let status = answer.refused(504, "Timeout")?;
        ensure_eq!(
            status.at("/details/causes/0/reason"),
            "ResourceVersionTooLarge",
            "cause with {rule:?}"
        );
        ensure_eq!(status["details"]["retryAfterSeconds"], 1, "retryAfterSeconds with {rule:?}");
    }
    Ok(())
}

async fn malformed_versions_are_refused(c: Context) -> Outcome {
    for version in ["x", "-1", "1.5", "99999999999999999999999"] {
        for rule in ["", "&resourceVersionMatch=NotOlderThan", "&resourceVersionMatch=Exact"] {
            let path = format!("configmaps?resourceVersion={version}{rule}");
            c.get(&path).await?.refused(400, "BadRequest")?;
        }
    }
    Ok(())
}

async fn match_rules_are_validated(c: Context) -> Outcome {
    let field = "resourceVersionMatch";
    for (query, cause) in [
        ("resourceVersionMatch=Exact", "FieldValueForbidden"),
        ("resourceVersionMatch=NotOlderThan", "FieldValueForbidden"),
        ("resourceVersionMatch=Exact&resourceVersion=0", "FieldValueForbidden"),
        ("resourceVersionMatch=Nope&resourceVersion=1", "FieldValueNotSupported"),
        ("resourceVersionMatch=Exact&limit=1", "FieldValueForbidden"),
    ] {
        let status = c.get(&format!("configmaps?{query}")).await?.invalid(field, cause)?;
        ensure_eq!(status["details"]["kind"], "ListOptions", "kind in the details");
        ensure_eq!(status["details"]["group"], "meta.k8s.io", "group in the details");
    }
    Ok(())
}

async fn initial_events_are_for_watches(c: Context) -> Outcome {
    let answer = c.get("configmaps?sendInitialEvents=true").await?;
    answer.invalid("sendInitialEvents", "FieldValueForbidden")?;
    Ok(())
}

async fn malformed_numbers_are_refused(c: Context) -> Outcome {
    c.create("configmaps", config_map("a")).await?;
    for query in ["limit=x", "limit=1.5", "limit=", "timeoutSeconds=x"] {
        c.get(&format!("configmaps?{query}")).await?.refused(400, "BadRequest")?;
    }
    for query in ["limit=0", "limit=-1", "timeoutSeconds=5"] {
        ensure_eq!(c.names(&format!("configmaps?{query}")).await?, ["a"], "names with {query}");
    }
    Ok(())
}

async fn the_version_is_at_least_that_of_each_item(c: Context) -> Outcome {
    for name in ["a", "b", "c"] {
        c.create("configmaps", config_map(name)).await?;
    }
    c.merge("configmaps/a", json!({"data": {"k": "w"}})).await?.expect(200)?;
    let list = c.read("configmaps").await?;
    for item in list["items"].as_array().into_iter().flatten() {
        ensure!(item.version_number()? <= list.version_number()?, "the list is older than {item}");
    }
    Ok(())
}
