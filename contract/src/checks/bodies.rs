//! B36 for what is sent: bodies that are no object, of other media types, or too large.

use http::Method;
use http::header::ACCEPT;
use serde_json::{Value, json};

use crate::check::{Outcome, checks};
use crate::objects::{config_map, deployment};
use crate::{Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("bodies":
        a_body_that_is_not_json_is_refused,
        a_body_of_wrong_types_is_refused,
        media_types_of_bodies_are_checked,
        media_types_of_patches_are_checked,
        acceptable_media_types_are_served,
        unacceptable_media_types_are_refused,
        a_body_over_the_limit_is_refused,
        a_large_object_is_stored,
    )
}

async fn a_body_that_is_not_json_is_refused(c: Context) -> Outcome {
    c.create("configmaps", config_map("a")).await?;
    for body in
        ["", "{", "[]", "1", "\"x\"", "{\"metadata\":", "{} {}", "{'metadata': {}}", "\u{feff}{}"]
    {
        for (method, path) in [(Method::POST, "configmaps"), (Method::PUT, "configmaps/a")] {
            let request = c.request(method, path).bytes(body).content_type("application/json");
            request.send().await?.refused(400, "BadRequest")?;
        }
    }
    let invalid: &[u8] = b"{\"metadata\": {\"name\": \"b\"}, \"data\": {\"k\": \"\xff\"}}";
    let request =
        c.request(Method::POST, "configmaps").bytes(invalid).content_type("application/json");
    let answer = request.send().await?;
    // Some replace what is not UTF-8, some refuse it.
    ensure!(matches!(answer.code, 201 | 400), "expected 201 or 400, saw {answer}");
    Ok(())
}

async fn a_body_of_wrong_types_is_refused(c: Context) -> Outcome {
    for body in [
        json!({"metadata": {"name": 1}}),
        json!({"metadata": "a"}),
        json!({"metadata": {"name": "a", "labels": ["a"]}}),
        json!({"metadata": {"name": "a", "annotations": {"a": {}}}}),
        json!({"metadata": {"name": "a", "finalizers": "lab.test/x"}}),
        json!({"metadata": {"name": "a", "ownerReferences": {}}}),
        json!({"metadata": {"name": "a"}, "kind": 1}),
        json!({"metadata": {"name": "a", "creationTimestamp": "yesterday"}}),
    ] {
        c.post("configmaps", body).await?.refused(400, "BadRequest")?;
    }
    // Further in, a server without schemas finds out later, and says so as of a value.
    for (field, value) in
        [("replicas", json!("1")), ("replicas", json!(1.5)), ("selector", json!([]))]
    {
        let mut object = deployment("a");
        object["spec"][field] = value;
        let answer = c.post("deployments", object).await?;
        ensure!(matches!(answer.code, 400 | 422), "expected 400 or 422, saw {answer}");
    }
    Ok(())
}

async fn media_types_of_bodies_are_checked(c: Context) -> Outcome {
    for media in ["application/xml", "text/plain", "application/merge-patch+json", "garbage"] {
        let body = config_map("a").to_string();
        let answer =
            c.request(Method::POST, "configmaps").bytes(body).content_type(media).send().await?;
        let status = answer.refused(415, "UnsupportedMediaType")?;
        let message = status["message"].as_str().unwrap_or_default();
        ensure!(
            message.contains("application/json"),
            "{media}: no word of what is accepted: {message}"
        );
    }
    for (name, media) in
        [("a", "application/json; charset=utf-8"), ("b", "application/json;foo=bar")]
    {
        let body = config_map(name).to_string();
        let request = c.request(Method::POST, "configmaps").bytes(body).content_type(media);
        request.send().await?.expect(201)?;
    }
    // JSON goes without saying.
    c.request(Method::POST, "configmaps")
        .bytes(config_map("c").to_string())
        .send()
        .await?
        .expect(201)?;
    Ok(())
}

async fn media_types_of_patches_are_checked(c: Context) -> Outcome {
    c.create("configmaps", config_map("a")).await?;
    for media in ["application/json", "text/plain", "application/vnd.lab+json"] {
        let request = c.request(Method::PATCH, "configmaps/a").bytes("{}").content_type(media);
        request.send().await?.refused(415, "UnsupportedMediaType")?;
    }
    let request = c.request(Method::PATCH, "configmaps/a").bytes("{}");
    let charset = request.content_type("application/merge-patch+json; charset=utf-8");
    charset.send().await?.expect(200)?;
    Ok(())
}

async fn acceptable_media_types_are_served(c: Context) -> Outcome {
    for accept in [
        "application/json",
        "*/*",
        "application/json, */*",
        "application/xml, */*;q=0.1",
        "application/json;charset=utf-8",
        "application/json;as=Nope;v=v1;g=meta.k8s.io,application/json",
    ] {
        let answer = c.request(Method::GET, "configmaps").header(ACCEPT, accept).send().await?;
        ensure_eq!(answer.expect(200)?["kind"], "ConfigMapList", "kind with {accept}");
    }
    Ok(())
}

async fn unacceptable_media_types_are_refused(c: Context) -> Outcome {
    c.create("configmaps", config_map("a")).await?;
    for accept in ["application/xml", "text/html", "text/*"] {
        for path in ["configmaps", "configmaps/a", "configmaps/none"] {
            let answer = c.request(Method::GET, path).header(ACCEPT, accept).send().await?;
            answer.refused(406, "NotAcceptable")?;
        }
    }
    let accept = "application/json;as=Nope;v=v1;g=meta.k8s.io";
    let answer = c.request(Method::GET, "configmaps").header(ACCEPT, accept).send().await?;
    answer.refused(406, "NotAcceptable")?;
    Ok(())
}

async fn a_body_over_the_limit_is_refused(c: Context) -> Outcome {
    let status = c.post("configmaps", of_size("a", 3 << 20)).await?;
    let status = status.refused(413, "RequestEntityTooLarge")?;
    ensure_eq!(status["message"], "Request entity too large: limit is 3145728", "message");
    // Below that limit the kind has one of its own.
    c.post("configmaps", of_size("a", 2 << 20)).await?.refused(422, "Invalid")?;
    c.create("configmaps", config_map("a")).await?;
    Ok(())
}

async fn a_large_object_is_stored(c: Context) -> Outcome {
    let large = of_size("a", 1_000_000);
    let created = c.create("configmaps", large.clone()).await?;
    ensure_eq!(created["data"] == large["data"], true, "whether the data came back");
    let read = c.read("configmaps/a").await?;
    ensure_eq!(read == created, true, "whether the same is read");
    Ok(())
}

fn of_size(name: &str, bytes: usize) -> Value {
    json!({"metadata": {"name": name}, "data": {"k": "x".repeat(bytes)}})
}
