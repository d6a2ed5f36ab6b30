//! `MEMORIES`, `GOALS` and `PLANS`: what an agent keeps beyond a run.

use std::{cmp::Reverse, fmt::Write};

use smartspace_domain::{
    Time,
    goals::{Goal, GoalStatus},
    memories::Memory,
    plans::{Plan, PlanStatus, Schedule},
};

use super::{
    super::quoted::{Key, Quoted, Span},
    block,
};

/// Memories that a prompt shows.
const MEMORIES: usize = 100;
/// Goals that a prompt shows.
const GOALS: usize = 30;
/// What memories take at most, and what goals and plans do, in characters of their lines.
const CHARS: usize = 8_000;

/// What it remembers, by key. Where there is no room for all, those that were set last count.
pub(crate) fn memories(memories: &[Memory]) -> String {
    let mut newest: Vec<&Memory> = memories.iter().collect();
    newest.sort_by_key(|memory| (Reverse(memory.updated_at), &memory.key));
    let mut room = Room(CHARS);
    let lines = newest.into_iter().take(MEMORIES).map(|memory| (&memory.key, format!("[{}] {}", Key(&memory.key), Quoted(&memory.value))));
    let mut lines: Vec<_> = lines.filter(|(_, line)| room.takes(line)).collect();
    lines.sort();
    let more = memories.len() - lines.len();
    block("MEMORIES", lines.into_iter().map(|(_, line)| line), more)
}

/// Room for so many characters. A line that is too long does not keep shorter ones behind it out.
struct Room(usize);

impl Room {
    fn takes(&mut self, line: &str) -> bool {
        let left = self.0.checked_sub(line.chars().count());
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

/// What it works towards: active goals, the most urgent first.
pub(crate) fn goals(goals: &[Goal]) -> String {
    let mut active: Vec<&Goal> = goals.iter().filter(|goal| goal.status == GoalStatus::Active).collect();
    active.sort_by_key(|goal| (goal.priority, goal.due_at.unwrap_or(Time::from_millis(i64::MAX)), &goal.id));
    let (all, mut room) = (active.len(), Room(CHARS));
    let lines: Vec<_> = active.into_iter().take(GOALS).map(goal).filter(|line| room.takes(line)).collect();
    let more = all - lines.len();
    block("GOALS", lines, more)
}

fn goal(goal: &Goal) -> String {
    let mut line = format!("[{}] {} (priority {}", Key(&goal.id), Quoted(&goal.description), goal.priority);
    if goal.long_term {
        line.push_str(", long-term");
    }
    if let Some(due) = goal.due_at {
        // Writing to a String can't fail.
        let _ = write!(line, ", due {}", due.to_whole_seconds());
    }
    line.push(')');
    line
}

/// What it is to do later, the next one first; without what is paused.
pub(crate) fn plans(plans: &[Plan], now: Time) -> String {
    let active = plans.iter().filter(|plan| plan.status == PlanStatus::Active);
    let mut coming: Vec<(Time, &Plan)> = active.filter_map(|plan| Some((plan.next_run_at?, plan))).collect();
    coming.sort_by_key(|(next, plan)| (*next, plan.id));
    let (all, mut room) = (coming.len(), Room(CHARS));
    let lines: Vec<_> = coming.into_iter().map(|(next, it)| plan(it, next, now)).filter(|line| room.takes(line)).collect();
    let more = all - lines.len();
    block("PLANS", lines, more)
}

fn plan(plan: &Plan, next: Time, now: Time) -> String {
    let (name, id, until) = (Quoted(&plan.name), plan.id, Span(next.since(now)));
    let next = next.to_whole_seconds();
    match &plan.schedule {
        Schedule::Cron { cron, timezone } => format!("{name} (id: {id}, cron: {cron} {timezone}, next: {next}, in {until})"),
        Schedule::Once { run_after: None } => format!("{name} (id: {id}, once: {next}, in {until})"),
        Schedule::Once { run_after: Some(words) } => {
            format!("{name} (id: {id}, once: {next}, in {until}) [set via runAfter: {}]", Quoted(words))
        }
    }
}
