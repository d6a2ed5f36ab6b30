//! Reports what an agent needs to know before its first step: overdue goals, the time since its
//! last run, a new summary.

use std::time::Duration;

use smartspace_domain::{
    Time,
    goals::{Goal, GoalStatus},
};

use crate::prompt::{
    format::{Key, Span},
    reading::PromptSources,
};
use crate::watchers::{RunSnapshot, Watcher};

pub(super) const WATCHER: Watcher = Watcher { name: "start", look };

/// Overdue goals that are listed by id.
const LISTED_GOALS: usize = 10;
/// A shorter time since the last run is not reported.
const MIN_PAUSE: Duration = Duration::from_hours(1);

fn look(run: &RunSnapshot<'_>) -> Vec<String> {
    (run.step == 0 && !run.start.is_empty()).then(|| run.start.join(" ")).into_iter().collect()
}

/// Returns the sentences for the first step, made from the sources of the prompt.
pub(crate) fn facts(sources: &PromptSources, now: Time) -> Vec<String> {
    let mut start = Vec::new();
    if let Some(trigger_space) = &sources.trigger_space {
        let last = trigger_space.member.last_run_at;
        let ago = last.map(|last| now.since(last)).filter(|ago| *ago >= MIN_PAUSE);
        start.extend(ago.map(|ago| format!("Your last run here was {} ago.", Span(ago))));
        if trigger_space
            .summary
            .as_ref()
            .is_some_and(|summary| last.is_some_and(|last| summary.updated_at > last))
        {
            start.push("EARLIER has been written anew since.".to_owned());
        }
    }
    let overdue = |goal: &&Goal| {
        goal.status == GoalStatus::Active && goal.due_at.is_some_and(|due| due < now)
    };
    let mut overdue: Vec<_> =
        sources.goals.iter().filter(overdue).map(|goal| Key(&goal.id).to_string()).collect();
    let more = overdue.len().saturating_sub(LISTED_GOALS);
    overdue.truncate(LISTED_GOALS);
    if more > 0 {
        overdue.push(format!("… {more} more"));
    }
    if !overdue.is_empty() {
        start.push(format!("Overdue, see GOALS: {}.", overdue.join(", ")));
    }
    start
}
