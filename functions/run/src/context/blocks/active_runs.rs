//! `ACTIVE RUNS`: what else the agent is doing at this moment.

use smartspace_domain::{agents::SpacesShown, ids::RunId, runs::RunStatus};
use smartspace_store::runs::ActiveRecord;

use super::{
    super::{
        quoted::{Excerpt, Name, Quoted, Who},
        reading::{ACTIVE_SHOWN, Gathered},
    },
    block,
};

/// What of a message that another run sent is shown, in characters.
const SENT_CHARS: usize = 80;

/// This run and the others. An agent that is told of the active space only is not told what it does in others: anybody may have let it in here.
pub(crate) fn active_runs(gathered: &Gathered, this: RunId, shown: SpacesShown) -> String {
    let here = gathered.place.as_ref().map(|place| place.space.id);
    let mine = gathered.active.iter().filter(|active| active.run_id == this).map(|active| line(active, "this run", gathered));
    let told = |other: &&ActiveRecord| other.run_id != this && (shown == SpacesShown::All || Some(other.space_id) == here);
    let others = gathered.active.iter().filter(told).filter_map(|other| {
        let status = gathered.states.get(&other.run_id).copied().filter(|status| status.is_active())?;
        Some(line(other, RunStatus::as_str(status), gathered))
    });
    let mut lines: Vec<_> = mine.chain(others).collect();
    let more = lines.len().saturating_sub(ACTIVE_SHOWN);
    lines.truncate(ACTIVE_SHOWN);
    block("ACTIVE RUNS", lines, more)
}

fn line(active: &ActiveRecord, state: &str, gathered: &Gathered) -> String {
    let mut parts = vec![format!("{} in {}: {}", Who(&active.sender), Quoted(&active.space_name), Quoted(&active.text))];
    if let Some(doing) = gathered.doings.get(&active.run_id) {
        let entered = doing.active_space.filter(|space| *space != active.space_id).and_then(|space| gathered.cards.get(&space));
        parts.extend(entered.map(|card| format!("in {}", Quoted(&card.name))));
        if !doing.tools_used.is_empty() {
            let used: Vec<_> = doing.tools_used.iter().map(|tool| Name(tool).to_string()).collect();
            parts.push(format!("used {}", used.join(", ")));
        }
        parts.extend(doing.sent.first().map(|sent| format!("sent {}", Excerpt(&sent.text, SENT_CHARS))));
    }
    format!("{} ({state}) — {}", active.run_id, parts.join("; "))
}
