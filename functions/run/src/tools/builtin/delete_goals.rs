//! `delete_goals`: deletes goals of the agent.

use async_trait::async_trait;
use serde_json::{Value, json};
use smartspace_domain::Result;

use crate::tools::{
    builtin::shared::agent_state::{deleted, keys_of, keys_schema, store_change},
    calling::{Calling, Outcome},
    tool::{BuiltInTool, Spec, ToolGroup},
};

pub(crate) struct DeleteGoals;

#[async_trait]
impl BuiltInTool for DeleteGoals {
    fn spec(&self) -> Spec {
        Spec {
            name: "delete_goals".into(),
            description: "Delete goals.".into(),
            input: json!({
                "type": "object",
                "properties": {"goalIds": keys_schema()},
                "required": ["goalIds"],
                "additionalProperties": false
            }),
            read_only: false,
            changes_space: false,
            group: Some(ToolGroup::Goals),
        }
    }

    async fn call(&self, calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
        let ids = match keys_of(input, "goalIds") {
            Ok(ids) => ids,
            Err(error) => return Ok(Outcome::error(error.to_string())),
        };
        let store = calling.context.store();
        let agent = calling.context.run.agent_id;
        store_change(
            calling,
            deleted,
            |by| async move { store.goals().delete(agent, &ids, &by).await },
        )
        .await
    }
}
