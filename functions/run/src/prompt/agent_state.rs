//! Writes `MEMORIES`, `GOALS` and `PLANS`: the state of an agent that outlasts a run.

use std::{cmp::Reverse, fmt::Write};

use smartspace_domain::{
    Time,
    agents::Builtins,
    goals::{Goal, GoalStatus},
    memories::Memory,
    plans::{Plan, PlanStatus, Schedule},
};

use crate::prompt::{
    format::{Key, Quoted, Span},
    lists::{minute, write_list},
    reading::PromptSources,
};

const MAX_MEMORIES: usize = 100;
const MAX_GOALS: usize = 30;
/// The longest of each of these blocks, in characters of its lines.
const MAX_CHARS: usize = 8_000;

/// Writes the blocks of the groups that the agent has.
pub(crate) fn write_agent_state(sources: &PromptSources, has: Builtins, now: Time) -> String {
    let blocks = [
        has.memories.then(|| write_memories(&sources.memories)),
        has.goals.then(|| write_goals(&sources.goals)),
        has.plans.then(|| write_plans(&sources.plans, now)),
    ];
    blocks.into_iter().flatten().collect()
}

/// Writes the memories by key. If not all fit, those that were set last are shown.
fn write_memories(memories: &[Memory]) -> String {
    let mut newest: Vec<&Memory> = memories.iter().collect();
    newest.sort_by_key(|memory| (Reverse(memory.updated_at), &memory.key));
    let mut capacity = CharCapacity(MAX_CHARS);
    let lines =
        newest.into_iter().take(MAX_MEMORIES).map(|memory| (&memory.key, memory_line(memory)));
    let mut lines: Vec<_> = lines.filter(|(_, line)| capacity.takes(line)).collect();
    lines.sort();
    let more = memories.len() - lines.len();
    write_list("MEMORIES", lines.into_iter().map(|(_, line)| line), more)
}

/// Writes a memory.
pub(crate) fn memory_line(memory: &Memory) -> String {
    format!("[{}] {}", Key(&memory.key), Quoted(&memory.value))
}

/// The characters that are left in a block. A line that does not fit is skipped, and shorter ones
/// after it may still fit.
struct CharCapacity(usize);

impl CharCapacity {
    fn takes(&mut self, line: &str) -> bool {
        let left = self.0.checked_sub(line.chars().count());
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

/// Writes the active goals, the most urgent first.
fn write_goals(goals: &[Goal]) -> String {
    let mut active: Vec<&Goal> =
        goals.iter().filter(|goal| goal.status == GoalStatus::Active).collect();
    active.sort_by_key(|goal| {
        (goal.priority, goal.due_at.unwrap_or(Time::from_millis(i64::MAX)), &goal.id)
    });
    let all = active.len();
    let mut capacity = CharCapacity(MAX_CHARS);
    let lines: Vec<_> = active
        .into_iter()
        .take(MAX_GOALS)
        .map(goal_line)
        .filter(|line| capacity.takes(line))
        .collect();
    let more = all - lines.len();
    write_list("GOALS", lines, more)
}

/// Writes a goal, and its status if it is not active.
pub(crate) fn goal_line(goal: &Goal) -> String {
    let mut line =
        format!("[{}] {} (priority {}", Key(&goal.id), Quoted(&goal.description), goal.priority);
    if goal.long_term {
        line.push_str(", long-term");
    }
    if let Some(due) = goal.due_at {
        // Writing to a String can't fail.
        let _ = write!(line, ", due {}", minute(due));
    }
    line.push_str(match goal.status {
        GoalStatus::Active => "",
        GoalStatus::Completed => ", completed",
        GoalStatus::Abandoned => ", abandoned",
    });
    line.push(')');
    line
}

/// Writes the active plans, the next one first.
fn write_plans(plans: &[Plan], now: Time) -> String {
    let active = plans.iter().filter(|plan| plan.status == PlanStatus::Active);
    let mut coming: Vec<(Time, &Plan)> =
        active.filter_map(|plan| Some((plan.next_run_at?, plan))).collect();
    coming.sort_by_key(|(next, plan)| (*next, plan.id));
    let all = coming.len();
    let mut capacity = CharCapacity(MAX_CHARS);
    let lines: Vec<_> = coming
        .into_iter()
        .map(|(next, coming)| plan_line(coming, next, now))
        .filter(|line| capacity.takes(line))
        .collect();
    let more = all - lines.len();
    write_list("PLANS", lines, more)
}

fn plan_line(plan: &Plan, next: Time, now: Time) -> String {
    let until = Span(next.since(now));
    let next = minute(next);
    match &plan.schedule {
        Schedule::Cron { .. } => write_plan(plan, &format!("next: {next}, in {until}")),
        Schedule::Once { .. } => write_plan(plan, &format!("once: {next}, in {until}")),
    }
}

fn write_plan(plan: &Plan, timing: &str) -> String {
    let name = Quoted(&plan.name);
    let id = plan.id;
    match &plan.schedule {
        Schedule::Cron { cron, timezone } => {
            // A cron expression may have been written with tabs.
            let cron = cron.split_whitespace().collect::<Vec<_>>().join(" ");
            format!("{name} ({id}, cron: {cron} {timezone}, {timing})")
        }
        Schedule::Once { run_after: None } => format!("{name} ({id}, {timing})"),
        Schedule::Once { run_after: Some(words) } => {
            format!("{name} ({id}, {timing}) [set via runAfter: {}]", Quoted(words))
        }
    }
}

/// Writes a plan with its instruction, also one that is paused.
pub(crate) fn plan_entry(plan: &Plan, now: Time) -> String {
    let is_active = plan.status == PlanStatus::Active;
    let line = match plan.next_run_at.filter(|_| is_active) {
        Some(next) => plan_line(plan, next, now),
        None => write_plan(plan, if is_active { "no next run" } else { "paused" }),
    };
    format!("{line} — {}", Quoted(&plan.instruction))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_goal_that_is_over_and_a_plan_that_is_paused_say_so() {
        let at = Time::from_millis(1_771_427_220_000);
        let goal: Goal = serde_json::from_value(json!({
            "id": "q4", "description": "Report", "status": "completed", "priority": 2,
            "longTerm": false, "dueAt": null, "createdAt": at, "updatedAt": at,
        }))
        .unwrap();
        assert_eq!(goal_line(&goal), "[q4] \"Report\" (priority 2, completed)");
        let plan = |status: &str, next: Option<Time>| -> Plan {
            serde_json::from_value(json!({
                "id": "pln_01ARZ3NDEKTSV4RRFFQ69G5FAV", "name": "Daily", "instruction": "Post it.",
                "type": "cron", "cron": "0 9 * * *", "timezone": "UTC", "status": status,
                "nextRunAt": next, "lastRunAt": null, "createdAt": at, "updatedAt": at,
            }))
            .unwrap()
        };
        let next = Some(at + std::time::Duration::from_mins(90));
        assert_eq!(
            plan_entry(&plan("active", next), at),
            "\"Daily\" (pln_01ARZ3NDEKTSV4RRFFQ69G5FAV, cron: 0 9 * * * UTC, \
             next: 2026-02-18 16:37, in 1h 30m) — \"Post it.\""
        );
        assert_eq!(
            plan_entry(&plan("paused", None), at),
            "\"Daily\" (pln_01ARZ3NDEKTSV4RRFFQ69G5FAV, cron: 0 9 * * * UTC, paused) — \"Post it.\""
        );
    }
}
