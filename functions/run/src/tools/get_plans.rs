//! `get_plans`: what the agent is to do later.

use serde_json::{Value, json};
use smartspace_domain::{Result, plans::PlanStatus};

use super::{Calling, Outcome, keeping::listed, toolbox::Spec};

pub(super) const NAME: &str = "get_plans";

pub(super) fn spec() -> Spec {
    Spec {
        name: NAME,
        description: "List your plans, the oldest first, with what each is to do and when. One that fired once and is over is not among them.",
        input: json!({
            "type": "object",
            "properties": {"status": {"type": "string", "enum": ["active", "paused"], "description": "Only plans in this state."}},
            "additionalProperties": false
        }),
        read_only: true,
        changes_space: false,
        side_by_side: true,
        call: |calling, input| Box::pin(call(calling, input)),
    }
}

async fn call(calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
    let status: Option<PlanStatus> = input.get("status").and_then(|status| serde_json::from_value(status.clone()).ok());
    let plans = calling.worker.pipeline.store.all_plans(calling.worker.run.agent_id).await?;
    let wanted = plans.iter().filter(|plan| status.is_none_or(|status| plan.status == status));
    Ok(Outcome::completed(listed("plans", wanted.map(|plan| json!(plan)))))
}
