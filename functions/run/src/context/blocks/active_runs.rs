//! `ACTIVE RUNS`: what else the agent is doing at this moment.

use smartspace_domain::ids::RunId;
use smartspace_store::runs::{ActiveCause, ActiveRecord};

use super::{
    super::{
        quoted::{Excerpt, Name, Quoted, Who},
        reading::Gathered,
    },
    block,
};

/// What of a message that another run sent is shown, in characters.
const SENT_CHARS: usize = 80;

/// This run and the others.
pub(crate) fn active_runs(gathered: &Gathered, this: RunId) -> String {
    let line = |active: &ActiveRecord| {
        if active.run_id == this {
            return Some(line(active, "this run", gathered));
        }
        let status = gathered.states.get(&active.run_id).copied().filter(|status| status.is_active())?;
        Some(line(active, status.as_str(), gathered))
    };
    let more = gathered.active_count.saturating_sub(gathered.active.len());
    block("ACTIVE RUNS", gathered.active.iter().filter_map(line), more)
}

fn line(active: &ActiveRecord, state: &str, gathered: &Gathered) -> String {
    let mut parts = vec![match &active.cause {
        ActiveCause::Message { space_name, sender, text, .. } => {
            format!("{} in {}: {}", Who(sender), Quoted(space_name), Quoted(text))
        }
        ActiveCause::Plan { plan_name } => format!("plan {}", Quoted(plan_name)),
        ActiveCause::Service { service_name } => format!("service {}", Quoted(service_name)),
    }];
    if let Some(doing) = gathered.doings.get(&active.run_id) {
        let entered =
            doing.active_space.filter(|space| Some(*space) != active.cause.space_id()).and_then(|space| gathered.cards.get(&space));
        parts.extend(entered.map(|card| format!("in {}", Quoted(&card.name))));
        if !doing.tools_used.is_empty() {
            let used: Vec<_> = doing.tools_used.iter().map(|tool| Name(tool).to_string()).collect();
            parts.push(format!("used {}", used.join(", ")));
        }
        parts.extend(doing.sent.first().map(|sent| format!("sent {}", Excerpt(&sent.text, SENT_CHARS))));
    }
    format!("{} ({state}) — {}", active.run_id, parts.join("; "))
}
