use super::*;

fn start(folder: &Path, script: &str) -> Process {
    let argv = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
    Process::start(argv, 1, &folder.join("log")).expect("started")
}

#[test]
fn a_process_is_killed_and_gone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let process = start(folder.path(), "exec sleep 600");
    assert!(process.is_running());
    process.kill().expect("gone");
    assert!(!process.is_running());
    process.kill().expect("a dead process is no error");
}

#[test]
fn another_program_with_the_same_pid_is_not_ours() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let process = start(folder.path(), "exec sleep 600");
    let mut stranger = process.clone();
    stranger.birth.push('1');
    assert!(!stranger.is_running());
    stranger.kill().expect("nothing to do");
    assert!(process.is_running());
    process.kill().expect("gone");
}

#[test]
fn each_start_has_its_own_output() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let first = start(folder.path(), "echo listen: address already in use");
    assert!(first.wait_gone(Duration::from_secs(10)));
    assert!(first.lost_its_port());
    let second = start(folder.path(), "echo fine");
    assert!(second.wait_gone(Duration::from_secs(10)));
    assert!(!second.lost_its_port());
    assert_eq!(second.output(), "fine\n");
    assert!(second.output_tail().ends_with("fine\n"));
}

#[test]
fn the_birth_is_read_whatever_the_name() {
    let stat = |state| {
        format!("7 (a) b (c) {state} 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20 21")
    };
    assert_eq!(birth_in_stat(&stat("S")).as_deref(), Some("4242"));
    assert_eq!(birth_in_stat(&stat("Z")), None);
    assert_eq!(birth_in_stat("7 (a"), None);
    let ps = "Ss   Mon Jan  5 10:00:00 2026\n";
    assert_eq!(birth_from_ps(ps).as_deref(), Some("Mon Jan  5 10:00:00 2026"));
    assert_eq!(birth_from_ps("Z    Mon Jan  5 10:00:00 2026"), None);
    assert_eq!(birth_from_ps(""), None);
}
