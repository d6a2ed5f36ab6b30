//! `get_my_runs`: lists the agent's active runs, including this one, or those of a status.
//! Each is a line, as in the prompt.

use std::{cmp::Reverse, collections::BTreeMap};

use async_trait::async_trait;
use futures::future::try_join_all;
use serde_json::{Value, json};
use smartspace_domain::{
    Result,
    agents::SpacesShown,
    ids::SpaceId,
    jobs::MessageRef,
    messages::{Sender, excerpt},
    runs::{Run, RunStatus},
    triggers::Trigger,
};
use smartspace_store::{
    runs::{ActiveCause, listing::RunFilter},
    spaces::SpaceOverview,
    table::pages::PageRequest,
};

use crate::{
    prompt::{
        active_runs::{RunLines, write_state},
        lists::minute,
        placed::Placed,
        run_activity::RunActivity,
    },
    tools::{
        builtin::shared::agent_state::listed_with_places,
        calling::{Calling, Outcome},
        tool::{BuiltInTool, Concurrency, Spec, ToolGroup},
    },
};

/// The longest text of a trigger, in characters.
const TEXT_CHARS: usize = 200;

pub(crate) struct GetMyRuns;

#[async_trait]
impl BuiltInTool for GetMyRuns {
    fn spec(&self) -> Spec {
        Spec {
            name: "get_my_runs".into(),
            description: "List your active runs, or those of a status.".into(),
            input: json!({
                "type": "object",
                "properties": {
                    "status": {
                        "type": "string",
                        "enum": [
                            "queued", "running", "waiting_tool", "completed", "failed",
                            "canceled", "all"
                        ]
                    },
                    "limit": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 50,
                        "default": 10
                    }
                },
                "additionalProperties": false
            }),
            read_only: true,
            changes_space: false,
            group: Some(ToolGroup::Runs),
        }
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Reading
    }

    async fn call(&self, calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
        let context = calling.context;
        let limit = input.get("limit").and_then(Value::as_u64).unwrap_or(10) as usize;
        let (title, runs) = match input.get("status").and_then(Value::as_str) {
            None => ("ACTIVE RUNS", active_runs(calling, limit).await?),
            Some(wanted) => {
                let status = serde_json::from_value(Value::from(wanted)).ok();
                ("RUNS", listed_runs(calling, status, limit).await?)
            }
        };
        let store = context.store();
        let activities = try_join_all(runs.iter().map(|run| RunActivity::of(store, run.id)));
        let spaces = store.agent_state().spaces(context.run.agent_id);
        let (activities, mut spaces) = futures::try_join!(activities, spaces)?;
        if context.config.spaces_shown() == SpacesShown::Active {
            spaces.retain(|space| Some(*space) == calling.active_space);
        }
        let cards = store.spaces().overviews(&spaces).await?;
        let causes: Vec<_> = runs.iter().map(|run| cause(&run.trigger)).collect();
        let mut names = calling.names.clone();
        names.add_texts(runs.iter().filter_map(|run| text_of(&run.trigger)).collect());
        names.add(causes.iter().filter_map(sender));
        let lines = RunLines { names: &names, cards: &cards };
        let written = runs.iter().zip(&activities).zip(&causes).map(|((run, activity), cause)| {
            let state = write_run_state(run, activity, run.id == context.run.id, &cards);
            lines.write(run.id, cause, &state, Some(activity))
        });
        Ok(listed_with_places(title, &written.collect::<Vec<_>>()))
    }
}

/// The newest active runs. See [`listed_runs`] about an agent that sees only the active space.
async fn active_runs(calling: &Calling<'_>, limit: usize) -> Result<Vec<Run>> {
    let context = calling.context;
    let store = context.store();
    let everywhere = context.config.spaces_shown() == SpacesShown::All;
    let active = store.agent_state().active(context.run.agent_id).await?;
    let mut records = store.runs().still_active(&active).await?;
    records.retain(|run| {
        let is_seen =
            everywhere || calling.active_space.is_some_and(|it| run.space_id() == Some(it));
        is_seen && run.fork_of().is_none()
    });
    records.sort_unstable_by_key(|run| Reverse(run.id));
    records.truncate(limit);
    store.runs().views(&records).await
}

/// The newest runs that match, whatever their status if none is given. An agent that sees only the
/// active space must not see its runs in other spaces: anyone may have added it to this one, and
/// would learn what it does elsewhere.
async fn listed_runs(
    calling: &Calling<'_>,
    status: Option<RunStatus>,
    limit: usize,
) -> Result<Vec<Run>> {
    let context = calling.context;
    let everywhere = context.config.spaces_shown() == SpacesShown::All;
    if !everywhere && calling.active_space.is_none() {
        return Ok(Vec::new());
    }
    let filter = RunFilter {
        status,
        agent: Some(context.run.agent_id),
        space: calling.active_space.filter(|_| !everywhere),
        without_forks: true,
        ..RunFilter::default()
    };
    let ask = PageRequest { cursor: None, limit: Some(limit) };
    Ok(context.store().runs().list(&filter, &ask, context.now()).await?.items)
}

/// Writes the state of a run: as in the prompt while it is active, then how and when it ended.
fn write_run_state(
    run: &Run,
    activity: &RunActivity,
    is_this_run: bool,
    cards: &BTreeMap<SpaceId, SpaceOverview>,
) -> Placed {
    let mut state = if run.status.is_active() {
        let waits = Some(activity).filter(|_| run.status == RunStatus::WaitingTool);
        write_state(run.status, waits, cards)
    } else {
        Placed::plain(run.status.as_str())
    };
    if let Some(Value::String(reason)) = run.end_reason.map(|reason| json!(reason)) {
        state.push_str(&format!(": {reason}"));
    }
    if let Some(finished) = run.finished_at {
        state.push_str(&format!(", {}", minute(finished)));
    }
    if let Some(first) = run.retry_of {
        state.push_str(&format!(", repeats {first}"));
    }
    if is_this_run {
        state.push_str(", this run");
    }
    state
}

/// The beginning of the message that caused a run.
fn text_of(trigger: &Trigger) -> Option<(MessageRef, Option<String>)> {
    match trigger {
        Trigger::SpaceMessage { space_id, seq, text, .. } => {
            let message = MessageRef { space_id: *space_id, seq: *seq };
            Some((message, Some(excerpt(text, TEXT_CHARS).0.to_owned())))
        }
        _ => None,
    }
}

/// The cause of a run in the short form of the prompt.
fn cause(trigger: &Trigger) -> ActiveCause {
    match trigger.clone() {
        Trigger::SpaceMessage { space_id, space_name, sender, seq, .. } => {
            ActiveCause::Message { space_id, space_name, sender, seq }
        }
        Trigger::Plan { name, .. } => ActiveCause::Plan { plan_name: name },
        Trigger::Service { service, .. } => ActiveCause::Service { service_name: service },
        Trigger::Hidden(_) | Trigger::Reference(_) => ActiveCause::Unknown {},
    }
}

/// The sender of the message that caused a run.
fn sender(cause: &ActiveCause) -> Option<&Sender> {
    if let ActiveCause::Message { sender, .. } = cause { Some(sender) } else { None }
}
