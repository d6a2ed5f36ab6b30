//! `get_my_runs`: what the agent's runs did, this one and those before it.

use futures::future::try_join_all;
use serde_json::{Value, json};
use smartspace_domain::{
    Error, Result,
    agents::SpacesShown,
    runs::{Run, RunStatus},
};
use smartspace_store::pages::Ask;

use super::{Calling, OUTPUT_BYTES, Outcome, count_that_fit, toolbox::Spec};
use crate::context::doing::Doing;

pub(super) const NAME: &str = "get_my_runs";

pub(super) fn spec() -> Spec {
    Spec {
        name: NAME,
        description: "List your own runs, newest first: why each was woken, which tools it used, what it sent.",
        input: json!({
            "type": "object",
            "properties": {
                "status": {
                    "type": "string",
                    "enum": ["queued", "running", "waiting_tool", "completed", "failed", "canceled"],
                    "description": "Only runs in this state."
                },
                "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10, "description": "How many."}
            },
            "additionalProperties": false
        }),
        read_only: true,
        changes_space: false,
        side_by_side: true,
        call: |calling, input| Box::pin(call(calling, input)),
    }
}

async fn call(calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
    let worker = calling.worker;
    let status: Option<RunStatus> = input.get("status").and_then(|status| serde_json::from_value(status.clone()).ok());
    let limit = input.get("limit").and_then(Value::as_u64).unwrap_or(10) as usize;
    let runs = runs(calling, status, limit).await?;
    let doings = try_join_all(runs.iter().map(|run| Doing::of(&worker.pipeline.store, run.id))).await?;
    let mut shown: Vec<Value> = runs.iter().zip(doings).map(|(run, doing)| shown(run, doing, run.id == worker.run.id)).collect();
    shown.truncate(count_that_fit(&shown, OUTPUT_BYTES));
    Ok(Outcome::completed(json!({"runs": shown})))
}

/// The newest runs that fit. An agent that is told of the active space only is not told what it did in others: anybody may have let it in here.
async fn runs(calling: &Calling<'_>, status: Option<RunStatus>, limit: usize) -> Result<Vec<Run>> {
    let worker = calling.worker;
    let everywhere = worker.config.spaces_shown() == SpacesShown::All;
    let told = |run: &Run| everywhere || run.trigger.space_id().is_some_and(|space| Some(space) == calling.active_space);
    let (mut found, mut cursor) = (Vec::new(), None);
    // A state that hardly any run is in is not looked for for ever.
    for _ in 0..PAGES {
        let page = worker.pipeline.store.runs_of_agent(worker.run.agent_id, status, &Ask { cursor, limit: None }).await?;
        found.extend(page.items.into_iter().filter(told));
        cursor = page.next_cursor;
        if cursor.is_none() || found.len() >= limit {
            break;
        }
    }
    found.truncate(limit);
    Ok::<_, Error>(found)
}

/// Pages of runs that are looked through.
const PAGES: usize = 4;

fn shown(run: &Run, doing: Doing, this: bool) -> Value {
    let sent: Vec<Value> =
        doing.sent.into_iter().rev().map(|sent| json!({"spaceId": sent.space, "messageId": sent.message, "text": sent.text})).collect();
    json!({
        "id": run.id,
        "thisRun": this,
        "status": run.status,
        "endReason": run.end_reason,
        "trigger": run.trigger.clone().cut_to(200),
        "activeSpaceId": run.active_space_id,
        "toolsUsed": doing.tools_used,
        "messagesSent": sent,
        "createdAt": run.created_at,
        "finishedAt": run.finished_at,
    })
}
