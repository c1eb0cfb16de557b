//! The control plane as its users meet it. Ignored by default, because the first start builds Kubernetes (some minutes):
//! `cargo test -p xtask --test controlplane -- --ignored`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

fn xtask(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(args).stdin(Stdio::null());
    command
}

/// Starts `run -- sh -c SCRIPT` and gives the first line the script prints: the control plane's folder and processes.
fn start(script: &str) -> (Child, BufReader<ChildStdout>, String, Vec<i64>) {
    let script = format!("echo $KUBEWRIGHT_CONTROLPLANE_DIR; {script}");
    let mut child = xtask(&["controlplane", "run", "--", "sh", "-c", &script])
        .stdout(Stdio::piped())
        .spawn()
        .expect("xtask starts");
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    let mut folder = String::new();
    output.read_line(&mut folder).expect("a line");
    let folder = folder.trim().to_owned();
    let pids = pids(&folder);
    assert!(pids.iter().all(|pid| runs(*pid)), "{pids:?} in {folder:?}");
    (child, output, folder, pids)
}

/// A piece of script that waits for [`go_on`] with the same word.
fn wait_for(word: &str) -> String {
    format!("while [ ! -e $KUBEWRIGHT_CONTROLPLANE_DIR/{word} ]; do sleep 0.05; done")
}

fn go_on(folder: &str, word: &str) {
    fs::write(Path::new(folder).join(word), "").expect("written");
}

fn pids(folder: &str) -> Vec<i64> {
    let text = fs::read(Path::new(folder).join("controlplane.json")).expect("a state file");
    let state: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
    ["etcd", "apiserver"].iter().map(|name| state[name]["pid"].as_i64().expect("a pid")).collect()
}

/// Whether a process has not ended; a zombie has.
fn runs(pid: i64) -> bool {
    let output =
        Command::new("ps").args(["-o", "state=", "-p", &pid.to_string()]).output().expect("ps");
    let state = String::from_utf8_lossy(&output.stdout);
    !state.trim().is_empty() && !state.trim().starts_with('Z')
}

fn assert_gone_soon(folder: &str, pids: &[i64]) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while Path::new(folder).exists() || pids.iter().any(|pid| runs(*pid)) {
        assert!(Instant::now() < deadline, "{pids:?} or {folder} are left");
        thread::sleep(Duration::from_millis(50));
    }
}

fn signal(name: &str, pid: u32) {
    let status = Command::new("kill").args([name, &pid.to_string()]).status().expect("kill");
    assert!(status.success());
}

#[test]
#[ignore = "builds Kubernetes at its first start"]
fn the_exit_status_is_that_of_the_command_and_nothing_is_left() {
    let (mut child, _output, folder, pids) = start(&format!("{}; exit 37", wait_for("exit")));
    go_on(&folder, "exit");
    assert_eq!(child.wait().expect("ended").code(), Some(37));
    assert!(!Path::new(&folder).exists());
    assert!(!pids.iter().any(|pid| runs(*pid)));
}

#[test]
#[ignore = "builds Kubernetes at its first start"]
fn a_restarted_apiserver_belongs_to_the_supervisor() {
    let script = format!(
        "{}; {} controlplane restart-apiserver && {}",
        wait_for("restart"),
        env!("CARGO_BIN_EXE_xtask"),
        wait_for("exit")
    );
    let (mut child, mut output, folder, first) = start(&script);
    go_on(&folder, "restart");
    let mut line = String::new();
    output.read_line(&mut line).expect("a line");
    assert!(line.contains("ready again"), "{line}");
    let second = pids(&folder);
    assert!(!runs(first[1]));
    assert_eq!(second[0], first[0]);
    assert!(runs(second[1]));
    go_on(&folder, "exit");
    assert!(child.wait().expect("ended").success());
    assert_gone_soon(&folder, &second);
}

#[test]
#[ignore = "builds Kubernetes at its first start"]
fn a_termination_reaches_the_command_first() {
    let (mut child, mut output, folder, pids) =
        start("trap 'echo asked; exit 5' TERM; echo set; while :; do sleep 0.1; done");
    let mut lines = String::new();
    output.read_line(&mut lines).expect("a line");
    signal("-TERM", child.id());
    output.read_line(&mut lines).expect("a line");
    assert_eq!(lines, "set\nasked\n");
    assert_eq!(child.wait().expect("ended").code(), Some(5));
    assert_gone_soon(&folder, &pids);
}

#[test]
#[ignore = "builds Kubernetes at its first start"]
fn a_killed_supervisor_leaves_nothing_behind() {
    let (mut child, _output, folder, pids) = start("exec sleep 600");
    signal("-KILL", child.id());
    child.wait().expect("ended");
    assert_gone_soon(&folder, &pids);
}

#[test]
#[ignore = "builds Kubernetes at its first start"]
fn a_refused_argument_shows_what_the_apiserver_said() {
    let output = xtask(&["controlplane", "run", "--extra-apiserver-arg=--nonsense", "--", "true"])
        .output()
        .expect("xtask runs");
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("unknown flag: --nonsense"), "{errors}");
}
