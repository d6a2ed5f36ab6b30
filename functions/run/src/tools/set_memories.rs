//! `set_memories`: keeps what the agent wants to know in later runs.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use smartspace_domain::{Result, limits, memories::Memory};

use super::{
    Calling, Outcome,
    keeping::{keep, listed, memory_of},
    toolbox::Spec,
};

pub(super) const NAME: &str = "set_memories";

pub(super) fn spec() -> Spec {
    Spec {
        name: NAME,
        description: "Keep what you want to know in later runs, each under a key of your choice. A key that is there already gets the new value.",
        input: json!({
            "type": "object",
            "properties": {"memories": {
                "type": "array",
                "minItems": 1,
                "maxItems": limits::KEPT_AT_ONCE,
                "items": {
                    "type": "object",
                    "properties": {
                        "key": {"type": "string", "minLength": 1, "maxLength": limits::MEMORY_KEY_CHARS, "description": "A short name."},
                        "value": {"type": "string", "minLength": 1, "maxLength": limits::MEMORY_CHARS, "description": "What to remember."}
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
        side_by_side: false,
        call: |calling, input| Box::pin(call(calling, input)),
    }
}

async fn call(calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
    let given = input.get("memories").and_then(Value::as_array).into_iter().flatten();
    let set: Result<BTreeMap<_, _>> = given.enumerate().map(|(index, memory)| memory_of(memory, index)).collect();
    let set = match set {
        Ok(set) => set,
        Err(error) => return Ok(Outcome::error(error.to_string())),
    };
    let (pipeline, agent) = (&calling.worker.pipeline, calling.worker.run.agent_id);
    keep(calling, saved, |by| async move { pipeline.store.set_memories(agent, &set, &by, pipeline.now()).await }).await
}

fn saved(memories: &[Memory]) -> Value {
    listed("saved", memories.iter().map(|memory| json!(memory.key)))
}
