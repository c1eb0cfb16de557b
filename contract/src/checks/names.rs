//! Names: which are allowed, which are made up, and how they stand in a path.

use serde_json::{Value, json};

use crate::check::{Outcome, checks};
use crate::context::At;
use crate::objects::config_map;
use crate::{Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("names":
        a_name_is_required,
        names_are_dns_subdomains,
        names_of_namespaces_are_labels,
        names_of_services_are_labels,
        labels_are_validated,
        annotations_are_validated,
        finalizers_are_validated,
        owners_are_validated,
        made_up_names_begin_with_the_prefix,
        a_long_prefix_is_cut,
        a_name_wins_over_a_prefix,
        names_are_unescaped_once,
        names_that_are_path_segments_are_refused,
    )
}

async fn a_name_is_required(c: Context) -> Outcome {
    for metadata in [json!({}), json!({"name": ""}), json!({"generateName": ""}), Value::Null] {
        let answer = c.post("configmaps", json!({"metadata": metadata})).await?;
        answer.invalid("metadata.name", "FieldValueRequired")?;
    }
    Ok(())
}

async fn names_are_dns_subdomains(c: Context) -> Outcome {
    let longest = "a".repeat(253);
    for good in ["a", "0", "a-b.c-d", "a.b", "1.2", longest.as_str()] {
        c.create("configmaps", config_map(good)).await?;
        ensure_eq!(c.read(&format!("configmaps/{good}")).await?.at("/metadata/name"), good, "name");
    }
    let long = "a".repeat(254);
    for bad in
        ["A", "-a", "a-", ".a", "a..b", "a_b", "a b", "a/b", "..", "a%b", "ü", "a\n", long.as_str()]
    {
        let answer = c.post("configmaps", config_map(bad)).await?;
        answer.invalid("metadata.name", "FieldValueInvalid")?;
    }
    Ok(())
}

async fn names_of_namespaces_are_labels(c: Context) -> Outcome {
    for bad in ["a.b".to_owned(), "A".to_owned(), "a".repeat(64)] {
        let answer = c.post("namespaces", json!({"metadata": {"name": bad}})).await?;
        answer.invalid("metadata.name", "FieldValueInvalid")?;
    }
    Ok(())
}

async fn names_of_services_are_labels(c: Context) -> Outcome {
    let service =
        |name: &str| json!({"metadata": {"name": name}, "spec": {"ports": [{"port": 80}]}});
    for bad in ["a.b", "A", "-a"] {
        c.post("services", service(bad)).await?.invalid("metadata.name", "FieldValueInvalid")?;
    }
    c.create("services", service("a-1")).await?;
    Ok(())
}

async fn labels_are_validated(c: Context) -> Outcome {
    let with = |labels: Value| json!({"metadata": {"name": "a", "labels": labels}});
    let long = "x".repeat(64);
    for bad in [
        json!({"a": "-"}),
        json!({"a": "b c"}),
        json!({"a": long}),
        json!({"": "a"}),
        json!({"a/b/c": "d"}),
        json!({"/a": "b"}),
        json!({"A.test/a": "b"}),
        json!({ long.clone(): "a" }),
    ] {
        let answer = c.post("configmaps", with(bad)).await?;
        answer.invalid("metadata.labels", "FieldValueInvalid")?;
    }
    let good = json!({"a": "", "lab.test/A_b.c": "A_b.c-1", "9": "x".repeat(63)});
    let created = c.create("configmaps", with(good.clone())).await?;
    ensure_eq!(created["metadata"]["labels"], good, "labels");
    // A number is no text, and that is found before anything is validated.
    c.post("configmaps", with(json!({"a": 1}))).await?.refused(400, "BadRequest")?;
    Ok(())
}

async fn annotations_are_validated(c: Context) -> Outcome {
    let with = |name: &str, annotations: Value| json!({"metadata": {"name": name, "annotations": annotations}});
    let answer = c.post("configmaps", with("a", json!({"a/b/c": ""}))).await?;
    answer.invalid("metadata.annotations", "FieldValueInvalid")?;
    let answer = c.post("configmaps", with("a", json!({"a": "x".repeat(256 << 10)}))).await?;
    answer.invalid("metadata.annotations", "FieldValueTooLong")?;
    // Keys may have capitals before the slash, as labels may not; values are any text.
    let good = json!({"LAB.test/a": "ü\n🦀 {}", "a": "x".repeat((256 << 10) - 200)});
    let created = c.create("configmaps", with("a", good.clone())).await?;
    ensure_eq!(created["metadata"]["annotations"], good, "annotations");
    Ok(())
}

async fn finalizers_are_validated(c: Context) -> Outcome {
    let first = "metadata.finalizers[0]";
    for (bad, field) in [("x", first), ("", first), ("a b/c", "metadata.finalizers")] {
        let object = json!({"metadata": {"name": "a", "finalizers": [bad]}});
        c.post("configmaps", object).await?.invalid(field, "FieldValueInvalid")?;
    }
    let standard = json!({"metadata": {"name": "a", "finalizers": ["orphan", "lab.test/a"]}});
    c.create("configmaps", standard).await?;
    let both = json!({"metadata": {"name": "b", "finalizers": ["orphan", "foregroundDeletion"]}});
    c.post("configmaps", both).await?.invalid("metadata.finalizers", "FieldValueInvalid")?;
    Ok(())
}

async fn owners_are_validated(c: Context) -> Outcome {
    let with = |owners: Value| json!({"metadata": {"name": "a", "ownerReferences": owners}});
    let answer = c.post("configmaps", with(json!([{}]))).await?;
    for field in ["apiVersion", "kind", "name", "uid"] {
        answer
            .clone()
            .invalid(&format!("metadata.ownerReferences[0].{field}"), "FieldValueRequired")?;
    }
    let owner = |uid: &str, controller: bool| json!({"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": uid, "controller": controller});
    let answer = c.post("configmaps", with(json!([owner("1", true), owner("2", true)]))).await?;
    answer.invalid("metadata.ownerReferences", "FieldValueInvalid")?;
    let good = json!([owner("1", true), owner("2", false)]);
    let created = c.create("configmaps", with(good.clone())).await?;
    ensure_eq!(created["metadata"]["ownerReferences"], good, "owners, who need not exist");
    Ok(())
}

async fn made_up_names_begin_with_the_prefix(c: Context) -> Outcome {
    let object = json!({"metadata": {"generateName": "a-"}});
    let first = c.create("configmaps", object.clone()).await?;
    let second = c.create("configmaps", object).await?;
    for created in [&first, &second] {
        let name = created.at("/metadata/name");
        let suffix = name.strip_prefix("a-").unwrap_or_default();
        let fine = suffix.len() >= 5
            && suffix.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        ensure!(fine, "not a name with the prefix a-: {name:?}");
        ensure_eq!(created.at("/metadata/generateName"), "a-", "generateName");
    }
    ensure!(
        first["metadata"]["name"] != second["metadata"]["name"],
        "both are {}",
        first["metadata"]["name"]
    );
    let bad = c.post("configmaps", json!({"metadata": {"generateName": "A_"}})).await?;
    bad.clone().invalid("metadata.generateName", "FieldValueInvalid")?;
    bad.invalid("metadata.name", "FieldValueInvalid")?;
    Ok(())
}

async fn a_long_prefix_is_cut(c: Context) -> Outcome {
    let prefix = "a".repeat(100);
    let created = c.create("configmaps", json!({"metadata": {"generateName": prefix}})).await?;
    let name = created.at("/metadata/name");
    ensure!(name.len() <= 63, "{} bytes: {name}", name.len());
    ensure_eq!(created.at("/metadata/generateName"), prefix, "generateName");
    Ok(())
}

async fn a_name_wins_over_a_prefix(c: Context) -> Outcome {
    let object = json!({"metadata": {"name": "a", "generateName": "b-"}});
    ensure_eq!(c.create("configmaps", object).await?.at("/metadata/name"), "a", "name");
    Ok(())
}

/// B34: segments are escaped exactly once.
async fn names_are_unescaped_once(c: Context) -> Outcome {
    c.create("configmaps", config_map("a-b.c")).await?;
    c.read("configmaps/%61%2Db%2ec").await?;
    c.get("configmaps/%2561-b.c").await?.refused(400, "BadRequest")?;
    for (segment, name) in [
        ("two%20words", "two words"),
        ("system:node:a", "system:node:a"),
        ("system%3Anode%3Aa", "system:node:a"),
        ("x%3Fy", "x?y"),
        ("h%231", "h#1"),
        ("%C3%BC", "ü"),
        ("a+b", "a+b"),
        ("a%2Bb", "a+b"),
    ] {
        let status = c.get(&format!("configmaps/{segment}")).await?.refused(404, "NotFound")?;
        ensure_eq!(status["details"]["name"], name, "the name of {segment}");
    }
    Ok(())
}

async fn names_that_are_path_segments_are_refused(c: Context) -> Outcome {
    c.create("configmaps", config_map("a")).await?;
    for segment in ["%2e%2e", "%2e", "a%25b"] {
        c.get(&format!("configmaps/{segment}")).await?.refused(400, "BadRequest")?;
        c.delete(&format!("configmaps/{segment}")).await?.refused(400, "BadRequest")?;
    }
    c.get("configmaps/a%2Fb").await?.refused(404, "NotFound")?;
    ensure_eq!(c.names("configmaps").await?, ["a"], "what exists");
    Ok(())
}
