//! Writes `ACTIVE RUNS`: what the agent's other runs are doing now.

use smartspace_domain::{ids::RunId, runs::RunStatus};
use smartspace_store::runs::{ActiveCause, ActiveRecord};

use crate::prompt::{
    format::{Excerpt, Name, Quoted},
    lists::write_list,
    reading::PromptSources,
    run_activity::{RunActivity, Waiting},
};

/// The longest excerpt of a message that another run sent, in characters.
const MAX_EXCERPT_CHARS: usize = 80;

/// Said before the runs. A model that only hears of other runs leaves its own message to them.
const OTHERS: &str = "Other runs of yours deal with other messages; you deal with TRIGGER.";
/// Said only to agents that have these tools.
const ENDING: &str = " stop_run or absorb_run ends one.";

/// Writes a line for each other active run.
pub(crate) fn write_active_runs(
    sources: &PromptSources,
    this: RunId,
    can_end_runs: bool,
) -> String {
    let others: Vec<_> = sources.active.iter().filter(|active| active.run_id != this).collect();
    let more = sources.active_count.saturating_sub(sources.active.len());
    let lines = others.iter().filter_map(|active| {
        let status = sources.states.get(&active.run_id).filter(|status| status.is_active())?;
        Some(line(active, *status, sources))
    });
    let list = write_list("ACTIVE RUNS", lines, more);
    let ending = if can_end_runs { ENDING } else { "" };
    list.replacen('\n', &format!("\n{OTHERS}{ending}\n"), 1)
}

fn line(active: &ActiveRecord, status: RunStatus, sources: &PromptSources) -> String {
    let activity = sources.activities.get(&active.run_id);
    let mut parts = vec![match &active.cause {
        ActiveCause::Message { space_name, sender, text, .. } => {
            format!("{} in {}: {}", sources.names.of(sender), Quoted(space_name), Quoted(text))
        }
        ActiveCause::Plan { plan_name } => format!("plan {}", Quoted(plan_name)),
        ActiveCause::Service { service_name } => format!("service {}", Quoted(service_name)),
        ActiveCause::Unknown {} => "another trigger".to_owned(),
    }];
    parts.extend(activity.into_iter().flat_map(|activity| done(active, activity, sources)));
    let state = activity
        .and_then(|activity| activity.waiting.as_ref())
        .map_or_else(|| status.as_str().to_owned(), |waiting| waits(waiting, sources));
    format!("{} ({state}) — {}", active.run_id, parts.join("; "))
}

/// Writes what a run has done so far.
fn done(active: &ActiveRecord, activity: &RunActivity, sources: &PromptSources) -> Vec<String> {
    let entered = activity
        .active_space
        .filter(|space| Some(*space) != active.cause.space_id())
        .and_then(|space| sources.cards.get(&space));
    let used: Vec<_> = activity.tools_used.iter().map(|tool| Name(tool).to_string()).collect();
    let sent = activity.sent.first();
    [
        entered.map(|card| format!("in {}", Quoted(&card.name))),
        (!used.is_empty()).then(|| format!("used {}", used.join(", "))),
        sent.map(|sent| format!("sent {}", Excerpt(&sent.text, MAX_EXCERPT_CHARS))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Writes what a run waits for: `waits for getApproval "Restart?" in "Ops"`.
pub(crate) fn waits(waiting: &Waiting, sources: &PromptSources) -> String {
    let mut text = format!("waits for {}", Name(&waiting.tool));
    if let Some(question) = &waiting.question {
        text.push(' ');
        text.push_str(&Excerpt(question, MAX_EXCERPT_CHARS).to_string());
    }
    if let Some(card) = sources.cards.get(&waiting.space) {
        text.push_str(" in ");
        text.push_str(&Quoted(&card.name).to_string());
    }
    text
}
