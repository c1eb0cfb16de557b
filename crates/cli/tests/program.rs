//! The program as a person runs it.

#![cfg(unix)]

use std::path::Path;
use std::process::Stdio;

use k8s_openapi::api::core::v1::Namespace;
use kubewright::client::Client;
use kubewright::config::Config;
use kubewright::meta::{CreateOptions, ListOptions, Object, WatchOptions};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

fn kubewright() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubewright"));
    command.kill_on_drop(true);
    command
}

/// A development server that has said that it serves, and what it does not do.
async fn serve(kubeconfig: &Path, more: &[&str]) -> (Child, String) {
    let mut command = kubewright();
    command.arg("devserver").arg("--write-kubeconfig").arg(kubeconfig).args(more);
    let mut server = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let greeting = lines.next_line().await.unwrap().unwrap();
    assert!(greeting.starts_with("serving at https://127.0.0.1:"), "{greeting}");
    let hint = lines.next_line().await.unwrap().unwrap();
    assert!(hint.starts_with("try: kubectl --kubeconfig "), "{hint}");
    let not_served = lines.next_line().await.unwrap().unwrap();
    assert!(not_served.starts_with("not served yet: "), "{not_served}");
    let controllers = lines.next_line().await.unwrap().unwrap();
    (server, controllers)
}

#[tokio::test]
async fn the_demo_tells_its_whole_story() {
    let output = kubewright().args(["demo", "--ready-delay", "20"]).output().await.unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    for step in [
        "3 replicas become ready",
        "a deleted pod is replaced",
        "scaled up to 10",
        "scaled down to 2",
        "an orphan with matching labels is adopted",
        "the set is deleted, its pods are collected",
        "the namespace goes",
    ] {
        assert_eq!(
            told.matches(step).count(),
            2,
            "{step:?} as it happens and in the table:\n{told}"
        );
    }
    assert!(told.trim_end().ends_with("all"), "{told}");
}

#[tokio::test]
async fn the_demo_goes_on_when_nobody_reads_it() {
    let mut command = kubewright();
    command.args(["demo", "--ready-delay", "20"]).stdout(Stdio::piped());
    let mut demo = command.spawn().unwrap();
    drop(demo.stdout.take());
    assert!(demo.wait().await.unwrap().success());
}

#[tokio::test]
async fn the_demo_fails_when_a_step_is_not_seen() {
    // Pods that are never ready in time.
    let late = ["demo", "--ready-delay", "60000", "--step-timeout", "1"];
    let output = kubewright().args(late).output().await.unwrap();
    assert!(!output.status.success());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("not seen within 1s: 3 replicas become ready"), "{told}");
}

#[tokio::test]
async fn a_devserver_serves_until_it_is_told_to_stop() {
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("kubeconfig");
    let (mut server, controllers) = serve(&kubeconfig, &["--controllers"]).await;
    assert!(controllers.contains("ReplicaSet"), "{controllers}");
    assert!(controllers.contains("none for Deployments"), "{controllers}");

    let client = Client::new(Config::from_file(&kubeconfig).unwrap()).unwrap();
    let namespaces = client.cluster::<Namespace>();
    let listed = namespaces.list(&ListOptions::default()).await.unwrap();
    assert!(listed.items.iter().any(|namespace| namespace.name() == "default"));

    // A watch that is open does not hold it up.
    let version = listed.resource_version().to_owned();
    let mut watch = namespaces.watch(&WatchOptions::from_version(version)).await.unwrap();
    let pid = Pid::from_raw(server.id().unwrap().try_into().unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    assert!(server.wait().await.unwrap().success());
    while let Some(Ok(_)) = watch.next().await {}
}

#[tokio::test]
async fn a_devserver_without_controllers_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let (mut server, controllers) = serve(&folder.path().join("kubeconfig"), &[]).await;
    assert!(controllers.starts_with("controllers: none"), "{controllers}");
    server.kill().await.unwrap();
}

#[tokio::test]
async fn a_port_that_is_taken_is_a_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let kubeconfig = folder.path().join("kubeconfig");
    let output = kubewright()
        .args(["devserver", "--port", &port, "--write-kubeconfig"])
        .arg(&kubeconfig)
        .output()
        .await
        .unwrap();
    assert!(!output.status.success());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains(&port), "{told}");
    assert!(!kubeconfig.exists());
}

#[tokio::test]
async fn a_kubeconfig_that_is_missing_is_a_clear_error() {
    let output =
        kubewright().args(["demo", "--kubeconfig", "/nope/config"]).output().await.unwrap();
    assert!(!output.status.success());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("/nope/config"), "{told}");
}

#[tokio::test]
async fn the_demo_keeps_away_from_clusters_with_nodes_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("kubeconfig");
    let _server = serve(&kubeconfig, &[]).await;
    let client = Client::new(Config::from_file(&kubeconfig).unwrap()).unwrap();
    let node =
        serde_json::from_value(serde_json::json!({"metadata": {"name": "worker-1"}})).unwrap();
    let nodes = client.cluster::<k8s_openapi::api::core::v1::Node>();
    nodes.create(&node, &CreateOptions::default()).await.unwrap();

    let demo = |more: &'static [&'static str]| {
        let mut command = kubewright();
        command.args(["demo", "--ready-delay", "20", "--kubeconfig"]).arg(&kubeconfig).args(more);
        command
    };
    let output = demo(&[]).output().await.unwrap();
    assert!(!output.status.success());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("\"worker-1\"") && told.contains("--force"), "{told}");
    assert!(demo(&["--force"]).output().await.unwrap().status.success());
}
