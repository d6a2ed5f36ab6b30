//! Writes `ACTIVE RUNS`: what the agent's other runs are doing now.

use std::collections::BTreeMap;

use smartspace_domain::{
    ids::{RunId, SpaceId},
    jobs::MessageRef,
    runs::RunStatus,
};
use smartspace_store::{
    runs::{ActiveCause, places::deleted_mark},
    spaces::SpaceOverview,
};

use crate::prompt::{
    format::{Excerpt, Name, Quoted},
    lists::write_placed_list,
    names::{Names, Words},
    placed::Placed,
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
) -> Placed {
    let others: Vec<_> = sources.active.iter().filter(|active| active.run_id != this).collect();
    let more = sources.active_count.saturating_sub(sources.active.len());
    let lines = others.iter().filter_map(|active| {
        let status = sources.states.get(&active.run_id).filter(|status| status.is_active())?;
        let activity = sources.activities.get(&active.run_id);
        let state = write_state(*status, activity, &sources.cards);
        let lines = RunLines { names: &sources.names, cards: &sources.cards };
        Some(lines.write(active.run_id, &active.cause, &state, activity))
    });
    let ending = if can_end_runs { ENDING } else { "" };
    write_placed_list("ACTIVE RUNS", &format!("{OTHERS}{ending}\n"), lines, more)
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
        state: &Placed,
        activity: Option<&RunActivity>,
    ) -> Placed {
        let mut line = Placed::plain(format!("{run} ("));
        line.append(state);
        line.push_str(") — ");
        line.append(&self.cause(cause));
        for done in activity.into_iter().flat_map(|activity| self.done(cause, activity)) {
            line.push_str("; ");
            line.append(&done);
        }
        line
    }

    /// Writes why a run was started.
    fn cause(&self, cause: &ActiveCause) -> Placed {
        Placed::plain(match cause {
            ActiveCause::Message { space_id, space_name, sender, seq } => {
                let who = self.names.of(sender);
                let mut text = Placed::plain(format!("{who} in {}", Quoted(space_name)));
                let message = MessageRef { space_id: *space_id, seq: *seq };
                match self.names.words_of(message) {
                    Words::Expired => {}
                    Words::Deleted => text.push_str(&format!(": {}", deleted_mark(*seq))),
                    Words::Text(words) => {
                        text.push_str(": ");
                        text.push_message(message, &Quoted(words).to_string());
                    }
                }
                return text;
            }
            ActiveCause::Plan { plan_name } => format!("plan {}", Quoted(plan_name)),
            ActiveCause::Service { service_name } => format!("service {}", Quoted(service_name)),
            ActiveCause::Unknown {} => "another trigger".to_owned(),
        })
    }

    /// Writes what a run has done so far.
    fn done(&self, cause: &ActiveCause, activity: &RunActivity) -> Vec<Placed> {
        let entered = activity
            .active_space
            .filter(|space| Some(*space) != cause.space_id())
            .and_then(|space| self.cards.get(&space));
        let used: Vec<_> = activity.tools_used.iter().map(|tool| Name(tool).to_string()).collect();
        let sent = activity.sent.first();
        [
            entered.map(|card| Placed::plain(format!("in {}", Quoted(&card.name)))),
            (!used.is_empty()).then(|| Placed::plain(format!("used {}", used.join(", ")))),
            sent.map(|sent| {
                let mut text = Placed::plain("sent ");
                let words = Placed::plain(Excerpt(&sent.text, MAX_EXCERPT_CHARS).to_string());
                text.append(&match sent.place {
                    Some(message) => words.within(message),
                    None => words,
                });
                text
            }),
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
) -> Placed {
    activity
        .and_then(|activity| activity.waiting.as_ref())
        .map_or_else(|| Placed::plain(status.as_str()), |waiting| waits(waiting, cards))
}

/// Writes what a run waits for: `waits for getApproval "Restart?" in "Ops"`, or `waits for approval
/// of transfer in "Ops"`.
fn waits(waiting: &Waiting, cards: &BTreeMap<SpaceId, SpaceOverview>) -> Placed {
    let what = if waiting.is_approval { "approval of " } else { "" };
    let mut text = Placed::plain(format!("waits for {what}{}", Name(&waiting.tool)));
    if let Some(question) = &waiting.question {
        text.push_str(" ");
        let card = MessageRef { space_id: waiting.space, seq: waiting.seq };
        text.push_message(card, &Excerpt(question, MAX_EXCERPT_CHARS).to_string());
    }
    if let Some(card) = cards.get(&waiting.space) {
        text.push_str(" in ");
        text.push_str(&Quoted(&card.name).to_string());
    }
    text
}
