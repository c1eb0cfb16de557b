use super::*;

fn web() -> ObjectKey {
    ObjectKey::namespaced("shop", "web")
}

fn pod(name: &str) -> ObjectKey {
    ObjectKey::namespaced("shop", name)
}

#[test]
fn nothing_expected_is_satisfied() {
    let expectations = Expectations::new();
    assert!(expectations.satisfied(&web()));
    expectations.creation_observed(&web());
    expectations.deletion_observed(&web(), &pod("a"));
    assert!(expectations.satisfied(&web()));
}

#[test]
fn creations_are_counted() {
    let expectations = Expectations::new();
    expectations.expect_creations(&web(), 2);
    assert!(!expectations.satisfied(&web()));
    expectations.creation_observed(&web());
    assert!(!expectations.satisfied(&web()));
    expectations.creation_observed(&web());
    assert!(expectations.satisfied(&web()));
    // An unexpected one does not pay for a later one in advance.
    expectations.creation_observed(&web());
    expectations.expect_creations(&web(), 1);
    assert!(!expectations.satisfied(&web()));
}

#[test]
fn a_deletion_heard_twice_counts_once() {
    let expectations = Expectations::new();
    expectations.expect_deletions(&web(), [pod("a"), pod("b")]);
    expectations.deletion_observed(&web(), &pod("a"));
    expectations.deletion_observed(&web(), &pod("a"));
    expectations.deletion_observed(&web(), &pod("stranger"));
    assert!(!expectations.satisfied(&web()));
    expectations.deletion_observed(&web(), &pod("b"));
    assert!(expectations.satisfied(&web()));
}

#[test]
fn both_kinds_can_be_expected_at_once() {
    let expectations = Expectations::new();
    expectations.expect_creations(&web(), 1);
    expectations.expect_deletions(&web(), [pod("a")]);
    expectations.creation_observed(&web());
    assert!(!expectations.satisfied(&web()));
    expectations.deletion_observed(&web(), &pod("a"));
    assert!(expectations.satisfied(&web()));
}

#[test]
fn owners_do_not_share() {
    let expectations = Expectations::new();
    expectations.expect_creations(&web(), 1);
    assert!(expectations.satisfied(&pod("other")));
    expectations.delete(&web());
    assert!(expectations.satisfied(&web()));
}

#[tokio::test(start_paused = true)]
async fn an_event_that_never_comes_holds_up_for_five_minutes() {
    let expectations = Expectations::new();
    expectations.expect_creations(&web(), 3);
    tokio::time::advance(TIMEOUT - Duration::from_millis(1)).await;
    assert!(!expectations.satisfied(&web()));
    tokio::time::advance(Duration::from_millis(1)).await;
    assert!(expectations.satisfied(&web()));
    assert!(expectations.pending.lock().is_empty(), "it is said once");
    // The lost ones are not waited for again.
    expectations.expect_creations(&web(), 1);
    assert!(!expectations.satisfied(&web()));
    expectations.creation_observed(&web());
    assert!(expectations.satisfied(&web()));
}

#[tokio::test(start_paused = true)]
async fn expecting_more_starts_the_clock_anew() {
    let expectations = Expectations::new();
    expectations.expect_creations(&web(), 1);
    tokio::time::advance(TIMEOUT / 2).await;
    expectations.expect_deletions(&web(), [pod("a")]);
    tokio::time::advance(TIMEOUT / 2).await;
    assert!(!expectations.satisfied(&web()));
}
