//! Reading: selectors, pages, versions.

mod lab;

use kubewright_devserver::DevServer;
use lab::*;
use serde_json::{Value, json};

#[tokio::test]
async fn a_list_has_the_form_of_a_real_one() {
    let lab = Lab::new();
    lab.config_map("b").await;
    lab.config_map("a").await;
    let list = lab.get(CONFIG_MAPS).await.ok();
    assert_eq!((&list["kind"], &list["apiVersion"]), (&json!("ConfigMapList"), &json!("v1")));
    assert_eq!(list["metadata"]["resourceVersion"], lab.server.resource_version());
    assert_eq!(names(&list), ["a", "b"]);
    assert!(list["items"][0].get("kind").is_none(), "items of built-in kinds leave the type out");
    lab.post(PLAINS, json!({"metadata": {"name": "p"}})).await.ok();
    let list = lab.get(PLAINS).await.ok();
    assert_eq!(list["items"][0]["kind"], "Plain");
    assert_eq!(lab.get(WIDGETS).await.ok()["items"], json!([]));
}

#[tokio::test]
async fn lists_are_of_one_namespace_or_of_all() {
    let lab = Lab::new();
    // The second name sorts between `lab` and `lab/`.
    for namespace in ["lab", "lab-2"] {
        lab.namespace(namespace).await;
        let path = format!("/api/v1/namespaces/{namespace}/configmaps");
        lab.post(&path, json!({"metadata": {"name": namespace}})).await.ok();
    }
    assert_eq!(lab.names("/api/v1/namespaces/lab/configmaps").await, ["lab"]);
    assert_eq!(lab.names("/api/v1/namespaces/lab-2/configmaps").await, ["lab-2"]);
    assert_eq!(lab.names("/api/v1/configmaps").await, ["lab-2", "lab"]);
    assert!(lab.names("/api/v1/namespaces/nowhere/configmaps").await.is_empty());
}

/// B24: selectors with empty values.
#[tokio::test]
async fn b24_label_selectors() {
    let lab = Lab::new();
    for (name, labels) in [
        ("empty", json!({"environment": ""})),
        ("none", json!({"a": "1"})),
        ("x", json!({"environment": "x"})),
    ] {
        lab.post(CONFIG_MAPS, json!({"metadata": {"name": name, "labels": labels}})).await.ok();
    }
    let cases: [(&str, &[&str]); 9] = [
        ("environment=", &["empty"]),
        ("environment= ", &["empty"]),
        ("environment==", &["empty"]),
        ("environment!=", &["none", "x"]),
        ("environment in ()", &["empty"]),
        ("environment in (,x)", &["empty", "x"]),
        ("environment notin (x)", &["empty", "none"]),
        ("!environment", &["none"]),
        ("environment , a", &[]),
    ];
    for (selector, wanted) in cases {
        let encoded: String = form_urlencoded::byte_serialize(selector.as_bytes()).collect();
        assert_eq!(
            lab.names(&format!("{CONFIG_MAPS}?labelSelector={encoded}")).await,
            wanted,
            "{selector}"
        );
    }
}

/// B23: a selector that cannot be is refused, never taken for everything.
#[tokio::test]
async fn b23_invalid_label_selectors() {
    let lab = Lab::new();
    lab.config_map("a").await;
    let long = format!("app%3D{}", "x".repeat(64));
    for selector in ["app%3D_lab", long.as_str(), "a%2Fb%2Fc%3Dd", "app+in+x", "%3Dx"] {
        let answer = lab.get(&format!("{CONFIG_MAPS}?labelSelector={selector}")).await;
        assert!(answer.refused(400, "BadRequest").starts_with("unable to parse requirement"));
    }
}

/// B85: field selectors.
#[tokio::test]
async fn b85_field_selectors() {
    let lab = Lab::new();
    lab.post(PODS, pod("a", Some("n1"))).await.ok();
    lab.post(PODS, pod("b", Some("n2"))).await.ok();
    let cases: [(&str, &[&str]); 7] = [
        ("spec.nodeName%3Dn1", &["a"]),
        ("spec.nodeName!%3Dn1", &["b"]),
        ("metadata.name!%3Da", &["b"]),
        ("metadata.namespace%3Ddefault,metadata.name%3Da", &["a"]),
        ("status.podIP%3D", &["a", "b"]),
        ("spec.hostNetwork%3Dfalse,status.phase%3DPending", &["a", "b"]),
        ("status.phase%3DRunning", &[]),
    ];
    for (selector, wanted) in cases {
        assert_eq!(
            lab.names(&format!("{PODS}?fieldSelector={selector}")).await,
            wanted,
            "{selector}"
        );
    }
    let refused = lab.get(&format!("{PODS}?fieldSelector=spec.bogus%3D1")).await;
    assert_eq!(refused.refused(400, "BadRequest"), "field label not supported: spec.bogus");
    let watch = lab.get(&format!("{PODS}?watch=true&fieldSelector=spec.bogus%3D1")).await;
    watch.refused(400, "BadRequest");
    for (name, size) in [("s", 1), ("t", 2)] {
        lab.post(WIDGETS, json!({"metadata": {"name": name}, "spec": {"size": size}})).await.ok();
    }
    assert_eq!(lab.names(&format!("{WIDGETS}?fieldSelector=spec.size%3D1")).await, ["s"]);
    let refused = lab.get(&format!("{PLAINS}?fieldSelector=spec.size%3D1")).await;
    assert_eq!(refused.refused(400, "BadRequest"), "field label not supported: spec.size");
    let refused = lab.get(&format!("{CONFIG_MAPS}?fieldSelector=data.a%3D1")).await;
    assert!(refused.refused(400, "BadRequest").contains("is not a known field selector"));
}

async fn fill(lab: &Lab, count: usize) {
    for index in 0..count {
        lab.config_map(&format!("m{index:02}")).await;
    }
}

#[tokio::test]
async fn pages_show_one_moment_whatever_is_written_meanwhile() {
    let lab = Lab::new();
    fill(&lab, 7).await;
    let moment = lab.server.resource_version();
    let mut seen = Vec::new();
    let mut left = Vec::new();
    let mut path = format!("{CONFIG_MAPS}?limit=3");
    loop {
        let page = lab.get(&path).await.ok();
        assert_eq!(page["metadata"]["resourceVersion"], moment);
        seen.extend(names(&page));
        left.push(page["metadata"]["remainingItemCount"].as_i64());
        lab.delete(&format!("{CONFIG_MAPS}/m05")).await;
        lab.post(CONFIG_MAPS, json!({"metadata": {"generateName": "m05-"}})).await.ok();
        match page["metadata"]["continue"].as_str() {
            Some(token) => path = format!("{CONFIG_MAPS}?limit=3&continue={token}"),
            None => break,
        }
    }
    assert_eq!(seen, ["m00", "m01", "m02", "m03", "m04", "m05", "m06"]);
    assert_eq!(left, [Some(4), Some(1), None]);
}

#[tokio::test]
async fn selected_pages_do_not_guess_what_remains() {
    let lab = Lab::new();
    fill(&lab, 3).await;
    let page =
        lab.get(&format!("{CONFIG_MAPS}?limit=1&fieldSelector=metadata.name!%3Dm00")).await.ok();
    assert_eq!(names(&page), ["m01"]);
    assert!(page["metadata"]["continue"].is_string());
    assert!(page["metadata"].get("remainingItemCount").is_none());
}

#[tokio::test]
async fn an_expired_token_is_410_with_one_that_goes_on() {
    let lab = Lab::new();
    fill(&lab, 3).await;
    let page = lab.get(&format!("{CONFIG_MAPS}?limit=1")).await.ok();
    let token = page["metadata"]["continue"].as_str().unwrap();
    lab.config_map("n").await;
    lab.server.compact();
    let path = format!("{CONFIG_MAPS}?limit=5&continue={token}");
    let refused = lab.get(&path).await;
    let message = refused.refused(410, "Expired");
    assert!(message.starts_with(
        "The provided continue parameter is too old to display a consistent list result."
    ));
    let again = refused.body["metadata"]["continue"].as_str().unwrap();
    assert_eq!(
        lab.names(&format!("{CONFIG_MAPS}?limit=5&continue={again}")).await,
        ["m01", "m02", "n"]
    );
    for bad in ["!", "e30", "eyJ2IjoieCIsInJ2IjoxLCJzdGFydCI6ImEifQ"] {
        let refused = lab.get(&format!("{CONFIG_MAPS}?continue={bad}")).await;
        assert!(refused.refused(400, "BadRequest").starts_with("continue key is not valid"));
    }
}

#[tokio::test]
async fn a_token_stays_inside_its_namespace() {
    let lab = Lab::new();
    lab.namespace("lab").await;
    fill(&lab, 3).await;
    let page = lab.get(&format!("{CONFIG_MAPS}?limit=1")).await.ok();
    let token = page["metadata"]["continue"].as_str().unwrap();
    assert!(
        lab.names(&format!("/api/v1/namespaces/lab/configmaps?continue={token}")).await.is_empty()
    );
}

#[tokio::test]
async fn versions_of_reads() {
    let lab = Lab::new();
    let first = version(&lab.config_map("a").await);
    let second = version(&lab.config_map("b").await);
    let list = async |query: &str| lab.get(&format!("{CONFIG_MAPS}?{query}")).await;
    let exact = list(&format!("resourceVersion={first}&resourceVersionMatch=Exact")).await.ok();
    assert_eq!((names(&exact), version(&exact)), (vec!["a".to_owned()], first));
    // With a limit and without a rule a version means exactly that one.
    assert_eq!(names(&list(&format!("resourceVersion={first}&limit=9")).await.ok()), ["a"]);
    for query in [
        format!("resourceVersion={first}"),
        format!("resourceVersion={first}&resourceVersionMatch=NotOlderThan"),
        "resourceVersion=0".to_owned(),
        "resourceVersion=0&resourceVersionMatch=NotOlderThan&limit=5".to_owned(),
    ] {
        let answer = list(&query).await.ok();
        assert_eq!((names(&answer).len(), version(&answer)), (2, second), "{query}");
    }
    let future = second + 100;
    for path in [
        format!("{CONFIG_MAPS}?resourceVersion={future}"),
        format!("{CONFIG_MAPS}?resourceVersion={future}&resourceVersionMatch=Exact"),
        format!("{CONFIG_MAPS}/a?resourceVersion={future}"),
    ] {
        let refused = lab.get(&path).await;
        let message = refused.refused(504, "Timeout");
        assert_eq!(
            message,
            format!("Timeout: Too large resource version: {future}, current: {second}")
        );
        assert_eq!(refused.cause()["reason"], "ResourceVersionTooLarge");
    }
    list("resourceVersion=x").await.refused(400, "BadRequest");
    list("resourceVersionMatch=Exact").await.refused(422, "Invalid");
    list("resourceVersion=0&resourceVersionMatch=Exact").await.refused(422, "Invalid");
    list("resourceVersion=1&resourceVersionMatch=Near").await.refused(422, "Invalid");
    list("sendInitialEvents=true").await.refused(422, "Invalid");
    list("limit=x").await.refused(400, "BadRequest");
    lab.server.compact();
    let gone = list(&format!("resourceVersion={first}&resourceVersionMatch=Exact")).await;
    assert_eq!(
        gone.refused(410, "Expired"),
        "The resourceVersion for the provided list is too old."
    );
    lab.get(&format!("{CONFIG_MAPS}/a?resourceVersion={first}")).await.ok();
}

#[tokio::test]
async fn a_list_does_not_hold_the_store_while_it_is_read() {
    let lab = Lab::of(DevServer::builder());
    for index in 0..200 {
        let text = "x".repeat(1000);
        lab.post(
            CONFIG_MAPS,
            json!({"metadata": {"name": format!("m{index:03}")}, "data": {"t": text}}),
        )
        .await
        .ok();
    }
    let mut body = lab.send("GET", CONFIG_MAPS, &[], "").await.unwrap().into_body();
    let mut bytes = Vec::new();
    let mut pieces = 0;
    while let Some(frame) = http_body_util::BodyExt::frame(&mut body).await {
        bytes.extend_from_slice(&frame.unwrap().into_data().unwrap());
        pieces += 1;
        lab.delete(&format!("{CONFIG_MAPS}/m199")).await;
    }
    assert!(pieces > 2, "{pieces}");
    let list: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(names(&list).len(), 200);
}
