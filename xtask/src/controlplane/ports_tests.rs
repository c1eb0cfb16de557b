use super::*;

#[test]
fn ports_differ_and_can_be_bound() {
    let ports = free::<3>().expect("a machine with three free ports");
    assert!(ports[0] != ports[1] && ports[1] != ports[2] && ports[0] != ports[2]);
    for port in ports {
        assert!(RANGE.contains(&port));
    }
}

#[test]
fn a_port_in_use_is_passed_over() {
    let [taken] = free::<1>().expect("a free port");
    let _listener = TcpListener::bind((Ipv4Addr::LOCALHOST, taken));
    let others = free::<8>().expect("eight free ports");
    assert!(!others.contains(&taken));
}
