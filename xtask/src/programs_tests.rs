use super::*;

#[test]
fn the_program_is_found_among_cargos_messages() {
    let messages = r#"{"reason":"compiler-artifact","target":{"name":"other"},"executable":"/t/other"}
not json
{"reason":"compiler-artifact","target":{"name":"kubewright"},"executable":null}
{"reason":"compiler-artifact","target":{"name":"kubewright"},"executable":"/t/kubewright"}
{"reason":"build-finished","success":true}"#;
    assert_eq!(executable_in(messages, "kubewright"), Some(PathBuf::from("/t/kubewright")));
    assert_eq!(executable_in("", "kubewright"), None);
}
