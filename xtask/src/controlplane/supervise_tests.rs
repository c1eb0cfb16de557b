use super::*;

#[test]
fn the_exit_code_is_that_of_a_shell() {
    assert_eq!(exit_code(ExitStatus::from_raw(0)), 0);
    assert_eq!(exit_code(ExitStatus::from_raw(7 << 8)), 7);
    assert_eq!(exit_code(ExitStatus::from_raw(Signal::TERM.as_raw())), 143);
}

#[test]
fn a_stubborn_command_is_killed_at_the_second_signal() {
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", "trap '' TERM; echo; while :; do sleep 1; done"])
        .stdout(std::process::Stdio::piped())
        .process_group(0);
    let mut child = command.spawn().expect("started");
    // It says when its trap is set.
    let mut said = [0_u8; 1];
    io::Read::read_exact(child.stdout.as_mut().expect("piped"), &mut said).expect("said");
    let running = Running { pid: child.id().cast_signed(), child: None, leads_group: true };
    let (sender, events) = mpsc::channel();
    for _ in 0..2 {
        sender.send(Event::Signal(Signal::TERM)).expect("sent");
    }
    thread::spawn(move || {
        let status = child.wait().expect("waited");
        sender.send(Event::Exited(status)).expect("sent");
    });
    let status = running.wait(&events).expect("ended");
    assert_eq!(exit_code(status), 137);
}
