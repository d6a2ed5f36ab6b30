use serde_json::json;

use super::*;
use crate::samples::{message, run, run_id};

fn ended(number: u128, of_message: u128) -> EventKind {
    EventKind::RunCompleted {
        run: run(number, of_message, "completed", &json!({})),
        read_seq: None,
    }
}

#[test]
fn a_turn_ends_with_the_runs_of_its_message() {
    assert!(TurnTracker::starting_with(&message(1, None, Some(&[]))).is_over());
    let mut tracker = TurnTracker::starting_with(&message(1, None, Some(&[1, 2])));
    assert!(!tracker.is_over());
    tracker.on_event(&ended(1, 1));
    assert!(!tracker.is_over());
    // A run of another message.
    tracker.on_event(&EventKind::RunStarted { run: run(7, 6, "running", &json!({})) });
    tracker.on_event(&ended(2, 1));
    assert!(tracker.is_over());
}

#[test]
fn answers_that_trigger_others_prolong_it_in_any_order() {
    let answer = EventKind::MessageCreated { message: message(2, Some(1), Some(&[3])) };
    let events = [ended(1, 1), answer, ended(3, 2)];
    for order in [[0, 1, 2], [1, 0, 2], [2, 1, 0], [2, 0, 1]] {
        let mut tracker = TurnTracker::starting_with(&message(1, None, Some(&[1])));
        for (count, index) in order.into_iter().enumerate() {
            tracker.on_event(&events[index]);
            // Without the answer, nothing shows the run that it has triggered.
            let is_known = order[..=count].contains(&1);
            assert!(!tracker.is_over() || count == 2 || !is_known, "{order:?} {count}");
        }
        assert!(tracker.is_over(), "{order:?}");
    }
}

#[test]
fn an_undecided_message_keeps_it_open() {
    let mut tracker = TurnTracker::starting_with(&message(1, None, None));
    assert!(!tracker.is_over());
    tracker.on_event(&EventKind::MessageUpdated { message: message(1, None, Some(&[1])) });
    assert!(!tracker.is_over());
    tracker.on_event(&ended(1, 1));
    assert!(tracker.is_over());
}

#[test]
fn a_run_that_waits_for_people_does_not_keep_it_open() {
    let mut tracker = TurnTracker::starting_with(&message(1, None, Some(&[1])));
    let waiting = run(1, 1, "waiting_tool", &json!({}));
    tracker.on_event(&EventKind::RunWaitingTool { run: waiting });
    assert!(tracker.is_over());
    tracker.on_event(&EventKind::RunResumed { run: run(1, 1, "running", &json!({})) });
    assert!(!tracker.is_over());
}

#[test]
fn a_run_whose_forms_are_answered_keeps_it_open_until_it_continues() {
    let waiting = run(1, 1, "waiting_tool", &json!({}));
    for is_answered in [true, false] {
        let mut tracker = TurnTracker::default();
        if is_answered {
            tracker.add_answered_run(run_id(1));
        } else {
            tracker.add_run_by_id(run_id(1));
        }
        tracker.sync(&[], &[*waiting.clone()]);
        assert_eq!(tracker.is_over(), !is_answered);
        tracker.on_event(&EventKind::RunResumed { run: run(1, 1, "running", &json!({})) });
        assert!(!tracker.is_over());
        // The run asks again.
        tracker.on_event(&EventKind::RunWaitingTool { run: waiting.clone() });
        assert!(tracker.is_over());
    }
}

#[test]
fn a_run_that_is_no_longer_stored_has_ended() {
    let mut tracker = TurnTracker::starting_with(&message(1, None, Some(&[1, 2])));
    tracker.on_event(&ended(1, 1));
    assert_eq!(tracker.unknown_runs(), [run_id(2)]);
    assert!(!tracker.is_over());
    tracker.run_expired(run_id(2));
    assert_eq!(tracker.unknown_runs(), []);
    assert!(tracker.is_over());
}

#[test]
fn effects_of_a_single_run_do_not_count() {
    let mut tracker =
        TurnTracker::starting_with(&message(1, None, Some(&[1, 2]))).only_run(run_id(1));
    tracker.on_event(&EventKind::MessageCreated { message: message(2, Some(1), Some(&[3])) });
    tracker.on_event(&EventKind::RunStarted { run: run(1, 1, "running", &json!({})) });
    assert_eq!(tracker.runs(), BTreeSet::from([run_id(1)]));
    assert!(!tracker.is_over());
    let joined = json!({"intoRunId": run_id(4), "endReason": "coalesced"});
    tracker.on_event(&EventKind::RunCanceled { run: run(1, 1, "canceled", &joined), by: None });
    assert!(!tracker.is_over());
    tracker.on_event(&ended(4, 6));
    assert!(tracker.is_over());
}

#[test]
fn it_follows_coalesced_runs_and_delegated_messages() {
    let mut tracker = TurnTracker::starting_with(&message(1, None, Some(&[1])));
    let joined = json!({"intoRunId": run_id(2), "endReason": "coalesced"});
    let joined = run(1, 1, "canceled", &joined);
    tracker.on_event(&EventKind::RunCanceled { run: joined, by: None });
    assert!(!tracker.is_over());
    tracker.on_event(&ended(2, 6));
    assert!(tracker.is_over());

    let mut tracker = TurnTracker::starting_with(&message(1, None, Some(&[1])));
    let delegated = run(1, 1, "completed", &json!({"endReason": "delegated"}));
    tracker.on_event(&EventKind::RunCompleted { run: delegated, read_seq: None });
    assert!(!tracker.is_over());
    let delegated_run = |status| run(3, 1, status, &json!({"source": "delegated"}));
    tracker.on_event(&EventKind::RunStarted { run: delegated_run("running") });
    assert!(!tracker.is_over());
    tracker.on_event(&EventKind::RunCompleted { run: delegated_run("completed"), read_seq: None });
    // A late frame changes nothing.
    tracker.on_event(&EventKind::RunStarted { run: delegated_run("running") });
    assert!(tracker.is_over());
}

#[test]
fn a_message_that_joined_a_run_is_delegated_with_it() {
    let mut tracker = TurnTracker::starting_with(&message(1, None, Some(&[1])));
    let joined = json!({"intoRunId": run_id(2), "endReason": "coalesced"});
    tracker.on_event(&EventKind::RunCanceled { run: run(1, 1, "canceled", &joined), by: None });
    // A later message has joined the run, too, and is its trigger now.
    let delegated = run(2, 6, "completed", &json!({"endReason": "delegated"}));
    tracker.on_event(&EventKind::RunCompleted { run: delegated, read_seq: None });
    let delegated_run = |status| run(3, 6, status, &json!({"source": "delegated"}));
    tracker.on_event(&EventKind::RunStarted { run: delegated_run("running") });
    assert!(!tracker.is_over());
    tracker.on_event(&EventKind::RunCompleted { run: delegated_run("completed"), read_seq: None });
    assert!(tracker.is_over());
}

#[test]
fn an_answer_of_the_api_counts_like_events() {
    let mut tracker = TurnTracker::starting_with(&message(1, None, Some(&[1])));
    let ended = run(1, 1, "completed", &json!({}));
    tracker.sync(&[message(2, Some(1), Some(&[3]))], &[*ended]);
    assert!(!tracker.is_over());
    tracker.sync(&[], &[*run(3, 2, "failed", &json!({}))]);
    assert!(tracker.is_over());
}
