//! What changed is listed once, and only if the run does not know it.

use serde_json::json;
use smartspace_domain::ids::PlanId;

use super::*;
use crate::prompt::samples::{SampleTexts, full_sources, message_trigger, prompt_of};

const SAMPLE: SampleTexts<'_> = SampleTexts {
    person: "Husam",
    agent: "Ada",
    space: "Team",
    other_space: "Other",
    note: "a] \"note\"",
    key: "odd] key",
    texts: &["one", "two"],
};

fn at(minutes: i64) -> Time {
    Time::from_millis(1_771_427_220_000 + minutes * 60_000)
}

/// The changes that a run which began at minute 1 does not know, after `change`.
fn changes(
    own_changes: &[OwnChange],
    notices: Vec<&str>,
    change: impl Fn(&mut PromptSources),
) -> Vec<String> {
    let mut all = full_sources(&SAMPLE, 0);
    let prompt = prompt_of(&all, &message_trigger(&all));
    let known = Known { prompt: &prompt.body.messages, notices, since: at(1), own_changes };
    change(&mut all);
    write_changes(&all, all.agent.agent.as_ref().unwrap().builtins, &known)
}

fn memory(key: &str, value: &str) -> Memory {
    Memory { key: key.into(), value: value.into(), updated_at: at(5) }
}

fn freeze(all: &mut PromptSources) {
    all.memories.push(memory("freeze", "No deploys today"));
}

#[test]
fn what_did_not_change_is_not_listed() {
    assert_eq!(changes(&[], Vec::new(), |_| {}), [""; 0]);
}

#[test]
fn memories_goals_and_plans_that_were_set_or_deleted_are_listed() {
    assert_eq!(changes(&[], Vec::new(), freeze), ["MEMORIES [freeze] \"No deploys today\""]);
    let id = PlanId::new(at(0), 1);
    let all = changes(&[], Vec::new(), |all| {
        all.memories.clear();
        all.goals[0].status = GoalStatus::Completed;
        all.goals[0].updated_at = at(5);
        all.plans.iter_mut().find(|plan| plan.id == id).unwrap().updated_at = at(5);
        all.plans.retain(|plan| plan.id == id);
    });
    let other = PlanId::new(at(0), 2);
    assert_eq!(
        all,
        [
            "MEMORIES deleted: [\"odd] key\"]".to_owned(),
            "GOALS [\"odd] key\"] \"a] \\\"note\\\"\" (completed, due 2026-02-28 15:07)".into(),
            format!("PLANS \"a] \\\"note\\\"\" ({id}, next: 2026-02-19 09:01)"),
            format!("PLANS deleted: {other}"),
        ]
    );
    let gone = changes(&[], Vec::new(), |all| all.goals.clear());
    assert_eq!(gone, ["GOALS deleted: [\"odd] key\"]"]);
}

#[test]
fn what_the_run_changed_or_was_shown_is_not_listed() {
    let own = |tool: &str, input| OwnChange {
        tool: tool.into(),
        input,
        began_at: at(5),
        ended_at: at(5),
    };
    let set = own("set_memories", json!({}));
    assert_eq!(changes(&[set], Vec::new(), freeze), [""; 0]);
    let deleted = own("delete_memories", json!({"keys": ["odd] key"]}));
    assert_eq!(changes(&[deleted], Vec::new(), |all| all.memories.clear()), [""; 0]);
    let notice = "It is late.\nMEMORIES [freeze] \"No deploys today\"";
    assert_eq!(changes(&[], vec![notice], freeze), [""; 0]);
    let gone = changes(&[], vec![notice], |_| {});
    assert_eq!(gone, ["MEMORIES deleted: [freeze]"], "a notice had shown it");
}

#[test]
fn long_lists_are_cut_and_counted() {
    let many = changes(&[], Vec::new(), |all| {
        for number in 0..9 {
            all.memories.push(memory(&format!("k{number}"), &"x".repeat(2_000)));
        }
    });
    assert_eq!((many.len(), many[3].as_str()), (4, "… 6 more"));
    let chars: usize = many[..3].iter().map(|line| line.chars().count()).sum();
    assert!(chars <= MAX_CHARS, "{chars}");
}
