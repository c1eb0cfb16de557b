use super::*;

fn only(text: &str) -> Action {
    let mut steps = parse(text).expect("a list");
    assert_eq!(steps.len(), 1);
    steps.remove(0).action
}

#[test]
fn quotes_hold_words_together() {
    let words = words("get -o jsonpath='{.a b}' ''").expect("words");
    assert_eq!(words, ["get", "-o", "jsonpath={.a b}", ""]);
    assert!(parse("get 'x").is_err());
}

#[test]
fn marks_and_redirection_are_taken_off() {
    let Action::Run { args, expect, compare, save } =
        only("# a comment\n\n! subset get x -o json > old.json\n")
    else {
        panic!("a command");
    };
    assert_eq!(args, ["get", "x", "-o", "json"]);
    assert_eq!(expect, Expect::Failure);
    assert_eq!(compare, Compare::Subset);
    assert_eq!(save.as_deref(), Some("old.json"));
}

#[test]
fn a_background_command_has_a_name_and_bounds() {
    let action = only("begin w 1 3 get pods -w");
    let args = ["get", "pods", "-w"].map(str::to_owned).to_vec();
    let name = "w".to_owned();
    assert_eq!(action, Action::Begin { name, first: 1, total: 3, args });
    let name = "w".to_owned();
    assert_eq!(only("end w"), Action::End { name });
    assert!(parse("begin w 1 get").is_err());
    assert!(parse("begin w one 3 get pods").is_err());
    assert!(parse("end").is_err());
    assert!(parse("!").is_err());
}

#[test]
fn the_list_in_the_repository_is_sound() {
    let root = crate::workspace::root().expect("root");
    let text = std::fs::read_to_string(root.join("xtask/kubectl/commands.txt")).expect("the list");
    let steps = parse(&text).expect("a list");
    assert!(steps.len() >= 60, "{}", steps.len());
    let allowed =
        std::fs::read_to_string(root.join("xtask/kubectl/allowed.txt")).expect("the list");
    crate::kubectl::allowed::parse(&allowed, &steps).expect("reasons for known commands");
}
