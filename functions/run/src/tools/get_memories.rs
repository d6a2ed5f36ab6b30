//! `get_memories`: reads what the agent keeps.

use serde_json::{Value, json};
use smartspace_domain::Result;

use super::{
    Calling, Outcome, Spec,
    keeping::{keys_of, keys_schema, listed},
};

pub(super) const NAME: &str = "get_memories";

pub(super) fn spec() -> Spec {
    Spec {
        name: NAME,
        description: "Read your memories: those with the given keys, or all of them, by key. Where `more` says that some did not fit, ask for them by key.",
        input: json!({
            "type": "object",
            "properties": {"keys": keys_schema("Only these; all unless given.")},
            "additionalProperties": false
        }),
        read_only: true,
        changes_space: false,
        side_by_side: true,
    }
}

pub(super) async fn call(calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
    let keys = match keys_of(input, "keys") {
        Ok(keys) => keys,
        Err(error) => return Ok(Outcome::error(error.to_string())),
    };
    let (store, agent) = (&calling.worker.pipeline.store, calling.worker.run.agent_id);
    let memories = if keys.is_empty() { store.all_memories(agent).await? } else { store.memories_at(agent, &keys).await? };
    Ok(Outcome::completed(listed("memories", memories.iter().map(|memory| json!(memory)))))
}
