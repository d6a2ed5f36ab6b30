//! `delete_memories`: forgets what the agent keeps.

use serde_json::{Value, json};
use smartspace_domain::Result;

use super::{
    Calling, Outcome,
    keeping::{keep, keys_of, keys_schema, listed},
    toolbox::Spec,
};

pub(super) const NAME: &str = "delete_memories";

pub(super) fn spec() -> Spec {
    Spec {
        name: NAME,
        description: "Forget the memories with these keys. The result names those that were there.",
        input: json!({
            "type": "object",
            "properties": {"keys": keys_schema("Their keys.")},
            "required": ["keys"],
            "additionalProperties": false
        }),
        read_only: false,
        changes_space: false,
        side_by_side: false,
        call: |calling, input| Box::pin(call(calling, input)),
    }
}

async fn call(calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
    let keys = match keys_of(input, "keys") {
        Ok(keys) => keys,
        Err(error) => return Ok(Outcome::error(error.to_string())),
    };
    let (store, agent) = (&calling.worker.pipeline.store, calling.worker.run.agent_id);
    keep(calling, deleted, |by| async move { store.delete_memories(agent, &keys, &by).await }).await
}

pub(super) fn deleted(keys: &[String]) -> Value {
    listed("deleted", keys.iter().map(|key| json!(key)))
}
