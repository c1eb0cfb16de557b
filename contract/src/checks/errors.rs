//! B36: refusals are a `Status` in JSON whose code and reason agree with the answer's.

use http::Method;
use http::header::CONTENT_TYPE;
use serde_json::json;

use crate::check::{Outcome, checks};
use crate::objects::{config_map, pod};
use crate::{Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("errors":
        unknown_resources_are_not_found,
        unknown_groups_are_not_found,
        unknown_paths_are_not_found,
        wrong_methods_are_not_allowed,
        wrong_methods_of_subresources_are_not_allowed,
        documents_are_read_only,
        a_slash_at_the_end_does_not_name_an_object,
        malformed_delete_options_are_refused,
        malformed_patches_are_refused,
        a_name_that_differs_from_the_path_is_refused,
    )
}

async fn unknown_resources_are_not_found(c: Context) -> Outcome {
    let here = format!("namespaces/{}", c.namespace());
    for path in [
        "/api/v1/nothings".to_owned(),
        "/api/v1/nothings/a".to_owned(),
        "/api/v9/pods".to_owned(),
        "/apis/apps/v9/deployments".to_owned(),
        "/api/v1/pods/a".to_owned(),
        "/api/v1//pods".to_owned(),
        format!("/apis/apps/v1/{here}/pods"),
        format!("/api/v1/{here}/nodes"),
        format!("/api/v1/{here}/pods/a/nothing"),
        format!("/api/v1/{here}/pods/a/status/more"),
        format!("/api/v1/{here}/configmaps/a/status"),
    ] {
        let status = c.get(&path).await?.refused(404, "NotFound")?;
        let message = "the server could not find the requested resource";
        ensure_eq!(status["message"], message, "message of {path}");
    }
    Ok(())
}

async fn unknown_groups_are_not_found(c: Context) -> Outcome {
    for path in ["/apis/none.test/v1/pods", "/apis/none.test", "/apis/none.test/v1"] {
        for method in [Method::GET, Method::DELETE] {
            let answer = c.request(method, path).send().await?;
            ensure!(answer.code == 404, "expected 404, saw {answer}");
        }
        let answer = c.post(path, json!({"metadata": {"name": "a"}})).await?;
        ensure!(answer.code == 404, "expected 404, saw {answer}");
    }
    Ok(())
}

async fn unknown_paths_are_not_found(c: Context) -> Outcome {
    for path in ["/nothing", "/healthz/nothing", "/openapi/v9", "//api/v1/pods"] {
        let answer = c.get(path).await?;
        ensure!(answer.code == 404, "expected 404, saw {answer}");
    }
    Ok(())
}

async fn not_allowed(c: &Context, cases: &[(Method, &str)]) -> Outcome {
    for (method, path) in cases {
        let answer = c.request(method.clone(), path).json(&json!({})).send().await?;
        let status = answer.refused(405, "MethodNotAllowed")?;
        let message = "the server does not allow this method on the requested resource";
        ensure_eq!(status["message"], message, "message of {method} {path}");
    }
    Ok(())
}

async fn wrong_methods_are_not_allowed(c: Context) -> Outcome {
    c.create("configmaps", config_map("a")).await?;
    let cases = [
        (Method::PUT, "configmaps"),
        (Method::PATCH, "configmaps"),
        (Method::OPTIONS, "configmaps"),
        (Method::POST, "configmaps/a"),
        (Method::OPTIONS, "configmaps/a"),
        (Method::POST, "/api/v1/configmaps"),
        (Method::PUT, "/api/v1/configmaps"),
        (Method::DELETE, "/api/v1/configmaps"),
        (Method::POST, "/apis/apps/v1/deployments"),
        (Method::DELETE, "namespaces"),
    ];
    not_allowed(&c, &cases).await?;
    let head = c.request(Method::HEAD, "configmaps").send().await?;
    // Whether its body is left away is the transport's business.
    ensure!(head.code == 405, "expected 405, saw {head}");
    ensure_eq!(c.names("configmaps").await?, ["a"], "what is left");
    Ok(())
}

async fn wrong_methods_of_subresources_are_not_allowed(c: Context) -> Outcome {
    c.create("pods", pod("a")).await?;
    let cases = [
        (Method::POST, "pods/a/status"),
        (Method::DELETE, "pods/a/status"),
        (Method::GET, "pods/a/binding"),
        (Method::GET, "pods/a/eviction"),
        (Method::DELETE, "deployments/a/scale"),
        (Method::POST, "deployments/a/scale"),
    ];
    not_allowed(&c, &cases).await?;
    c.read("pods/a").await?;
    Ok(())
}

async fn documents_are_read_only(c: Context) -> Outcome {
    let cases = [
        (Method::POST, "/api"),
        (Method::DELETE, "/api/v1"),
        (Method::POST, "/apis/apps/v1"),
        (Method::PUT, "/version"),
    ];
    not_allowed(&c, &cases).await
}

/// B28: the server's side of an empty name.
async fn a_slash_at_the_end_does_not_name_an_object(c: Context) -> Outcome {
    c.create("configmaps", config_map("a")).await?;
    c.put("configmaps/", &config_map("a")).await?.refused(405, "MethodNotAllowed")?;
    c.merge("configmaps/", json!({})).await?.refused(405, "MethodNotAllowed")?;
    // It is the collection, as a client that forgot the name must know.
    let deleted = c.delete("configmaps/").await?.expect(200)?;
    ensure_eq!(deleted["kind"], "ConfigMapList", "kind of the answer");
    ensure_eq!(c.names("configmaps").await?.len(), 0, "how many are left");
    c.create("configmaps/", config_map("b")).await?;
    Ok(())
}

async fn malformed_delete_options_are_refused(c: Context) -> Outcome {
    c.create("configmaps", config_map("a")).await?;
    for body in ["{", "[]", "1"] {
        for path in ["configmaps/a", "configmaps"] {
            let request =
                c.request(Method::DELETE, path).bytes(body).content_type("application/json");
            request.send().await?.refused(400, "BadRequest")?;
        }
    }
    for options in
        [json!({"gracePeriodSeconds": "x"}), json!({"preconditions": []}), json!({"kind": "Pod"})]
    {
        c.delete_with("configmaps/a", options).await?.refused(400, "BadRequest")?;
    }
    let text =
        c.request(Method::DELETE, "configmaps/a").bytes("{}").header(CONTENT_TYPE, "text/plain");
    text.send().await?.refused(415, "UnsupportedMediaType")?;
    let answer = c.delete_with("configmaps/a", json!({"propagationPolicy": "Nope"})).await?;
    answer.refused(422, "Invalid")?;
    c.read("configmaps/a").await?;
    Ok(())
}

async fn malformed_patches_are_refused(c: Context) -> Outcome {
    let created = c.create("configmaps", config_map("a")).await?;
    for (media, body) in [
        ("application/merge-patch+json", "{"),
        ("application/merge-patch+json", ""),
        ("application/json-patch+json", "{"),
        ("application/json-patch+json", "{}"),
        ("application/json-patch+json", "[1]"),
    ] {
        let answer =
            c.request(Method::PATCH, "configmaps/a").bytes(body).content_type(media).send().await?;
        answer.refused(400, "BadRequest")?;
    }
    // A patch that can be read, whose result cannot be.
    c.merge("configmaps/a", json!({"metadata": {"labels": 1}}))
        .await?
        .invalid("patch", "FieldValueInvalid")?;
    ensure_eq!(c.read("configmaps/a").await?, created, "what is stored");
    Ok(())
}

async fn a_name_that_differs_from_the_path_is_refused(c: Context) -> Outcome {
    c.create("configmaps", config_map("a")).await?;
    let status = c.put("configmaps/a", &config_map("b")).await?.refused(400, "BadRequest")?;
    let message = "the name of the object (b) does not match the name on the URL (a)";
    ensure_eq!(status["message"], message, "message");
    let answer = c.merge("configmaps/a", json!({"metadata": {"name": "b"}})).await?;
    ensure!(matches!(answer.code, 400 | 422), "expected 400 or 422, saw {answer}");
    Ok(())
}
