use proptest::prelude::*;

use super::*;
use crate::{
    Time,
    agents::ConcurrencyMode,
    ids::{EntityId, RunId, SpaceId},
    jobs::{MessageRef, RunRef},
    limits,
};

/// The run of message `seq`.
fn run(seq: u64) -> RunRef {
    let space_id = SpaceId::new(Time::default(), 1);
    RunRef {
        run_id: RunId::new(Time::from_millis(seq as i64), 1),
        agent_id: EntityId::new(Time::default(), 2),
        place: Some(MessageRef { space_id, seq }),
        in_lane: true,
        is_fork: false,
    }
}

fn slots(max_runs: u32) -> Slots {
    Slots { max_runs, ..Slots::default() }
}

fn order(lane: &Lane) -> Vec<u64> {
    lane.runs.iter().filter_map(|it| it.run.place).map(|place| place.seq).collect()
}

#[test]
fn runs_over_the_limit_wait_and_the_oldest_gets_the_next_slot() {
    let mut slots = slots(2);
    assert_eq!(slots.take(run(1)).position, None);
    assert_eq!(slots.take(run(2)).position, None);
    assert_eq!(slots.take(run(9)).position, Some(1));
    assert_eq!(slots.take(run(5)).position, Some(1), "it is older");
    assert_eq!(slots.take(run(5)).position, Some(1), "it asks again");
    assert_eq!(slots.take(run(1)).position, None, "it has its slot already");
    assert_eq!(slots.free(run(2).run_id), [run(5)]);
    assert_eq!(slots.take(run(5)).position, None);
    assert_eq!(slots.free(run(9).run_id), [], "it was canceled while it waited");
    assert_eq!(slots.free(run(1).run_id), []);
    assert_eq!((slots.held.len(), slots.active()), (1, 1));
}

#[test]
fn more_slots_start_the_runs_that_wait_and_fewer_slots_start_none() {
    let mut slots = slots(1);
    for seq in 1..=4 {
        slots.take(run(seq));
    }
    slots.max_runs = 3;
    assert_eq!(slots.fill(), [run(2), run(3)]);
    slots.max_runs = 1;
    assert_eq!(slots.free(run(1).run_id), []);
    assert_eq!(slots.free(run(2).run_id), []);
    assert_eq!(slots.free(run(3).run_id), [run(4)]);
}

#[test]
fn one_change_starts_ten_runs_and_these_start_the_next_ones() {
    let mut slots = slots(1);
    for seq in 1..=24 {
        slots.take(run(seq));
    }
    slots.max_runs = 30;
    assert_eq!(slots.free(run(1).run_id).len(), 10);
    assert_eq!(slots.take(run(2)).started.len(), 10);
    assert_eq!(slots.take(run(3)).started, [run(22), run(23), run(24)]);
    assert_eq!(slots.take(run(4)).started, []);
}

#[test]
fn a_full_line_keeps_the_oldest_runs() {
    let mut slots = slots(1);
    for seq in 2..=102 {
        slots.take(run(seq));
    }
    assert_eq!((slots.waiting.len(), slots.waiting.last()), (100, Some(&run(102))));
    assert_eq!(slots.take(run(103)).position, Some(101), "it waits, but is not listed");
    assert_eq!(slots.take(run(1)).position, Some(1));
    assert_eq!((slots.waiting.len(), slots.waiting.last()), (100, Some(&run(101))));
}

#[test]
fn a_queue_lets_one_run_after_the_other_pass() {
    let mut lane = Lane::default();
    let place = |position| LaneEntry::Place { position, superseded: Vec::new() };
    assert_eq!(lane.enter(ConcurrencyMode::Queue, run(1), false), place(0));
    assert_eq!(lane.enter(ConcurrencyMode::Queue, run(3), false), place(1));
    assert_eq!(lane.enter(ConcurrencyMode::Queue, run(2), false), place(1), "decided late");
    assert_eq!(lane.start(run(2)), Some(1));
    assert_eq!(lane.start(run(1)), None);
    assert_eq!(lane.leave(run(3).run_id), None);
    assert_eq!(lane.leave(run(1).run_id), Some(run(2)));
    assert_eq!(lane.start(run(2)), None);
    assert_eq!(lane.leave(run(2).run_id), None);
    assert_eq!(lane, Lane::default());
}

#[test]
fn a_run_that_waited_for_people_comes_before_queued_runs_and_after_others_that_waited() {
    let mut lane = Lane::default();
    for seq in [5, 6] {
        lane.enter(ConcurrencyMode::Queue, run(seq), false);
    }
    lane.start(run(5));
    for (place, seq) in [(1, 1), (2, 3), (3, 2)] {
        assert_eq!(lane.start(run(seq)), Some(place), "people have answered its form");
    }
    assert_eq!(order(&lane), [5, 1, 3, 2, 6]);
    for seq in [3, 2, 6] {
        lane.leave(run(seq).run_id);
    }
    lane.enter(ConcurrencyMode::Queue, run(7), false);
    assert_eq!(lane.leave(run(5).run_id), Some(run(1)));
    assert_eq!(lane.start(run(1)), None);
    assert_eq!(lane.leave(run(1).run_id), Some(run(7)));
}

#[test]
fn messages_join_the_run_that_is_queued() {
    let mut lane = Lane::default();
    let mode = ConcurrencyMode::Coalesce;
    let first = LaneEntry::Place { position: 0, superseded: Vec::new() };
    assert_eq!(lane.enter(mode, run(1), false), first);
    assert_eq!(lane.enter(mode, run(2), false), LaneEntry::Joins(run(1)));
    assert_eq!(lane.runs[0].run.place.unwrap().seq, 2, "its trigger is the newest message");
    lane.start(run(1));
    let second = LaneEntry::Place { position: 1, superseded: Vec::new() };
    assert_eq!(lane.enter(mode, run(5), false), second);
    assert!(matches!(lane.enter(mode, run(4), false), LaneEntry::Joins(_)), "decided late");
    assert_eq!(order(&lane), [2, 5]);
    for seq in 6..6 + limits::JOINED as u64 - 1 {
        assert!(matches!(lane.enter(mode, run(seq), false), LaneEntry::Joins(_)));
    }
    assert_eq!(
        lane.enter(mode, run(99), false),
        LaneEntry::Place { position: 2, superseded: Vec::new() },
        "nothing more can join"
    );
    assert!(!lane.is_full(mode));
}

#[test]
fn nothing_joins_a_delegated_run() {
    let mut lane = Lane::default();
    lane.enter(ConcurrencyMode::Coalesce, run(1), true);
    let place = LaneEntry::Place { position: 1, superseded: Vec::new() };
    assert_eq!(lane.enter(ConcurrencyMode::Coalesce, run(2), false), place);
}

#[test]
fn the_latest_run_replaces_those_before_it() {
    let mut lane = Lane::default();
    let mode = ConcurrencyMode::Latest;
    lane.enter(mode, run(1), false);
    lane.start(run(1));
    let replaces = |position, seq: u64| LaneEntry::Place { position, superseded: vec![run(seq)] };
    assert_eq!(lane.enter(mode, run(2), false), replaces(0, 1));
    assert_eq!(lane.enter(mode, run(3), false), replaces(0, 2), "it was only queued");
    assert_eq!(lane.enter(mode, run(2), false), LaneEntry::Superseded, "decided late");
    lane.start(run(3));
    lane.start(run(1));
    assert_eq!(lane.enter(mode, run(4), false), replaces(1, 3), "people have answered run 1");
    assert_eq!(order(&lane), [1, 4]);
}

#[test]
fn a_lane_has_an_end() {
    let mut lane = Lane::default();
    for seq in 0..limits::ACTIVE_RUNS as u64 {
        assert!(!lane.is_full(ConcurrencyMode::Queue));
        lane.enter(ConcurrencyMode::Queue, run(seq), false);
    }
    assert!(lane.is_full(ConcurrencyMode::Queue));
    assert!(!lane.is_full(ConcurrencyMode::Coalesce), "a message can join the last run");
    assert!(!lane.is_full(ConcurrencyMode::Latest));
}

proptest! {
    #[test]
    fn there_are_never_more_runs_than_slots_nor_a_free_slot_while_a_run_waits(
        max_runs in 1_u32..4,
        steps in prop::collection::vec((0_u8..3, 1_u64..12), 1..80),
    ) {
        let mut slots = slots(max_runs);
        for (step, seq) in steps {
            let free = max_runs as usize - slots.held.len();
            match step {
                0 | 1 => {
                    let took = slots.take(run(seq));
                    let has_slot = slots.held.contains(&run(seq).run_id);
                    prop_assert_eq!(took.position.is_none(), has_slot);
                    prop_assert_eq!(took.started, []);
                    prop_assert!(has_slot || free == 0);
                }
                _ => {
                    let oldest = slots.waiting.iter().find(|it| **it != run(seq)).copied();
                    let had_slot = slots.held.contains(&run(seq).run_id);
                    let started = slots.free(run(seq).run_id);
                    prop_assert_eq!(started, Vec::from_iter(oldest.filter(|_| had_slot)));
                }
            }
            prop_assert!(slots.held.len() <= max_runs as usize);
            prop_assert!(slots.waiting.is_empty() || slots.held.len() == max_runs as usize);
            prop_assert!(slots.waiting.is_sorted_by_key(|it| it.run_id));
        }
    }
}

#[test]
fn auto_replies_count_since_the_newest_outside_cause() {
    let mut lane = Lane::default();
    assert_eq!(lane.auto_replies(0), 0);
    lane.count_auto_reply(4);
    lane.count_auto_reply(4);
    assert_eq!(lane.auto_replies(4), 2);
    assert_eq!(lane.auto_replies(9), 0, "an outside cause came");
    lane.count_auto_reply(9);
    lane.count_auto_reply(4);
    assert_eq!(lane.auto, Some(AutoReplies { outside: 9, runs: 2 }), "one was decided late");
    let stored = serde_json::to_value(&lane).unwrap();
    assert_eq!(stored["auto"], serde_json::json!({"outside": 9, "runs": 2}));
    assert_eq!(serde_json::to_value(Lane::default()).unwrap(), serde_json::json!({"runs": []}));
}
