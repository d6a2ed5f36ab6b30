//! `delete_goals`: drops goals of the agent.

use serde_json::{Value, json};
use smartspace_domain::Result;

use super::{
    Calling, Outcome,
    delete_memories::deleted,
    keeping::{keep, keys_of, keys_schema},
    toolbox::Spec,
};

pub(super) const NAME: &str = "delete_goals";

pub(super) fn spec() -> Spec {
    Spec {
        name: NAME,
        description: "Drop the goals with these ids for good; one that was reached or given up can also be set to completed or abandoned. The result names those that were there.",
        input: json!({
            "type": "object",
            "properties": {"goalIds": keys_schema("Their ids.")},
            "required": ["goalIds"],
            "additionalProperties": false
        }),
        read_only: false,
        changes_space: false,
        side_by_side: false,
        call: |calling, input| Box::pin(call(calling, input)),
    }
}

async fn call(calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
    let ids = match keys_of(input, "goalIds") {
        Ok(ids) => ids,
        Err(error) => return Ok(Outcome::error(error.to_string())),
    };
    let (store, agent) = (&calling.worker.pipeline.store, calling.worker.run.agent_id);
    keep(calling, deleted, |by| async move { store.delete_goals(agent, &ids, &by).await }).await
}
