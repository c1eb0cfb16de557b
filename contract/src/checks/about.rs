//! What a server tells of itself besides its resources: version, health, paths, schemas.

use crate::check::{Outcome, checks};
use crate::context::At;
use crate::{Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("about":
        the_version_is_told,
        health_is_told,
        paths_are_told,
        schemas_are_told,
    )
}

async fn the_version_is_told(c: Context) -> Outcome {
    let version = c.read("/version").await?;
    ensure_eq!(version["major"], "1", "major");
    let number: String = version.at("/minor").chars().take_while(char::is_ascii_digit).collect();
    ensure!(
        number.parse::<u32>().is_ok_and(|minor| minor >= 30),
        "minor is {:?}",
        version["minor"]
    );
    let expected = format!("v1.{number}.");
    ensure!(
        version.at("/gitVersion").starts_with(&expected),
        "gitVersion is {:?}",
        version["gitVersion"]
    );
    for field in ["gitCommit", "gitTreeState", "buildDate", "goVersion", "compiler", "platform"] {
        ensure!(version[field].is_string(), "no {field} in {version}");
    }
    Ok(())
}

async fn health_is_told(c: Context) -> Outcome {
    for path in ["/healthz", "/livez", "/readyz", "/livez/ping"] {
        let answer = c.get(path).await?;
        ensure!(answer.code == 200 && answer.text == "ok", "expected ok, saw {answer}");
        ensure_eq!(answer.content_type(), "text/plain", "content type of {path}");
    }
    let verbose = c.get("/readyz?verbose").await?;
    ensure!(verbose.text.contains("[+]ping ok"), "expected [+]ping ok, saw {verbose}");
    ensure!(
        verbose.text.trim_end().ends_with("readyz check passed"),
        "expected the sum, saw {verbose}"
    );
    Ok(())
}

async fn paths_are_told(c: Context) -> Outcome {
    let paths = c.read("/").await?["paths"].as_array().cloned().unwrap_or_default();
    for path in ["/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/version", "/healthz"]
    {
        ensure!(paths.iter().any(|listed| listed == path), "no {path} in {paths:?}");
    }
    Ok(())
}

async fn schemas_are_told(c: Context) -> Outcome {
    // The index is JSON, whatever its content type says.
    let index = c.get("/openapi/v3").await?;
    ensure!(index.code == 200, "expected 200, saw {index}");
    let index = index.body;
    for group in ["api/v1", "apis/apps/v1"] {
        let path = index["paths"][group]["serverRelativeURL"].as_str().unwrap_or_default();
        ensure!(path.starts_with(&format!("/openapi/v3/{group}")), "no {group} in {index}");
        let document = c.read(path).await?;
        ensure!(document.at("/openapi").starts_with("3."), "not OpenAPI 3: {path}");
        let schemas = document["components"]["schemas"].as_object().map_or(0, serde_json::Map::len);
        ensure!(schemas > 0, "no schemas in {path}");
    }
    Ok(())
}
