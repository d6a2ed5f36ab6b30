//! `delete_plans`: drops plans of the agent.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use smartspace_domain::{Error, Result, ids::PlanId};

use super::{
    Calling, Outcome,
    keeping::{keep, keys_schema, listed},
    toolbox::Spec,
};

pub(super) const NAME: &str = "delete_plans";

pub(super) fn spec() -> Spec {
    Spec {
        name: NAME,
        description: "Drop the plans with these ids: they fire no more. The result names those that were there.",
        input: json!({
            "type": "object",
            "properties": {"planIds": keys_schema("Their ids.")},
            "required": ["planIds"],
            "additionalProperties": false
        }),
        read_only: false,
        changes_space: false,
        side_by_side: false,
        call: |calling, input| Box::pin(call(calling, input)),
    }
}

async fn call(calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
    let given = input.get("planIds").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let ids: Result<BTreeSet<PlanId>> = given.enumerate().map(|(index, id)| id_of(id, index)).collect();
    let ids = match ids {
        Ok(ids) => ids,
        Err(error) => return Ok(Outcome::error(error.to_string())),
    };
    let (store, agent) = (&calling.worker.pipeline.store, calling.worker.run.agent_id);
    keep(calling, deleted, |by| async move { store.delete_plans(agent, &ids, &by).await }).await
}

fn id_of(id: &str, index: usize) -> Result<PlanId> {
    id.parse().map_err(|error| Error::invalid(format!("/planIds/{index}"), format!("{error}")))
}

fn deleted(ids: &[PlanId]) -> Value {
    listed("deleted", ids.iter().map(|id| json!(id)))
}
