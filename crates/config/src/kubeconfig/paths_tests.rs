use super::*;

#[test]
fn paths_are_relative_to_the_file_and_bare_commands_stay_for_path() {
    let text = "
clusters: [{name: c, cluster: {certificate-authority: pki/ca.pem}}, {name: abs, cluster: {certificate-authority: /etc/ca.pem}}]
users:
- name: u
  user: {client-certificate: ./c.pem, client-key: ../k.pem, tokenFile: t, exec: {command: ./bin/cred}}
- name: bare
  user: {exec: {command: cred}}
contexts: [{name: x}]
current-context: x
";
    let mut read = Kubeconfig::parse(text).unwrap();
    let file = Path::new("/srv/x/kc/config");
    read.place_in(file);
    let path = |path: &Option<PathBuf>| path.clone().unwrap().to_str().unwrap().to_owned();
    assert_eq!(path(&read.clusters["c"].certificate_authority), "/srv/x/kc/pki/ca.pem");
    assert_eq!(path(&read.clusters["abs"].certificate_authority), "/etc/ca.pem");
    let user = &read.users["u"];
    assert_eq!(path(&user.client_certificate), "/srv/x/kc/c.pem");
    assert_eq!(path(&user.client_key), "/srv/x/k.pem");
    assert_eq!(path(&user.token_file), "/srv/x/kc/t");
    let command = |name: &str| read.users[name].exec.as_ref().unwrap().command.clone().unwrap();
    assert_eq!((command("u").as_str(), command("bare").as_str()), ("/srv/x/kc/bin/cred", "cred"));
    for origin in
        [&user.file, &read.clusters["c"].file, &read.contexts["x"].file, &read.current_context_file]
    {
        assert_eq!(origin.as_deref(), Some(file));
    }
}

#[test]
fn more_parents_than_folders_end_at_the_root() {
    assert_eq!(join(Path::new("/a"), Path::new("../../../b")), Path::new("/b"));
}
