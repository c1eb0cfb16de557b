//! Lists in pages: one moment whatever is written meanwhile, and tokens that go on or say why not.

use serde_json::{Value, json};

use crate::check::{Outcome, checks};
use crate::context::{At, names};
use crate::objects::{config_map, labelled};
use crate::{Check, Context};

pub(super) fn checks() -> Vec<Check> {
    checks!("pages":
        pages_show_one_moment,
        what_remains_is_told,
        a_full_last_page_has_no_token,
        selected_pages_do_not_guess_what_remains,
        selected_pages_are_full,
        pages_may_differ_in_size,
        pages_of_all_namespaces,
        an_exact_version_in_pages,
        a_token_and_a_version_exclude_each_other,
        a_token_cannot_have_a_match_rule,
        malformed_tokens_are_refused,
        a_token_from_the_future_times_out,
        a_token_without_version_goes_on_in_the_newest_state,
        an_old_token_works_or_is_expired,
    )
}

async fn fill(c: &Context, count: usize) -> Outcome {
    for number in 0..count {
        c.create("configmaps", config_map(&format!("m{number}"))).await?;
    }
    Ok(())
}

fn token(page: &Value) -> Option<&str> {
    page["metadata"]["continue"].as_str()
}

async fn next(c: &Context, page: &Value, query: &str) -> Result<Value, String> {
    let token = token(page).ok_or_else(|| format!("no token: {}", page["metadata"]))?;
    c.read(&format!("configmaps?continue={token}&{query}")).await
}

/// A token made by hand, in the form that all servers share.
fn made_token(content: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let group = |bytes: &[u8]| {
        let bits = bytes
            .iter()
            .enumerate()
            .fold(0u32, |bits, (i, byte)| bits | u32::from(*byte) << (16 - 8 * i));
        (0..=bytes.len())
            .map(|i| char::from(DIGITS[(bits >> (18 - 6 * i)) as usize & 63]))
            .collect::<String>()
    };
    content.as_bytes().chunks(3).map(group).collect()
}

fn token_at(version: i64, after: &str) -> String {
    made_token(
        &json!({"v": "meta.k8s.io/v1", "rv": version, "start": format!("{after}\0")}).to_string(),
    )
}

async fn pages_show_one_moment(c: Context) -> Outcome {
    fill(&c, 7).await?;
    let first = c.read("configmaps?limit=3").await?;
    let mut seen = names(&first);
    let mut page = first.clone();
    while token(&page).is_some() {
        // All of this comes after the moment.
        c.delete("configmaps/m5").await?;
        c.create("configmaps", json!({"metadata": {"generateName": "m5-"}})).await?;
        c.merge("configmaps/m6", json!({"data": {"k": "w"}})).await?.expect(200)?;
        page = next(&c, &page, "limit=3").await?;
        ensure_eq!(page.version(), first.version(), "the version of a further page");
        seen.extend(names(&page));
    }
    ensure_eq!(seen, ["m0", "m1", "m2", "m3", "m4", "m5", "m6"], "names on all pages");
    ensure_eq!(page.at("/items/0/data/k"), "v", "what the last page shows");
    Ok(())
}

async fn what_remains_is_told(c: Context) -> Outcome {
    fill(&c, 5).await?;
    let first = c.read("configmaps?limit=2").await?;
    ensure_eq!(first["metadata"]["remainingItemCount"], 3, "what remains after the first page");
    let second = next(&c, &first, "limit=2").await?;
    ensure_eq!(second["metadata"]["remainingItemCount"], 1, "what remains after the second page");
    let third = next(&c, &second, "limit=2").await?;
    for field in ["remainingItemCount", "continue"] {
        ensure_eq!(third["metadata"][field], Value::Null, "{field} on the last page");
    }
    Ok(())
}

async fn a_full_last_page_has_no_token(c: Context) -> Outcome {
    fill(&c, 4).await?;
    let first = c.read("configmaps?limit=2").await?;
    let second = next(&c, &first, "limit=2").await?;
    ensure_eq!(names(&second), ["m2", "m3"], "names");
    ensure_eq!(token(&second), None, "the token of the last page");
    Ok(())
}

async fn selected_pages_do_not_guess_what_remains(c: Context) -> Outcome {
    fill(&c, 4).await?;
    let page = c.read("configmaps?limit=1&fieldSelector=metadata.name!%3Dm0").await?;
    ensure_eq!(names(&page), ["m1"], "names");
    ensure!(token(&page).is_some(), "no token");
    ensure_eq!(page["metadata"]["remainingItemCount"], Value::Null, "remainingItemCount");
    Ok(())
}

async fn selected_pages_are_full(c: Context) -> Outcome {
    for number in 0..12 {
        let labels = json!({"odd": (number % 2 == 1).to_string()});
        c.create("configmaps", labelled(&format!("m{number:02}"), labels)).await?;
    }
    let query = "limit=2&labelSelector=odd%3Dtrue";
    let first = c.read(&format!("configmaps?{query}")).await?;
    ensure_eq!(names(&first), ["m01", "m03"], "the first page");
    let second = next(&c, &first, query).await?;
    ensure_eq!(names(&second), ["m05", "m07"], "the second page");
    let third = next(&c, &second, query).await?;
    ensure_eq!(names(&third), ["m09", "m11"], "the third page");
    Ok(())
}

async fn pages_may_differ_in_size(c: Context) -> Outcome {
    fill(&c, 6).await?;
    let first = c.read("configmaps?limit=1").await?;
    let second = next(&c, &first, "limit=2").await?;
    ensure_eq!(names(&second), ["m1", "m2"], "a page of two");
    let rest = next(&c, &second, "").await?;
    ensure_eq!(names(&rest), ["m3", "m4", "m5"], "the rest");
    // A token can be used again, and gives the same again.
    ensure_eq!(
        next(&c, &first, "limit=2").await?["items"],
        second["items"],
        "the page of two again"
    );
    Ok(())
}

async fn pages_of_all_namespaces(c: Context) -> Outcome {
    let other = c.unique("2");
    c.create("namespaces", json!({"metadata": {"name": other, "labels": c.run_labels()}})).await?;
    let labels = json!({"contract": c.namespace()});
    for name in ["a", "b"] {
        c.create("configmaps", labelled(name, labels.clone())).await?;
        let path = format!("/api/v1/namespaces/{other}/configmaps");
        c.create(&path, labelled(&format!("{name}2"), labels.clone())).await?;
    }
    let base = format!("/api/v1/configmaps?limit=1&labelSelector=contract%3D{}", c.namespace());
    let mut path = base.clone();
    let mut seen = Vec::new();
    loop {
        let page = c.read(&path).await?;
        seen.extend(names(&page));
        let Some(token) = token(&page) else { break };
        ensure!(seen.len() < 10, "no end: {seen:?}");
        path = format!("{base}&continue={token}");
    }
    ensure_eq!(seen, ["a2", "b2", "a", "b"], "names on all pages");
    Ok(())
}

async fn an_exact_version_in_pages(c: Context) -> Outcome {
    fill(&c, 3).await?;
    let version = c.list_version("configmaps").await?;
    c.create("configmaps", config_map("m0-later")).await?;
    let path = format!("configmaps?limit=2&resourceVersion={version}&resourceVersionMatch=Exact");
    let first = c.read(&path).await?;
    ensure_eq!(names(&first), ["m0", "m1"], "the first page");
    let second = next(&c, &first, "limit=2").await?;
    ensure_eq!(names(&second), ["m2"], "the second page");
    ensure_eq!(second.version(), version, "version");
    Ok(())
}

async fn a_token_and_a_version_exclude_each_other(c: Context) -> Outcome {
    fill(&c, 2).await?;
    let page = c.read("configmaps?limit=1").await?;
    let path = format!("configmaps?continue={}", token(&page).unwrap_or_default());
    let answer = c.get(&format!("{path}&resourceVersion={}", page.version())).await?;
    let status = answer.refused(400, "BadRequest")?;
    let message = "specifying resource version is not allowed when using continue";
    ensure_eq!(status["message"], message, "message");
    ensure_eq!(
        c.names(&format!("{path}&resourceVersion=0")).await?,
        ["m1"],
        "names with version 0"
    );
    Ok(())
}

async fn a_token_cannot_have_a_match_rule(c: Context) -> Outcome {
    fill(&c, 2).await?;
    let page = c.read("configmaps?limit=1").await?;
    let path = format!("configmaps?continue={}", token(&page).unwrap_or_default());
    let answer = c.get(&format!("{path}&resourceVersionMatch=Exact&resourceVersion=0")).await?;
    answer.invalid("resourceVersionMatch", "FieldValueForbidden")?;
    Ok(())
}

async fn malformed_tokens_are_refused(c: Context) -> Outcome {
    fill(&c, 2).await?;
    for bad in [
        "!".to_owned(),
        made_token("{}"),
        made_token("not json"),
        made_token(r#"{"v":"x","rv":1,"start":"a"}"#),
        made_token(r#"{"v":"meta.k8s.io/v1","start":"a"}"#),
        made_token(r#"{"v":"meta.k8s.io/v1","rv":1,"start":"../a"}"#),
    ] {
        let answer = c.get(&format!("configmaps?limit=1&continue={bad}")).await?;
        let status = answer.refused(400, "BadRequest")?;
        let message = status.at("/message");
        ensure!(message.contains("continue key is not valid"), "{message}");
    }
    Ok(())
}

async fn a_token_from_the_future_times_out(c: Context) -> Outcome {
    let version: i64 =
        c.list_version("configmaps").await?.parse().map_err(|error| format!("{error}"))?;
    let token = token_at(version + 1_000_000_000, "a");
    let answer = c.get(&format!("configmaps?limit=1&continue={token}")).await?;
    answer.refused(504, "Timeout")?;
    Ok(())
}

async fn a_token_without_version_goes_on_in_the_newest_state(c: Context) -> Outcome {
    fill(&c, 4).await?;
    let page = c.read(&format!("configmaps?limit=2&continue={}", token_at(-1, "m0"))).await?;
    ensure_eq!(names(&page), ["m1", "m2"], "names");
    ensure!(page.version_number()? > 0, "no version: {page}");
    ensure_eq!(names(&next(&c, &page, "limit=2").await?), ["m3"], "names on the next page");
    Ok(())
}

/// How far back history goes is the server's business; that a client can go on is not.
async fn an_old_token_works_or_is_expired(c: Context) -> Outcome {
    fill(&c, 3).await?;
    let answer = c.get(&format!("configmaps?limit=1&continue={}", token_at(1, "m0"))).await?;
    if answer.code == 200 {
        ensure_eq!(names(&answer.body).len(), 0, "how many there were in the beginning");
        return Ok(());
    }
    let status = answer.refused(410, "Expired")?;
    let page = next(&c, &status, "limit=5").await?;
    ensure_eq!(names(&page), ["m1", "m2"], "names with the token of the refusal");
    Ok(())
}
