//! `get_memories`: reads what the agent keeps.

use serde_json::{Value, json};
use smartspace_domain::Result;

use super::{
    Calling, OUTPUT_BYTES, Outcome,
    keeping::{keys_of, keys_schema, listed, listed_in},
    toolbox::Spec,
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
        call: |calling, input| Box::pin(call(calling, input)),
    }
}

/// Keys of memories that did not fit, in bytes.
const KEYS_BYTES: usize = 8 * 1024;

async fn call(calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
    let keys = match keys_of(input, "keys") {
        Ok(keys) => keys,
        Err(error) => return Ok(Outcome::error(error.to_string())),
    };
    let (store, agent) = (&calling.worker.pipeline.store, calling.worker.run.agent_id);
    let memories = if keys.is_empty() { store.all_memories(agent).await? } else { store.memories_at(agent, &keys).await? };
    let items = || memories.iter().map(|memory| json!(memory));
    let mut list = listed("memories", items());
    if list["more"].is_u64() {
        list = listed_in(OUTPUT_BYTES - KEYS_BYTES, "memories", items());
        let shown = list["memories"].as_array().map_or(0, Vec::len);
        let keys = memories[shown..].iter().map(|memory| json!(memory.key));
        list["moreKeys"] = listed_in(KEYS_BYTES, "keys", keys)["keys"].take();
    }
    Ok(Outcome::completed(list))
}
