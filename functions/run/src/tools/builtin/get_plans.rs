//! `get_plans`: lists the agent's plans.

use async_trait::async_trait;
use serde_json::{Value, json};
use smartspace_domain::{Result, plans::PlanStatus};

use crate::{
    prompt::agent_state::plan_entry,
    tools::{
        builtin::shared::agent_state::listed_as_text,
        calling::{Calling, Outcome},
        tool::{BuiltInTool, Concurrency, Spec, ToolGroup},
    },
};

pub(crate) struct GetPlans;

#[async_trait]
impl BuiltInTool for GetPlans {
    fn spec(&self) -> Spec {
        Spec {
            name: "get_plans".into(),
            description: "List your plans.".into(),
            input: json!({
                "type": "object",
                "properties": {
                    "status": {"type": "string", "enum": ["active", "paused"]}
                },
                "additionalProperties": false
            }),
            read_only: true,
            changes_space: false,
            group: Some(ToolGroup::Plans),
        }
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Reading
    }

    async fn call(&self, calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
        let status: Option<PlanStatus> =
            input.get("status").and_then(|status| serde_json::from_value(status.clone()).ok());
        let plans = calling.context.store().plans().all(calling.context.run.agent_id).await?;
        let wanted = plans.iter().filter(|plan| status.is_none_or(|status| plan.status == status));
        let now = calling.context.now();
        let lines: Vec<_> = wanted.map(|plan| plan_entry(plan, now)).collect();
        Ok(listed_as_text("PLANS", &lines))
    }
}
