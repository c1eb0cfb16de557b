use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> Kubeconfig {
    Kubeconfig::parse(text).unwrap()
}

#[test]
fn the_first_file_wins_for_whole_entries_and_new_names_are_added() {
    let mut merged = parse(
        "clusters: [{name: lab, cluster: {server: https://a}}]\nusers: [{name: dev, user: {token: a}}]",
    );
    merged.merge(parse(
        "clusters: [{name: lab, cluster: {server: https://b, tls-server-name: b}}, {name: new, cluster: {server: https://n}}]
users: [{name: dev, user: {username: b}}]
contexts: [{name: lab, context: {namespace: b}}]",
    ));
    merged.merge(parse("contexts: [{name: lab, context: {namespace: c, user: dev}}]\nextensions: [{name: e, extension: 1}]"));
    assert_eq!(merged.clusters["lab"].server.as_deref(), Some("https://a"));
    assert_eq!(merged.clusters["lab"].tls_server_name, None, "fields are not mixed");
    assert_eq!(merged.users["dev"].username, None, "fields are not mixed");
    assert_eq!(merged.clusters["new"].server.as_deref(), Some("https://n"));
    assert_eq!(merged.contexts["lab"].user, None);
    assert_eq!(merged.extensions["e"], 1);
}

#[test]
fn the_first_current_context_that_is_set_wins() {
    let mut merged = parse("current-context: ''");
    merged.merge(parse("current-context: ghost"));
    merged.merge(parse("current-context: lab"));
    assert_eq!(merged.current_context.as_deref(), Some("ghost"));
}

proptest! {
    /// Whatever files there are: each name has the value of the first file that knows it.
    #[test]
    fn merging_takes_the_first_of_each_name(
        files in prop::collection::vec((prop::collection::btree_map(0u8..6, any::<u8>(), 0..5), prop::option::of(0u8..6)), 0..5),
    ) {
        let mut merged = Kubeconfig::default();
        for (entries, current) in &files {
            let mut file = Kubeconfig::default();
            for (name, value) in entries {
                let context = crate::Context { namespace: Some(value.to_string()), ..Default::default() };
                file.contexts.insert(name.to_string(), context);
            }
            file.current_context = current.map(|current| current.to_string());
            merged.merge(file);
        }
        for name in 0u8..6 {
            let first = files.iter().find_map(|(entries, _)| entries.get(&name));
            let found = merged.contexts.get(&name.to_string()).and_then(|context| context.namespace.clone());
            prop_assert_eq!(found, first.map(u8::to_string));
        }
        let first = files.iter().find_map(|(_, current)| *current);
        prop_assert_eq!(merged.current_context, first.map(|current| current.to_string()));
    }
}
