//! `get_memories`: reads the agent's memories.

use async_trait::async_trait;
use serde_json::{Value, json};
use smartspace_domain::{Result, memories::Memory};

use crate::{
    prompt::{agent_state::memory_line, format::Key},
    tools::{
        builtin::shared::agent_state::{keys_of, keys_schema, list_text},
        calling::{Calling, Outcome},
        output::MAX_OUTPUT_BYTES,
        tool::{BuiltInTool, Concurrency, Spec, ToolGroup},
    },
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
        Ok(Outcome::completed(Value::String(write_memories(&memories))))
    }
}

/// Writes memories as the prompt does. If not all fit, the keys of the others follow.
fn write_memories(memories: &[Memory]) -> String {
    let lines: Vec<_> = memories.iter().map(memory_line).collect();
    let (list, fit) = list_text(TITLE, &lines, MAX_OUTPUT_BYTES);
    if fit == lines.len() {
        return list;
    }
    let (mut list, fit) = list_text(TITLE, &lines, MAX_OUTPUT_BYTES - KEYS_BYTES);
    let mut left = KEYS_BYTES;
    for (index, memory) in memories[fit..].iter().enumerate() {
        let key = Key(&memory.key).to_string();
        let Some(fewer) = left.checked_sub(key.len() + 2) else { break };
        left = fewer;
        list.push_str(if index == 0 { ": " } else { ", " });
        list.push_str(&key);
    }
    list
}

const TITLE: &str = "MEMORIES";

/// Room in the output for the keys of memories that did not fit, in bytes.
const KEYS_BYTES: usize = 8 * 1024;

#[cfg(test)]
mod tests {
    use smartspace_domain::Time;

    use super::*;

    #[test]
    fn memories_that_do_not_fit_are_named_by_their_keys() {
        let memory = |number: usize| Memory {
            key: format!("k {number:02}"),
            value: "x".repeat(4_000),
            updated_at: Time::default(),
        };
        let memories: Vec<Memory> = (0..9).map(memory).collect();
        let text = write_memories(&memories);
        assert!(text.starts_with("MEMORIES:\n- [\"k 00\"] \"xxx"), "{text:.100}");
        assert!(text.len() <= MAX_OUTPUT_BYTES);
        assert_eq!(
            text.lines().last().unwrap(),
            "… 4 more: \"k 05\", \"k 06\", \"k 07\", \"k 08\""
        );
        assert_eq!(write_memories(&[]), "MEMORIES: none");
    }
}
