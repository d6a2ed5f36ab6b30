//! Writes `ACTIVE RUNS`: what the agent's other runs are doing now.

use std::collections::BTreeMap;

use smartspace_domain::{
    ids::{RunId, SpaceId},
    runs::RunStatus,
};
use smartspace_store::{runs::ActiveCause, spaces::SpaceOverview};

use crate::prompt::{
    format::{Excerpt, Name, Quoted},
    lists::write_list,
    names::Names,
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
        let activity = sources.activities.get(&active.run_id);
        let state = write_state(*status, activity, &sources.cards);
        let lines = RunLines { names: &sources.names, cards: &sources.cards };
        Some(lines.write(active.run_id, &active.cause, &state, activity))
    });
    let list = write_list("ACTIVE RUNS", lines, more);
    let ending = if can_end_runs { ENDING } else { "" };
    list.replacen('\n', &format!("\n{OTHERS}{ending}\n"), 1)
}

/// How runs of the agent are written.
pub(crate) struct RunLines<'a> {
    pub(crate) names: &'a Names,
    /// The spaces that have a name here.
    pub(crate) cards: &'a BTreeMap<SpaceId, SpaceOverview>,
}

impl RunLines<'_> {
    /// Writes the line of a run: its state, its cause and what it has done so far.
    pub(crate) fn write(
        &self,
        run: RunId,
        cause: &ActiveCause,
        state: &str,
        activity: Option<&RunActivity>,
    ) -> String {
        let mut parts = vec![match cause {
            ActiveCause::Message { space_name, sender, text, .. } => {
                format!("{} in {}: {}", self.names.of(sender), Quoted(space_name), Quoted(text))
            }
            ActiveCause::Plan { plan_name } => format!("plan {}", Quoted(plan_name)),
            ActiveCause::Service { service_name } => format!("service {}", Quoted(service_name)),
            ActiveCause::Unknown {} => "another trigger".to_owned(),
        }];
        parts.extend(activity.into_iter().flat_map(|activity| self.done(cause, activity)));
        format!("{run} ({state}) — {}", parts.join("; "))
    }

    /// Writes what a run has done so far.
    fn done(&self, cause: &ActiveCause, activity: &RunActivity) -> Vec<String> {
        let entered = activity
            .active_space
            .filter(|space| Some(*space) != cause.space_id())
            .and_then(|space| self.cards.get(&space));
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
}

/// Writes the state of an active run: what it waits for, or its status.
pub(crate) fn write_state(
    status: RunStatus,
    activity: Option<&RunActivity>,
    cards: &BTreeMap<SpaceId, SpaceOverview>,
) -> String {
    activity
        .and_then(|activity| activity.waiting.as_ref())
        .map_or_else(|| status.as_str().to_owned(), |waiting| waits(waiting, cards))
}

/// Writes what a run waits for: `waits for getApproval "Restart?" in "Ops"`, or `waits for approval
/// of transfer in "Ops"`.
fn waits(waiting: &Waiting, cards: &BTreeMap<SpaceId, SpaceOverview>) -> String {
    let what = if waiting.is_approval { "approval of " } else { "" };
    let mut text = format!("waits for {what}{}", Name(&waiting.tool));
    if let Some(question) = &waiting.question {
        text.push(' ');
        text.push_str(&Excerpt(question, MAX_EXCERPT_CHARS).to_string());
    }
    if let Some(card) = cards.get(&waiting.space) {
        text.push_str(" in ");
        text.push_str(&Quoted(&card.name).to_string());
    }
    text
}
