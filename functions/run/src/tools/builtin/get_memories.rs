//! `get_memories`: reads the agent's memories.

use async_trait::async_trait;
use serde_json::{Value, json};
use smartspace_domain::Result;

use crate::tools::{
    builtin::shared::agent_state::{keys_of, keys_schema, listed, listed_in},
    calling::{Calling, Outcome},
    output::MAX_OUTPUT_BYTES,
    tool::{BuiltInTool, Concurrency, Spec, ToolGroup},
};

pub(crate) struct GetMemories;

#[async_trait]
impl BuiltInTool for GetMemories {
    fn spec(&self) -> Spec {
        Spec {
            name: "get_memories".into(),
            description: "Read your memories.".into(),
            input: json!({
                "type": "object",
                "properties": {"keys": keys_schema()},
                "additionalProperties": false
            }),
            read_only: true,
            changes_space: false,
            group: Some(ToolGroup::Memories),
        }
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Reading
    }

    async fn call(&self, calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
        let keys = match keys_of(input, "keys") {
            Ok(keys) => keys,
            Err(error) => return Ok(Outcome::error(error.to_string())),
        };
        let store = calling.context.store();
        let agent = calling.context.run.agent_id;
        let memories = if keys.is_empty() {
            store.memories().all(agent).await?
        } else {
            store.memories().at(agent, &keys).await?
        };
        let items = || memories.iter().map(|memory| json!(memory));
        let mut list = listed("memories", items());
        if list["more"].is_u64() {
            list = listed_in(MAX_OUTPUT_BYTES - KEYS_BYTES, "memories", items());
            let shown = list["memories"].as_array().map_or(0, Vec::len);
            let keys = memories[shown..].iter().map(|memory| json!(memory.key));
            list["moreKeys"] = listed_in(KEYS_BYTES, "keys", keys)["keys"].take();
        }
        Ok(Outcome::completed(list))
    }
}

/// Room in the output for the keys of memories that did not fit, in bytes.
const KEYS_BYTES: usize = 8 * 1024;
