//! Label and field selectors: what they choose, and that one which cannot be understood chooses nothing.

use http::Method;
use serde_json::json;

use crate::check::{Outcome, checks};
use crate::objects::{config_map, event, labelled, pod, pod_on};
use crate::path::escape;
use crate::{Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("selectors":
        labels_with_empty_values,
        sets_of_values,
        several_requirements_all_hold,
        keys_with_a_prefix,
        comparisons_of_numbers,
        an_impossible_label_selector_is_refused,
        an_impossible_label_selector_deletes_nothing,
        deletion_of_a_collection_is_selected,
        fields_of_all_kinds,
        fields_of_pods,
        fields_of_secrets,
        fields_of_events,
        fields_of_namespaces,
        unknown_fields_are_refused,
        malformed_field_selectors_are_refused,
        labels_and_fields_together,
    )
}

/// What each selector chooses among the ConfigMaps.
async fn chosen(c: &Context, kind: &str, cases: &[(&str, &[&str])]) -> Outcome {
    for (selector, wanted) in cases {
        let path = format!("configmaps?{kind}={}", escape(selector));
        ensure_eq!(c.names(&path).await?, *wanted, "what {selector:?} chooses");
    }
    Ok(())
}

/// B24: an empty value is a value.
async fn labels_with_empty_values(c: Context) -> Outcome {
    c.create("configmaps", labelled("empty", json!({"environment": ""}))).await?;
    c.create("configmaps", labelled("none", json!({"a": "1"}))).await?;
    c.create("configmaps", labelled("x", json!({"environment": "x"}))).await?;
    let cases: [(&str, &[&str]); 14] = [
        ("environment=", &["empty"]),
        ("environment= ", &["empty"]),
        ("environment==", &["empty"]),
        ("environment!=", &["none", "x"]),
        ("environment in ()", &["empty"]),
        ("environment in (,x)", &["empty", "x"]),
        ("environment notin (x)", &["empty", "none"]),
        ("environment notin ()", &["none", "x"]),
        ("environment!=x", &["empty", "none"]),
        ("environment", &["empty", "x"]),
        ("!environment", &["none"]),
        ("environment , a", &[]),
        ("", &["empty", "none", "x"]),
        (" ", &["empty", "none", "x"]),
    ];
    chosen(&c, "labelSelector", &cases).await
}

async fn sets_of_values(c: Context) -> Outcome {
    for (name, tier) in [("a", "1"), ("b", "2"), ("c", "3")] {
        c.create("configmaps", labelled(name, json!({"tier": tier}))).await?;
    }
    let cases: [(&str, &[&str]); 6] = [
        ("tier in (1,2)", &["a", "b"]),
        ("tier in ( 1 , 3 )", &["a", "c"]),
        ("tier notin (1,2)", &["c"]),
        ("tier in (1,1)", &["a"]),
        ("tier in (4)", &[]),
        ("in in (1)", &[]),
    ];
    chosen(&c, "labelSelector", &cases).await
}

async fn several_requirements_all_hold(c: Context) -> Outcome {
    c.create("configmaps", labelled("a", json!({"app": "web", "tier": "1"}))).await?;
    c.create("configmaps", labelled("b", json!({"app": "web"}))).await?;
    c.create("configmaps", labelled("c", json!({"tier": "1"}))).await?;
    let cases: [(&str, &[&str]); 5] = [
        ("app=web,tier=1", &["a"]),
        ("app=web,!tier", &["b"]),
        ("app=web,tier!=1", &["b"]),
        ("app in (web),tier in (1,2)", &["a"]),
        ("app=web,app=other", &[]),
    ];
    chosen(&c, "labelSelector", &cases).await
}

async fn keys_with_a_prefix(c: Context) -> Outcome {
    c.create("configmaps", labelled("a", json!({"lab.test/app": "web"}))).await?;
    c.create("configmaps", labelled("b", json!({"app": "web"}))).await?;
    let cases: [(&str, &[&str]); 3] =
        [("lab.test/app=web", &["a"]), ("app=web", &["b"]), ("!lab.test/app", &["b"])];
    chosen(&c, "labelSelector", &cases).await
}

async fn comparisons_of_numbers(c: Context) -> Outcome {
    for (name, size) in [("a", "9"), ("b", "10"), ("c", "x")] {
        c.create("configmaps", labelled(name, json!({"size": size}))).await?;
    }
    let cases: [(&str, &[&str]); 3] =
        [("size>9", &["b"]), ("size<10", &["a"]), ("size > 8", &["a", "b"])];
    chosen(&c, "labelSelector", &cases).await?;
    let path = format!("configmaps?labelSelector={}", escape("size>x"));
    c.get(&path).await?.refused(400, "BadRequest")?;
    Ok(())
}

const IMPOSSIBLE: [&str; 9] =
    ["app=_lab", "a/b/c=d", "a in x", "=x", "a=b=c", "a in (b", "a,,b", "app=a b", "-a=b"];

/// B23: never everything.
async fn an_impossible_label_selector_is_refused(c: Context) -> Outcome {
    c.create("configmaps", config_map("a")).await?;
    let long = format!("app={}", "x".repeat(64));
    for selector in IMPOSSIBLE.into_iter().chain([long.as_str()]) {
        let selector = escape(selector);
        for more in ["", "&watch=1", "&limit=1", "&resourceVersion=0"] {
            let path = format!("configmaps?labelSelector={selector}{more}");
            c.get(&path).await?.refused(400, "BadRequest")?;
        }
    }
    Ok(())
}

async fn an_impossible_label_selector_deletes_nothing(c: Context) -> Outcome {
    c.create("configmaps", config_map("a")).await?;
    for selector in IMPOSSIBLE {
        let path = format!("configmaps?labelSelector={}", escape(selector));
        c.delete(&path).await?.refused(400, "BadRequest")?;
    }
    c.delete("configmaps?fieldSelector=data.k%3Dv").await?.refused(400, "BadRequest")?;
    ensure_eq!(c.names("configmaps").await?, ["a"], "what is left");
    Ok(())
}

async fn deletion_of_a_collection_is_selected(c: Context) -> Outcome {
    for (name, tier) in [("a", "1"), ("b", "2"), ("c", "1")] {
        c.create("configmaps", labelled(name, json!({"tier": tier}))).await?;
    }
    let path = "configmaps?labelSelector=tier%3D1&fieldSelector=metadata.name!%3Dc";
    c.request(Method::DELETE, path).send().await?.expect(200)?;
    ensure_eq!(c.names("configmaps").await?, ["b", "c"], "what is left");
    Ok(())
}

async fn fields_of_all_kinds(c: Context) -> Outcome {
    for name in ["a", "b"] {
        c.create("configmaps", config_map(name)).await?;
    }
    let here = format!("metadata.namespace={}", c.namespace());
    let both = format!("{here},metadata.name=a");
    let cases: [(&str, &[&str]); 8] = [
        ("metadata.name=a", &["a"]),
        ("metadata.name==a", &["a"]),
        ("metadata.name!=a", &["b"]),
        ("metadata.name=x", &[]),
        ("metadata.name=a,metadata.name=b", &[]),
        (&here, &["a", "b"]),
        (&both, &["a"]),
        ("metadata.namespace=x", &[]),
    ];
    chosen(&c, "fieldSelector", &cases).await
}

/// B85.
async fn fields_of_pods(c: Context) -> Outcome {
    c.create("pods", pod_on("a", "n1")).await?;
    c.create("pods", pod_on("b", "n2")).await?;
    c.create("pods", pod("c")).await?;
    let running = json!({"status": {"phase": "Running", "podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}]}});
    c.merge("pods/b/status", running).await?.expect(200)?;
    let cases: [(&str, &[&str]); 11] = [
        ("spec.nodeName=n1", &["a"]),
        ("spec.nodeName!=n1", &["b", "c"]),
        ("spec.nodeName=", &["c"]),
        ("status.phase=Running", &["b"]),
        ("status.phase!=Running", &["a", "c"]),
        ("status.phase=Pending,spec.nodeName=n1", &["a"]),
        ("status.podIP=", &["a", "c"]),
        ("status.podIP=10.0.0.1", &["b"]),
        ("spec.restartPolicy=Always", &["a", "b", "c"]),
        ("spec.hostNetwork=false", &["a", "b", "c"]),
        ("spec.schedulerName=other", &[]),
    ];
    for (selector, wanted) in cases {
        let path = format!("pods?fieldSelector={}", escape(selector));
        ensure_eq!(c.names(&path).await?, wanted, "what {selector:?} chooses");
    }
    Ok(())
}

async fn fields_of_secrets(c: Context) -> Outcome {
    c.create("secrets", json!({"metadata": {"name": "a"}})).await?;
    c.create("secrets", json!({"metadata": {"name": "b"}, "type": "lab.test/x"})).await?;
    ensure_eq!(c.names("secrets?fieldSelector=type%3DOpaque").await?, ["a"], "opaque ones");
    ensure_eq!(c.names("secrets?fieldSelector=type!%3DOpaque").await?, ["b"], "others");
    Ok(())
}

async fn fields_of_events(c: Context) -> Outcome {
    c.create("events", event("a", c.namespace())).await?;
    let mut other = event("b", c.namespace());
    other["involvedObject"]["name"] = json!("db");
    other["reason"] = json!("Other");
    c.create("events", other).await?;
    for (path, wanted) in [
        ("events?fieldSelector=involvedObject.name%3Dweb", vec!["a"]),
        ("events?fieldSelector=involvedObject.kind%3DPod,reason%3DOther", vec!["b"]),
        ("events?fieldSelector=source%3Dlab", vec!["a", "b"]),
        ("events?fieldSelector=type%3DWarning", vec![]),
        ("events.k8s.io?fieldSelector=regarding.name%3Dweb", vec!["a"]),
        ("events.k8s.io?fieldSelector=reason!%3DOther", vec!["a"]),
    ] {
        ensure_eq!(c.names(path).await?, wanted, "what {path} chooses");
    }
    // Each version has names of its own for the fields.
    for path in [
        "events.k8s.io?fieldSelector=involvedObject.name%3Dweb",
        "events?fieldSelector=regarding.name%3Dweb",
    ] {
        c.get(path).await?.refused(400, "BadRequest")?;
    }
    Ok(())
}

async fn fields_of_namespaces(c: Context) -> Outcome {
    let here = format!("fieldSelector=metadata.name%3D{}", c.namespace());
    for (more, count) in
        [("", 1), (",status.phase%3DActive", 1), (",status.phase%3DTerminating", 0)]
    {
        let found = c.names(&format!("namespaces?{here}{more}")).await?;
        ensure_eq!(found.len(), count, "how many namespaces with {more:?}");
    }
    Ok(())
}

async fn unknown_fields_are_refused(c: Context) -> Outcome {
    c.create("pods", pod("a")).await?;
    for (path, field) in [
        ("pods", "spec.bogus"),
        ("pods", "spec.containers"),
        ("deployments", "spec.replicas"),
        ("configmaps", "data.k"),
        ("nodes", "status.phase"),
    ] {
        let path = format!("{path}?fieldSelector={field}%3D1");
        for method in [Method::GET, Method::DELETE] {
            let answer = c.request(method, &path).send().await?;
            let status = answer.refused(400, "BadRequest")?;
            ensure!(
                status["message"].as_str().is_some_and(|text| text.contains(field)),
                "{status}"
            );
        }
        c.get(&format!("{path}&watch=1")).await?.refused(400, "BadRequest")?;
    }
    let status = c.get("pods?fieldSelector=spec.bogus%3D1").await?.refused(400, "BadRequest")?;
    ensure_eq!(status["message"], "field label not supported: spec.bogus", "message");
    ensure_eq!(c.names("pods").await?, ["a"], "what is left");
    Ok(())
}

async fn malformed_field_selectors_are_refused(c: Context) -> Outcome {
    for selector in
        ["metadata.name", "metadata.name in (a)", "!metadata.name", "metadata.name=a\\x"]
    {
        let path = format!("configmaps?fieldSelector={}", escape(selector));
        c.get(&path).await?.refused(400, "BadRequest")?;
    }
    Ok(())
}

async fn labels_and_fields_together(c: Context) -> Outcome {
    for (name, tier) in [("a", "1"), ("b", "2"), ("c", "1")] {
        c.create("configmaps", labelled(name, json!({"tier": tier}))).await?;
    }
    let path = "configmaps?labelSelector=tier%3D1&fieldSelector=metadata.name!%3Da";
    ensure_eq!(c.names(path).await?, ["c"], "what both choose");
    Ok(())
}
