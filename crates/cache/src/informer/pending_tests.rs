use k8s_openapi::api::core::v1::ConfigMap;
use proptest::prelude::*;

use super::*;

type Object = CachedObject<ConfigMap>;

fn object(name: &str, uid: u32, version: u32) -> Object {
    let json = format!(
        r#"{{"metadata":{{"name":"{name}","uid":"u{uid}","resourceVersion":"{version}"}}}}"#
    );
    CachedObject::from_json(json).unwrap()
}

fn added(name: &str, uid: u32, version: u32) -> Event<ConfigMap> {
    Event::Added { object: object(name, uid, version), initial: false }
}

fn updated(name: &str, uid: u32, old: u32, new: u32) -> Event<ConfigMap> {
    Event::Updated { old: object(name, uid, old), new: object(name, uid, new) }
}

fn deleted(name: &str, uid: u32, version: u32) -> Event<ConfigMap> {
    Event::Deleted { object: object(name, uid, version), final_state_unknown: false }
}

/// What comes out of a buffer that merges from the first event on.
fn merged(events: Vec<Event<ConfigMap>>) -> Vec<String> {
    drain(&mut filled(0, events))
}

fn filled(bound: usize, events: Vec<Event<ConfigMap>>) -> PendingEvents<ConfigMap> {
    let mut pending = PendingEvents::new(bound);
    for event in events {
        pending.push(event);
    }
    pending
}

fn drain(pending: &mut PendingEvents<ConfigMap>) -> Vec<String> {
    std::iter::from_fn(|| pending.pop()).map(|event| format!("{event:?}")).collect()
}

#[test]
fn events_of_one_object_merge_as_the_table_says() {
    assert_eq!(merged(vec![added("a", 1, 1), updated("a", 1, 1, 2)]), ["Added(a@2)"]);
    assert_eq!(merged(vec![added("a", 1, 1), deleted("a", 1, 2)]), [""; 0]);
    assert_eq!(merged(vec![updated("a", 1, 1, 2), updated("a", 1, 2, 3)]), ["Updated(a@1->3)"]);
    assert_eq!(merged(vec![updated("a", 1, 1, 2), deleted("a", 1, 3)]), ["Deleted(a@3)"]);
    assert_eq!(merged(vec![deleted("a", 1, 2), added("a", 1, 3)]), ["Deleted(a@2)", "Added(a@3)"]);
    let remade = vec![deleted("a", 1, 2), added("a", 2, 3)];
    assert_eq!(merged(remade.clone()), ["Deleted(a@2)", "Added(a@3)"]);
    let changed = [remade.clone(), vec![updated("a", 2, 3, 4)]].concat();
    assert_eq!(merged(changed), ["Deleted(a@2)", "Added(a@4)"]);
    let gone = [remade, vec![deleted("a", 2, 4)]].concat();
    assert_eq!(merged(gone), ["Deleted(a@2)"]);
}

/// An object that leaves a selector and comes back keeps its uid, and its last version was never told.
#[test]
fn what_comes_back_goes_on_from_nothing_that_was_not_told() {
    let known = vec![updated("a", 1, 1, 2), deleted("a", 1, 3)];
    let back = [known, vec![added("a", 1, 4), updated("a", 1, 4, 5)]].concat();
    assert_eq!(merged(back), ["Deleted(a@3)", "Added(a@5)"]);
}

#[test]
fn below_the_bound_every_event_is_its_own() {
    let mut pending = filled(3, vec![added("a", 1, 1), updated("a", 1, 1, 2), added("b", 2, 3)]);
    // Three wait: from here on events of an object that waits are merged into its last one.
    pending.push(updated("a", 1, 2, 4));
    pending.push(updated("a", 1, 4, 5));
    pending.push(added("c", 3, 6));
    assert_eq!(pending.merged(), 2);
    let expected = ["Added(a@1)", "Updated(a@1->5)", "Added(b@3)", "Added(c@6)"];
    assert_eq!(drain(&mut pending), expected);
}

#[test]
fn objects_that_come_and_go_take_no_room() {
    let mut pending = filled(2, vec![added("a", 1, 1), added("b", 2, 2)]);
    for number in 0..10_000 {
        let name = format!("job-{number}");
        pending.push(added(&name, number, number));
        pending.push(deleted(&name, number, number));
    }
    assert_eq!(pending.len(), 2);
    assert_eq!(pending.last.len(), 2);
}

#[test]
fn it_is_synced_when_the_initial_events_were_dealt_with() {
    let mut pending = filled(0, vec![added("a", 1, 1), added("b", 2, 2)]);
    assert!(!pending.end_initial());
    pending.push(added("c", 3, 3));
    assert!(pending.pop().is_some());
    assert!(!pending.finished());
    pending.pop();
    assert!(!pending.has_synced(), "the last initial event is still being handled");
    assert!(pending.finished());
    assert!(pending.has_synced());
    assert_eq!(pending.len(), 1);
}

#[test]
fn without_initial_events_it_is_synced_at_once() {
    let mut pending = filled(1, vec![]);
    assert!(pending.end_initial());
}

#[test]
fn an_initial_object_that_is_gone_before_it_was_told_does_not_hold_up_the_sync() {
    let mut pending = filled(0, vec![added("a", 1, 1)]);
    pending.end_initial();
    assert!(pending.push(deleted("a", 1, 2)));
    assert!(pending.is_empty() && pending.has_synced());
}

proptest! {
    /// Whatever the schedule, a handler that believes its events ends with the state of the store, hears of each
    /// object in order, and the buffer never holds more than its bound and one event per object.
    #[test]
    fn what_is_told_leads_to_the_true_state(
        bound in 0_usize..6,
        steps in proptest::collection::vec((0_usize..4, 0_u8..4, any::<bool>()), 0..80),
    ) {
        let names = ["a", "b", "c", "d"];
        let mut truth: [Option<(u32, u32)>; 4] = [None; 4];
        let mut uids = [0; 4];
        let mut told: [Option<(u32, u32)>; 4] = [None; 4];
        let mut pending = PendingEvents::new(bound);
        for (version, (which, what, take)) in (1_u32..).zip(steps) {
            let name = names[which];
            let event = match (truth[which], what) {
                (None, what) => {
                    // A new one, or the same again.
                    if what > 1 {
                        uids[which] = version;
                    }
                    truth[which] = Some((uids[which], version));
                    added(name, uids[which], version)
                }
                (Some((uid, held)), 0) => {
                    truth[which] = None;
                    prop_assert!(held < version);
                    deleted(name, uid, version)
                }
                (Some((uid, held)), _) => {
                    truth[which] = Some((uid, version));
                    updated(name, uid, held, version)
                }
            };
            pending.push(event);
            prop_assert!(pending.len() <= bound + names.len());
            if take {
                tell(&mut told, &mut pending)?;
            }
        }
        while !pending.is_empty() {
            tell(&mut told, &mut pending)?;
        }
        prop_assert_eq!(told, truth);
        prop_assert!(pending.last.is_empty());
    }
}

fn tell(
    told: &mut [Option<(u32, u32)>; 4],
    pending: &mut PendingEvents<ConfigMap>,
) -> Result<(), TestCaseError> {
    let Some(event) = pending.pop() else {
        return Ok(());
    };
    let slot = usize::from(event.key().name().as_bytes()[0] - b'a');
    let state = |object: &Object| {
        let version = object.resource_version().parse().unwrap();
        (object.uid()[1..].parse().unwrap(), version)
    };
    let before: Option<(u32, u32)> = told[slot];
    told[slot] = match &event {
        Event::Added { object, .. } => {
            prop_assert!(before.is_none());
            Some(state(object))
        }
        Event::Updated { old, new } => {
            prop_assert_eq!(before, Some(state(old)));
            prop_assert!(state(old).1 < state(new).1);
            Some(state(new))
        }
        Event::Deleted { object, .. } => {
            prop_assert_eq!(before.map(|b| b.0), Some(state(object).0));
            None
        }
    };
    pending.finished();
    Ok(())
}
