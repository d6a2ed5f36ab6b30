//! `delete_memories`: deletes memories of the agent.

use async_trait::async_trait;
use serde_json::{Value, json};
use smartspace_domain::Result;

use crate::tools::{
    builtin::shared::agent_state::{deleted, keys_of, keys_schema, store_change},
    calling::{Calling, Outcome},
    tool::{BuiltInTool, Spec, ToolGroup},
};

pub(crate) struct DeleteMemories;

#[async_trait]
impl BuiltInTool for DeleteMemories {
    fn spec(&self) -> Spec {
        Spec {
            name: "delete_memories".into(),
            description: "Delete memories.".into(),
            input: json!({
                "type": "object",
                "properties": {"keys": keys_schema()},
                "required": ["keys"],
                "additionalProperties": false
            }),
            read_only: false,
            changes_space: false,
            group: Some(ToolGroup::Memories),
        }
    }

    async fn call(&self, calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
        let keys = match keys_of(input, "keys") {
            Ok(keys) => keys,
            Err(error) => return Ok(Outcome::error(error.to_string())),
        };
        let store = calling.context.store();
        let agent = calling.context.run.agent_id;
        store_change(calling, deleted, |by| async move {
            store.memories().delete(agent, &keys, &by).await
        })
        .await
    }
}
