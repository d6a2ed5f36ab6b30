//! `get_goals`: lists the agent's goals, including completed and abandoned ones.

use async_trait::async_trait;
use serde_json::{Value, json};
use smartspace_domain::{Result, goals::GoalStatus};

use crate::{
    prompt::agent_state::goal_line,
    tools::{
        builtin::shared::agent_state::listed_as_text,
        calling::{Calling, Outcome},
        tool::{BuiltInTool, Concurrency, Spec, ToolGroup},
    },
};

pub(crate) struct GetGoals;

#[async_trait]
impl BuiltInTool for GetGoals {
    fn spec(&self) -> Spec {
        Spec {
            name: "get_goals".into(),
            description: "List your goals.".into(),
            input: json!({
                "type": "object",
                "properties": {
                    "status": {"type": "string", "enum": ["active", "completed", "abandoned"]}
                },
                "additionalProperties": false
            }),
            read_only: true,
            changes_space: false,
            group: Some(ToolGroup::Goals),
        }
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Reading
    }

    async fn call(&self, calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
        let status: Option<GoalStatus> =
            input.get("status").and_then(|status| serde_json::from_value(status.clone()).ok());
        let goals = calling.context.store().goals().all(calling.context.run.agent_id).await?;
        let wanted = goals.iter().filter(|goal| status.is_none_or(|status| goal.status == status));
        Ok(listed_as_text("GOALS", &wanted.map(goal_line).collect::<Vec<_>>()))
    }
}
