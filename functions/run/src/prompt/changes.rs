//! Writes what changed in an agent's memories, goals and plans since the prompt of a run, as far as
//! neither the prompt nor the run itself shows it.
//!
//! The prompt that is compared is the stored one. Each line of a block begins with the key or the
//! id of its item, so a line whose item is gone says that the item was deleted.

#[cfg(test)]
mod tests;

use serde_json::{Deserializer, Value};
use smartspace_domain::{
    Time,
    agents::Builtins,
    goals::{Goal, GoalStatus},
    memories::Memory,
    plans::{Plan, PlanStatus},
};
use smartspace_models::port::Message;

use crate::prompt::{
    agent_state::{goal_line, memory_line},
    format::{Excerpt, Key, Quoted},
    lists::minute,
    reading::PromptSources,
};

/// The longest value or description that is shown, in characters.
const MAX_TEXT_CHARS: usize = 300;
/// The longest list of changes, in characters of its lines.
const MAX_CHARS: usize = 1_000;

/// What a run knows of its agent's state.
pub(crate) struct Known<'a> {
    /// The conversation that its prompt begins with.
    pub(crate) prompt: &'a [Message],
    /// Its earlier notices, which list changes.
    pub(crate) notices: Vec<&'a str>,
    /// When the run began. What changed before is older than the prompt.
    pub(crate) since: Time,
    /// When its own calls changed something.
    pub(crate) own_changes: &'a [OwnChange],
}

/// A call of the run that changed the agent's state.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OwnChange {
    /// The name of the tool.
    pub(crate) tool: String,
    pub(crate) input: Value,
    pub(crate) began_at: Time,
    pub(crate) ended_at: Time,
}

impl Known<'_> {
    /// The lines of a block of the prompt, and those that earlier notices added.
    fn lines(&self, block: &str) -> Vec<&str> {
        let last = self.prompt.iter().rev().find_map(|message| match message {
            Message::User { blocks } => blocks.last(),
            _ => None,
        });
        let title = format!("{block}:");
        let of_prompt = last
            .into_iter()
            .flat_map(|text| text.lines().skip_while(|line| **line != title).skip(1))
            .map_while(|line| line.strip_prefix("- "));
        let set = format!("{block} ");
        let of_notices = self.notices.iter().flat_map(|notice| notice.lines());
        let of_notices = of_notices.filter_map(|line| line.strip_prefix(&*set));
        of_prompt.chain(of_notices.filter(|line| line.starts_with(['[', '"']))).collect()
    }

    /// Whether the run did not know of a change at this time by a call of this tool.
    fn is_news(&self, tool: &str, at: Time) -> bool {
        let is_own =
            |own: &OwnChange| own.tool == tool && (own.began_at..=own.ended_at).contains(&at);
        at > self.since && !self.own_changes.iter().any(is_own)
    }

    /// Whether the run itself deleted an item: its calls name each as one text.
    fn has_deleted(&self, tool: &str, shown: impl Fn(&str) -> String, label: &str) -> bool {
        let of_tool = self.own_changes.iter().filter(|own| own.tool == tool);
        of_tool
            .filter_map(|own| own.input.as_object())
            .flat_map(|input| input.values().filter_map(Value::as_array).flatten())
            .filter_map(Value::as_str)
            .any(|text| shown(text) == label)
    }
}

/// Writes the changes, one on each line, and how many others did not fit.
pub(crate) fn write_changes(
    sources: &PromptSources,
    has: Builtins,
    known: &Known<'_>,
) -> Vec<String> {
    let groups = [
        has.memories.then(|| of_memories(&sources.memories, known)),
        has.goals.then(|| of_goals(&sources.goals, known)),
        has.plans.then(|| of_plans(&sources.plans, known)),
    ];
    let is_known = |line: &String| known.notices.iter().any(|it| it.lines().any(|old| old == line));
    let all: Vec<String> =
        groups.into_iter().flatten().flatten().filter(|line| !is_known(line)).collect();
    let mut left = MAX_CHARS;
    let mut changes = Vec::new();
    let mut more = 0;
    for line in all {
        match left.checked_sub(line.chars().count()) {
            Some(rest) => {
                left = rest;
                changes.push(line);
            }
            None => more += 1,
        }
    }
    if more > 0 {
        changes.push(format!("… {more} more"));
    }
    changes
}

fn of_memories(memories: &[Memory], known: &Known<'_>) -> Vec<String> {
    let shown = known.lines("MEMORIES");
    let label = |key: &str| format!("[{}]", Key(key));
    let set = memories.iter().filter(|memory| {
        known.is_news("set_memories", memory.updated_at) && !shown.contains(&&*memory_line(memory))
    });
    let set = set.map(|memory| {
        let value = Excerpt(&memory.value, MAX_TEXT_CHARS);
        format!("MEMORIES {} {value}", label(&memory.key))
    });
    let existing: Vec<String> = memories.iter().map(|memory| label(&memory.key)).collect();
    let deleted = deleted("MEMORIES", &shown, &existing)
        .filter(|gone| !known.has_deleted("delete_memories", label, gone));
    set.chain(deleted.map(|gone| format!("MEMORIES deleted: {gone}"))).collect()
}

fn of_goals(goals: &[Goal], known: &Known<'_>) -> Vec<String> {
    let shown = known.lines("GOALS");
    let label = |id: &str| format!("[{}]", Key(id));
    // The prompt shows active goals only, so its line of one that has ended is out of date.
    let is_shown =
        |goal: &Goal| goal.status == GoalStatus::Active && shown.contains(&&*goal_line(goal));
    let set =
        goals.iter().filter(|goal| known.is_news("set_goals", goal.updated_at) && !is_shown(goal));
    let set = set.map(|goal| {
        let state = match goal.status {
            GoalStatus::Active => format!("priority {}", goal.priority),
            GoalStatus::Completed => "completed".to_owned(),
            GoalStatus::Abandoned => "abandoned".to_owned(),
        };
        let due = goal.due_at.map_or_else(String::new, |due| format!(", due {}", minute(due)));
        let description = Excerpt(&goal.description, MAX_TEXT_CHARS);
        format!("GOALS {} {description} ({state}{due})", label(&goal.id))
    });
    let existing: Vec<String> = goals.iter().map(|goal| label(&goal.id)).collect();
    let deleted = deleted("GOALS", &shown, &existing)
        .filter(|gone| !known.has_deleted("delete_goals", label, gone));
    set.chain(deleted.map(|gone| format!("GOALS deleted: {gone}"))).collect()
}

fn of_plans(plans: &[Plan], known: &Known<'_>) -> Vec<String> {
    let shown = known.lines("PLANS");
    let set = plans.iter().filter(|plan| known.is_news("set_plans", plan.updated_at));
    let set = set.map(|plan| {
        let next = match (plan.status, plan.next_run_at) {
            (PlanStatus::Active, Some(next)) => format!("next: {}", minute(next)),
            _ => "paused".to_owned(),
        };
        format!("PLANS {} ({}, {next})", Quoted(&plan.name), plan.id)
    });
    let existing: Vec<String> = plans.iter().map(|plan| plan.id.to_string()).collect();
    let deleted = deleted("PLANS", &shown, &existing)
        .filter(|gone| !known.has_deleted("delete_plans", str::to_owned, gone));
    set.chain(deleted.map(|gone| format!("PLANS deleted: {gone}"))).collect()
}

/// The labels of lines whose item no longer exists, each once.
fn deleted<'a>(
    block: &'static str,
    shown: &[&'a str],
    existing: &'a [String],
) -> impl Iterator<Item = &'a str> {
    let mut gone: Vec<&str> = Vec::new();
    for label in shown.iter().filter_map(|line| label_of(block, line)) {
        if !existing.iter().any(|other| other == label) && !gone.contains(&label) {
            gone.push(label);
        }
    }
    gone.into_iter()
}

/// The key of a line with its brackets, or the id of a plan.
fn label_of<'a>(block: &str, line: &'a str) -> Option<&'a str> {
    if block == "PLANS" {
        let rest = line.get(text_end(line)?..)?.strip_prefix(" (")?;
        return rest.split([',', ')']).next();
    }
    let key = line.strip_prefix('[')?;
    let end = if key.starts_with('"') { text_end(key)? } else { key.find(']')? };
    line.get(..end + 2)
}

/// Where the JSON string ends with which a text begins.
fn text_end(text: &str) -> Option<usize> {
    let mut texts = Deserializer::from_str(text).into_iter::<String>();
    texts.next()?.ok()?;
    Some(texts.byte_offset())
}
