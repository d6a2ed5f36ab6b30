//! `get_my_runs`: lists the agent's runs, including the current one, and what each of them did.

use async_trait::async_trait;
use futures::future::try_join_all;
use serde_json::{Value, json};
use smartspace_domain::{
    Result,
    agents::SpacesShown,
    runs::{Run, RunStatus},
};
use smartspace_store::{runs::listing::RunFilter, table::pages::PageRequest};

use crate::prompt::run_activity::{RunActivity, Waiting};
use crate::tools::{
    calling::{Calling, Outcome},
    output::{MAX_OUTPUT_BYTES, count_that_fit},
    tool::{BuiltInTool, Concurrency, Spec, ToolGroup},
};

pub(crate) struct GetMyRuns;

#[async_trait]
impl BuiltInTool for GetMyRuns {
    fn spec(&self) -> Spec {
        Spec {
            name: "get_my_runs".into(),
            description: "List your runs, newest first.".into(),
            input: json!({
                "type": "object",
                "properties": {
                    "status": {
                        "type": "string",
                        "enum": [
                            "queued", "running", "waiting_tool", "completed", "failed", "canceled"
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
        let status: Option<RunStatus> =
            input.get("status").and_then(|status| serde_json::from_value(status.clone()).ok());
        let limit = input.get("limit").and_then(Value::as_u64).unwrap_or(10) as usize;
        let runs = runs(calling, status, limit).await?;
        let activities =
            try_join_all(runs.iter().map(|run| RunActivity::of(context.store(), run.id))).await?;
        let mut shown: Vec<Value> = runs
            .iter()
            .zip(activities)
            .map(|(run, activity)| run_json(run, activity, run.id == context.run.id))
            .collect();
        shown.truncate(count_that_fit(&shown, MAX_OUTPUT_BYTES));
        Ok(Outcome::completed(json!({"runs": shown})))
    }
}

/// The newest runs that match. An agent that sees only the active space must not see its runs in
/// other spaces: anyone may have added it to this one, and would learn what it does elsewhere.
async fn runs(calling: &Calling<'_>, status: Option<RunStatus>, limit: usize) -> Result<Vec<Run>> {
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

fn run_json(run: &Run, activity: RunActivity, is_this_run: bool) -> Value {
    let sent: Vec<Value> = activity
        .sent
        .into_iter()
        .rev()
        .map(|sent| json!({"spaceId": sent.space, "messageId": sent.message, "text": sent.text}))
        .collect();
    let waits_for = activity.waiting.filter(|_| run.status == RunStatus::WaitingTool).map(
        |Waiting { tool, space, question }| {
            json!({"tool": tool, "spaceId": space, "question": question})
        },
    );
    json!({
        "id": run.id,
        "thisRun": is_this_run,
        "status": run.status,
        "waitsFor": waits_for,
        "endReason": run.end_reason,
        "retryOf": run.retry_of,
        "trigger": run.trigger.clone().cut_to(200),
        "activeSpaceId": run.active_space_id,
        "toolsUsed": activity.tools_used,
        "messagesSent": sent,
        "createdAt": run.created_at,
        "finishedAt": run.finished_at,
    })
}
