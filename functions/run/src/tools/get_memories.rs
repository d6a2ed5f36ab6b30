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
        description: "Read your memories: those with the given keys, or all of them, by key. Where `more` says that some did not fit, ask for those in `moreKeys` by key.",
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

/// Keys of memories that did not fit, in bytes.
const KEYS_BYTES: usize = 8 * 1024;

pub(super) async fn call(calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
    let keys = match keys_of(input, "keys") {
        Ok(keys) => keys,
        Err(error) => return Ok(Outcome::error(error.to_string())),
    };
    let (store, agent) = (&calling.worker.pipeline.store, calling.worker.run.agent_id);
    let memories = if keys.is_empty() { store.all_memories(agent).await? } else { store.memories_at(agent, &keys).await? };
    let mut list = listed("memories", memories.iter().map(|memory| json!(memory)));
    if let Some(more) = list["more"].as_u64() {
        let mut room = KEYS_BYTES;
        let left = memories[memories.len() - more as usize..].iter().map(|memory| memory.key.as_str());
        let fit = left.take_while(|key| {
            let left = room.checked_sub(key.len() + 3);
            room = left.unwrap_or(0);
            left.is_some()
        });
        list["moreKeys"] = fit.collect();
    }
    Ok(Outcome::completed(list))
}
