//! Writes `ACTIVE RUNS`: what the agent's other runs are doing now.

use smartspace_domain::ids::RunId;
use smartspace_store::runs::{ActiveCause, ActiveRecord};

use crate::prompt::{
    blocks::{Layout, block},
    quoted::{Excerpt, Name, NameAndKind, Quoted},
    reading::Gathered,
};

/// The longest excerpt of a message that another run sent, in characters.
const SENT_CHARS: usize = 80;

/// Writes a line for this run and for each other active one.
pub(super) fn active_runs(gathered: &Gathered, this: RunId) -> String {
    let line = |active: &ActiveRecord| {
        if active.run_id == this {
            return Some(line(active, "this run", gathered));
        }
        let status =
            gathered.states.get(&active.run_id).copied().filter(|status| status.is_active())?;
        Some(line(active, status.as_str(), gathered))
    };
    let more = gathered.active_count.saturating_sub(gathered.active.len());
    block("ACTIVE RUNS", gathered.active.iter().filter_map(line), more, Layout::Indented)
}

fn line(active: &ActiveRecord, state: &str, gathered: &Gathered) -> String {
    let mut parts = vec![match &active.cause {
        ActiveCause::Message { space_name, sender, text, .. } => {
            format!("{} in {}: {}", NameAndKind(sender), Quoted(space_name), Quoted(text))
        }
        ActiveCause::Plan { plan_name } => format!("plan {}", Quoted(plan_name)),
        ActiveCause::Service { service_name } => format!("service {}", Quoted(service_name)),
        ActiveCause::Unknown {} => "another trigger".to_owned(),
    }];
    if let Some(activity) = gathered.activities.get(&active.run_id) {
        let entered = activity
            .active_space
            .filter(|space| Some(*space) != active.cause.space_id())
            .and_then(|space| gathered.cards.get(&space));
        parts.extend(entered.map(|card| format!("in {}", Quoted(&card.name))));
        if !activity.tools_used.is_empty() {
            let used: Vec<_> =
                activity.tools_used.iter().map(|tool| Name(tool).to_string()).collect();
            parts.push(format!("used {}", used.join(", ")));
        }
        parts.extend(
            activity.sent.first().map(|sent| format!("sent {}", Excerpt(&sent.text, SENT_CHARS))),
        );
    }
    format!("{} ({state}) — {}", active.run_id, parts.join("; "))
}
