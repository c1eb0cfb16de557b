use super::*;

#[test]
fn equal_texts_have_no_diff() {
    assert_eq!(unified("a\nb\n", "a\nb\n"), "");
    assert_eq!(unified("", ""), "");
}

#[test]
fn a_change_stands_between_its_neighbours() {
    let diff = unified("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nx\n6\n7\n8\n9\n");
    assert_eq!(diff, "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n");
}

#[test]
fn far_changes_are_two_hunks() {
    let left: String = (0..40).map(|n| format!("{n}\n")).collect();
    let right = left.replace("\n5\n", "\n").replace("\n30\n", "\n30\nnew\n");
    let diff = unified(&left, &right);
    assert_eq!(diff.matches("@@ -").count(), 2);
    assert!(diff.contains("-5\n") && diff.contains("+new\n"), "{diff}");
}

#[test]
fn one_side_may_be_empty() {
    assert_eq!(unified("", "a\n"), "@@ -1,0 +1,1 @@\n+a\n");
    assert_eq!(unified("a\n", ""), "@@ -1,1 +1,0 @@\n-a\n");
}
