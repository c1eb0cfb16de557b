//! Requests as they are sent, and answers as they are understood.

mod support;

use std::time::Duration;

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use kubewright_client::{Request, RestClient, Verb};
use kubewright_meta::{GroupVersion, PatchType};
use serde_json::{Value, json as value};
use support::{Answer, Script, Then, json, retry_after, stream, text};

fn ok() -> Answer {
    json(200, value!({}))
}

fn core(client: &kubewright_client::Client) -> RestClient {
    RestClient::for_group_version(client, &GroupVersion::new("", "v1"))
}

async fn line(build: impl FnOnce(RestClient) -> Request) -> String {
    let (script, client) = Script::new([ok()]);
    build(core(&client)).send().await.unwrap();
    script.only().line()
}

async fn refused(build: impl FnOnce(RestClient) -> Request) -> String {
    let (script, client) = Script::new([]);
    let error = build(core(&client)).send().await.unwrap_err();
    assert!(error.is_invalid_request(), "{error}");
    assert!(script.seen().is_empty());
    assert_eq!(client.calls().total(), 0);
    error.to_string()
}

#[tokio::test]
async fn paths_are_built_from_their_parts() {
    assert_eq!(line(|c| c.get().resource("nodes")).await, "GET /api/v1/nodes");
    assert_eq!(
        line(|c| c.put().namespace("a").resource("Pods").name("web").subresource("status")).await,
        "PUT /api/v1/namespaces/a/pods/web/status"
    );
    assert_eq!(line(|c| c.get().namespace("").resource("pods")).await, "GET /api/v1/pods");
    assert_eq!(line(|c| c.get().abs_path("/healthz/")).await, "GET /healthz/");
    let (script, client) = Script::new([ok(), ok()]);
    let apps = RestClient::for_group_version(&client, &GroupVersion::new("apps", "v1"));
    apps.post().namespace("a").resource("replicasets").send().await.unwrap();
    RestClient::unversioned(&client).get().send().await.unwrap();
    assert_eq!(script.lines(), ["POST /apis/apps/v1/namespaces/a/replicasets", "GET /"]);
    // The slash at the end of a path is not the one in front of the next part.
    assert_eq!(
        line(|c| c.get().abs_path("/apis/lab.test/v1/").resource("widgets")).await,
        "GET /apis/lab.test/v1/widgets"
    );
    assert_eq!(
        line(|c| c.get().abs_path("/apis/lab.test/v1/").namespace("a").resource("w")).await,
        "GET /apis/lab.test/v1/namespaces/a/w"
    );
}

#[tokio::test]
async fn names_are_encoded_once() {
    for (name, path) in [
        ("two words", "/api/v1/nodes/two%20words"),
        ("system:node:a", "/api/v1/nodes/system:node:a"),
        ("x?y", "/api/v1/nodes/x%3Fy"),
        ("h#1", "/api/v1/nodes/h%231"),
        ("ü", "/api/v1/nodes/%C3%BC"),
    ] {
        assert_eq!(line(|c| c.get().resource("nodes").name(name)).await, format!("GET {path}"));
    }
}

#[tokio::test]
async fn impossible_parts_are_refused_before_sending() {
    for name in ["", ".", "..", "a/b", "a%2fb", "lab:read/all"] {
        refused(|c| c.get().resource("pods").name(name)).await;
        refused(|c| c.delete().resource("pods").name("a").subresource(name)).await;
        if !name.is_empty() {
            refused(|c| c.get().namespace(name).resource("pods")).await;
        }
    }
    refused(|c| c.post().namespace("").resource("pods")).await;
    refused(|c| c.get().namespace("").resource("pods").name("a")).await;
    refused(|c| c.get().name("a")).await;
    refused(|c| c.get().resource("pods").subresource("log")).await;
    refused(|c| c.get().abs_path("healthz")).await;
    refused(|c| c.get().resource("pods").header("bad name", "x")).await;
}

#[tokio::test]
async fn the_first_mistake_decides() {
    let text = refused(|c| c.get().resource("pods").name("a/b").name("..").namespace("%")).await;
    assert!(text.contains("\"a/b\"") && !text.contains(".."), "{text}");
    let text = refused(|c| c.get().resource("pods").name("a").name("b")).await;
    assert!(text.contains("twice"), "{text}");
    // A header's value may be a credential.
    let text = refused(|c| c.get().header("authorization", "hunter2\n")).await;
    assert!(!text.contains("hunter2"), "{text}");
}

#[tokio::test]
async fn parameters_are_appended_and_encoded() {
    let sent = line(|c| {
        c.get()
            .resource("pods")
            .param("a", "1 2")
            .param("a", "x=y&z")
            .timeout(Duration::from_millis(1500))
    });
    assert_eq!(sent.await, "GET /api/v1/pods?a=1+2&a=x%3Dy%26z&timeout=1.5s");
}

#[tokio::test]
async fn headers_say_what_is_sent_and_wanted() {
    let (script, client) = Script::new([ok(), ok(), ok()]);
    core(&client).post().namespace("a").resource("pods").body("{}").send().await.unwrap();
    core(&client)
        .patch(PatchType::Apply)
        .resource("nodes")
        .name("n")
        .body("{}")
        .send()
        .await
        .unwrap();
    let request = core(&client).get().resource("pods").header("user-agent", "me");
    request.header("authorization", "Basic x").header("accept", "text/plain").send().await.unwrap();
    let seen = script.seen();
    assert_eq!(seen[0].headers[CONTENT_TYPE], "application/json");
    assert_eq!(seen[0].headers[ACCEPT], "application/json, */*");
    let agent = seen[0].headers[USER_AGENT].to_str().unwrap();
    assert!(agent.contains("/kubewright-"), "{agent}");
    assert_eq!(seen[1].headers[CONTENT_TYPE], "application/apply-patch+yaml");
    assert!(!seen[2].headers.contains_key(CONTENT_TYPE));
    assert_eq!(seen[2].headers[USER_AGENT], "me");
    assert_eq!(seen[2].headers[AUTHORIZATION], "Basic x");
    assert_eq!(seen[2].headers[ACCEPT], "text/plain");
}

#[tokio::test]
async fn calls_are_counted_by_verb() {
    let (_, client) = Script::new((0..9).map(|_| ok()));
    let rest = core(&client);
    rest.get().resource("pods").send().await.unwrap();
    rest.get().resource("pods").param("watch", "true").send().await.unwrap();
    rest.get().resource("nodes").name("a").send().await.unwrap();
    rest.get().abs_path("/version").send().await.unwrap();
    rest.post().namespace("a").resource("pods").send().await.unwrap();
    rest.put().resource("nodes").name("a").send().await.unwrap();
    rest.patch(PatchType::Merge).resource("nodes").name("a").send().await.unwrap();
    rest.delete().resource("nodes").name("a").send().await.unwrap();
    rest.delete().resource("nodes").send().await.unwrap();
    let calls = client.clone().calls();
    assert_eq!(calls.of(Verb::Get), 2);
    for verb in Verb::ALL.into_iter().filter(|verb| *verb != Verb::Get) {
        assert_eq!(calls.of(verb), 1, "{verb}");
    }
    assert_eq!((calls.total(), calls.retries()), (9, 0));
}

#[tokio::test]
async fn refusals_carry_the_servers_status() {
    let status = value!({"kind": "Status", "apiVersion": "v1", "status": "Failure",
        "message": "pods \"web\" not found", "reason": "NotFound", "code": 404});
    let (_, client) = Script::new([json(404, status), text(403, "text/plain", "no way")]);
    let get =
        || core(&client).get().namespace("a").resource("pods").name("web").param("t", "secret");
    let error = get().send().await.unwrap_err();
    assert!(error.is_not_found() && error.status().is_some());
    assert_eq!(
        error.to_string(),
        "GET /api/v1/namespaces/a/pods/web: pods \"web\" not found (NotFound, 404)"
    );
    let error = get().send().await.unwrap_err();
    assert!(error.is_forbidden(), "{error}");
    assert!(error.to_string().contains("no way"), "{error}");
}

#[tokio::test]
async fn an_unknown_resource_gets_a_hint_and_a_missing_object_does_not() {
    let status = |message: &str, details: Value| {
        let status = value!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message,
            "reason": "NotFound", "details": details, "code": 404});
        json(404, status)
    };
    let unknown = "the server could not find the requested resource";
    let (_, client) = Script::new([
        status(unknown, value!({})),
        text(404, "text/plain", "404 page not found"),
        status("pods \"web\" not found", value!({"name": "web", "kind": "pods"})),
        status(unknown, value!({})),
        json(401, value!({})),
    ]);
    let hint = "; is the API group served, or the custom resource definition installed?";
    let ask = async |resource: bool| {
        let request = core(&client).get();
        let request = match resource {
            true => request.namespace("a").resource("pods").name("web"),
            false => request,
        };
        request.send().await.unwrap_err().to_string()
    };
    for expected in [true, true, false] {
        let error = ask(true).await;
        assert_eq!(error.ends_with(hint), expected, "{error}");
    }
    let error = ask(false).await;
    assert!(!error.contains("group served"), "{error}");
    let error = ask(true).await;
    let expected = "; the client sent no credentials; its service has to add them";
    assert!(error.ends_with(expected), "{error}");
}

#[tokio::test]
async fn a_failure_with_code_200_is_a_failure() {
    let failure = value!({"kind": "Status", "apiVersion": "v1", "status": "Failure",
        "message": "no", "reason": "Conflict", "code": 409});
    let success = value!({"kind": "Status", "apiVersion": "v1", "status": "Success"});
    let (_, client) = Script::new([json(200, failure), json(200, success), text(200, "", "")]);
    let get = async || core(&client).get().resource("pods").send().await.unwrap().decode::<Value>();
    assert!(get().await.unwrap_err().is_conflict());
    assert_eq!(get().await.unwrap()["status"], "Success");
    let error = get().await.unwrap_err();
    assert!(error.is_decode() && error.to_string().contains("empty"), "{error}");
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_not_shown() {
    let (_, client) = Script::new([text(200, "application/json", r#"{"major": ["hunter2"]}"#)]);
    let error = client.server_version().await.unwrap_err();
    assert!(error.is_decode() && error.to_string().starts_with("GET /version"), "{error}");
    assert!(!format!("{error:?}").contains("hunter2"));
}

#[tokio::test(start_paused = true)]
async fn every_verb_is_repeated_when_the_server_asks_for_it() {
    for method in ["post", "put", "patch", "delete", "get"] {
        let (script, client) = Script::new([retry_after(429, "3"), retry_after(503, "2"), ok()]);
        let rest = core(&client);
        let request = match method {
            "post" => rest.post().namespace("a").resource("configmaps"),
            "put" => rest.put().resource("nodes").name("n"),
            "patch" => rest.patch(PatchType::Merge).resource("nodes").name("n"),
            "delete" => rest.delete().resource("nodes").name("n"),
            _ => rest.get().resource("nodes").name("n"),
        };
        request.body(vec![b'x'; 2048]).send().await.unwrap();
        let seen = script.seen();
        assert_eq!(seen.len(), 3, "{method}");
        assert!(seen.iter().all(|request| request.body == vec![b'x'; 2048]));
        assert_eq!((seen[1].at - seen[0].at).as_secs(), 3);
        assert_eq!((seen[2].at - seen[1].at).as_secs(), 2);
        assert_eq!((client.calls().total(), client.calls().retries()), (1, 2));
    }
}

#[tokio::test(start_paused = true)]
async fn repeating_ends_after_ten_times_with_the_last_answer() {
    let (script, client) = Script::new((0..11).map(|_| retry_after(429, "1")));
    let error = core(&client).get().resource("pods").send().await.unwrap_err();
    assert!(error.is_too_many_requests());
    assert_eq!(error.retry_after(), Some(Duration::from_secs(1)));
    assert_eq!(script.seen().len(), 11);
}

#[tokio::test]
async fn nothing_else_is_repeated() {
    for answer in [
        retry_after(500, "soon"),
        retry_after(404, "1"),
        text(500, "text/plain", "oops"),
        Answer::Fail("the service is gone"),
    ] {
        let (script, client) = Script::new([answer]);
        core(&client).get().resource("pods").send().await.unwrap_err();
        assert_eq!(script.seen().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn every_call_has_a_deadline() {
    let (_, client) = Script::new([Answer::Never, Answer::Never, Answer::Never]);
    let started = tokio::time::Instant::now();
    let error = core(&client).get().resource("pods").send().await.unwrap_err();
    assert!(error.is_timeout() && !error.is_transport(), "{error}");
    assert_eq!(started.elapsed(), kubewright_client::Client::DEFAULT_TIMEOUT);

    let quick = client.with_timeout(Some(Duration::from_secs(2)));
    core(&quick).get().resource("pods").send().await.unwrap_err();
    assert_eq!(started.elapsed().as_secs(), 62);

    let request = core(&quick).get().resource("pods").timeout(Duration::from_secs(5));
    assert!(request.send().await.unwrap_err().to_string().contains("5s"));
    assert_eq!(started.elapsed().as_secs(), 67);
}

#[tokio::test(start_paused = true)]
async fn the_deadline_counts_the_body_and_the_repetitions() {
    let (_, client) = Script::new([stream(["{"], Then::Hang)]);
    assert!(core(&client).get().resource("pods").send().await.unwrap_err().is_timeout());

    let (script, client) = Script::new((0..11).map(|_| retry_after(503, "25")));
    let error = core(&client).get().resource("pods").send().await.unwrap_err();
    assert!(error.is_timeout(), "{error}");
    assert!(error.to_string().contains("503"), "{error}");
    assert_eq!(error.retry_after(), Some(Duration::from_secs(25)));
    assert_eq!(script.seen().len(), 3);
}

#[tokio::test]
async fn a_broken_body_is_an_error_of_transport() {
    let (_, client) = Script::new([stream(["{"], Then::Break)]);
    let error = core(&client).get().resource("pods").send().await.unwrap_err();
    assert!(error.is_transport() && error.to_string().contains("the line broke"), "{error}");
}

#[tokio::test]
async fn an_answer_beyond_the_limit_is_refused() {
    let chunk = bytes::Bytes::from(vec![b' '; 1 << 20]);
    let (_, client) = Script::new([stream(vec![chunk; 65], Then::End)]);
    let error = core(&client).get().resource("pods").send().await.unwrap_err();
    assert!(error.is_decode() && error.to_string().contains("stream"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_handed_out_as_it_comes_and_may_pause() {
    let (_, client) = Script::new([stream(["one", "two"], Then::Hang)]);
    let mut log = core(&client).get().namespace("a").resource("pods").name("p").subresource("log");
    log = log.param("follow", "true");
    let mut body = log.stream().await.unwrap();
    assert_eq!(body.next().await.unwrap().unwrap(), "one");
    assert_eq!(body.next().await.unwrap().unwrap(), "two");
    let hour = Duration::from_secs(3600);
    assert!(tokio::time::timeout(hour, body.next()).await.is_err());
}

#[tokio::test]
async fn the_version_of_the_server_is_read() {
    let version = value!({"major": "1", "minor": "36", "gitVersion": "v1.36.2", "gitCommit": "c",
        "gitTreeState": "clean", "buildDate": "", "goVersion": "", "compiler": "gc", "platform": "linux/amd64"});
    let (script, client) = Script::new([json(200, version)]);
    assert_eq!(client.server_version().await.unwrap().git_version, "v1.36.2");
    assert_eq!(script.only().line(), "GET /version");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_counts_although_its_body_never_ends() {
    for watch in ["true", "false"] {
        let (_, client) = Script::new([Answer::Reply {
            code: 410,
            headers: vec![("content-type", "application/json".to_owned())],
            chunks: vec![r#"{"kind": "Status""#.into()],
            then: Then::Hang,
        }]);
        let request = core(&client).get().resource("pods").param("watch", watch);
        let error = request.stream().await.unwrap_err();
        assert!(error.is_expired(), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_that_is_set_for_a_watch_counts_to_its_beginning() {
    let began = || stream(["{"], Then::Hang);
    let (script, client) = Script::new([Answer::Never, began()]);
    let watch = || {
        core(&client)
            .get()
            .resource("pods")
            .param("watch", "1")
            .timeout(Duration::from_secs(5))
            .stream()
    };
    assert!(watch().await.unwrap_err().is_timeout());
    let mut body = watch().await.unwrap();
    assert_eq!(body.next().await.unwrap().unwrap(), "{");
    let more = tokio::time::timeout(Duration::from_secs(3600), body.next());
    assert!(more.await.is_err(), "it goes on as long as it likes");
    assert!(script.seen()[0].query().contains("timeout=5s"));
}

#[tokio::test]
async fn nothing_secret_is_shown_for_debugging() {
    let (_, client) = Script::new([text(200, "application/json", r#"{"data": "hunter2"}"#)]);
    let request = core(&client)
        .post()
        .namespace("a")
        .resource("secrets")
        .param("token", "hunter2")
        .header("Authorization", "Bearer hunter2")
        .header("Cookie", "hunter2")
        .json(&value!({"data": "hunter2"}));
    let shown = format!("{request:?}");
    assert!(shown.contains("POST /api/v1/namespaces/a/secrets"), "{shown}");
    let response = request.send().await.unwrap();
    let shown = format!("{shown}{response:?}");
    assert!(shown.contains("200") && !shown.contains("hunter2"), "{shown}");
}

#[tokio::test]
async fn a_header_that_is_there_once_is_replaced() {
    let (script, client) = Script::new([ok()]);
    core(&client)
        .patch(PatchType::Merge)
        .resource("nodes")
        .name("n")
        .header("Content-Type", "application/json-patch+json")
        .header("X-Both", "1")
        .header("X-Both", "2")
        .body("[]")
        .send()
        .await
        .unwrap();
    let headers = script.only().headers;
    let values = |name: &str| headers.get_all(name).iter().collect::<Vec<_>>();
    assert_eq!(values("content-type"), ["application/json-patch+json"]);
    assert_eq!(values("x-both"), ["1", "2"]);
}
