//! `set_memories`: stores what the agent needs in later runs.

use async_trait::async_trait;
use std::collections::BTreeMap;

use serde_json::{Value, json};
use smartspace_domain::{Result, limits, memories::Memory};

use crate::tools::{
    builtin::shared::agent_state::{listed, memory_of, store_change},
    calling::{Calling, Outcome},
    tool::{BuiltInTool, Spec, ToolGroup},
};

pub(crate) struct SetMemories;

#[async_trait]
impl BuiltInTool for SetMemories {
    fn spec(&self) -> Spec {
        Spec {
            name: "set_memories".into(),
            description: "Save what later runs need, each under a key.".into(),
            input: json!({
                "type": "object",
                "properties": {"memories": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": limits::CHANGES_AT_ONCE,
                    "items": {
                        "type": "object",
                        "properties": {
                            "key": {
                                "type": "string",
                                "minLength": 1,
                                "maxLength": limits::MEMORY_KEY_CHARS
                            },
                            "value": {
                                "type": "string",
                                "minLength": 1,
                                "maxLength": limits::MEMORY_CHARS
                            }
                        },
                        "required": ["key", "value"],
                        "additionalProperties": false
                    }
                }},
                "required": ["memories"],
                "additionalProperties": false
            }),
            read_only: false,
            changes_space: false,
            group: Some(ToolGroup::Memories),
        }
    }

    async fn call(&self, calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
        let given = input.get("memories").and_then(Value::as_array).into_iter().flatten();
        let set: Result<BTreeMap<_, _>> =
            given.enumerate().map(|(index, memory)| memory_of(memory, index)).collect();
        let set = match set {
            Ok(set) => set,
            Err(error) => return Ok(Outcome::error(error.to_string())),
        };
        let context = calling.context;
        let agent = context.run.agent_id;
        store_change(calling, saved, |by| async move {
            context.store().memories().set(agent, &set, &by, context.now()).await
        })
        .await
    }
}

fn saved(memories: &[Memory]) -> Value {
    listed("saved", memories.iter().map(|memory| json!(memory.key)))
}
