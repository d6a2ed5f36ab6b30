//! `delete_plans`: deletes plans of the agent.

use async_trait::async_trait;
use std::collections::BTreeSet;

use serde_json::{Value, json};
use smartspace_domain::{Error, Result, ids::PlanId};

use crate::tools::{
    builtin::shared::agent_state::{keys_schema, listed, store_change},
    calling::{Calling, Outcome},
    tool::{BuiltInTool, Spec, ToolGroup},
};

pub(crate) struct DeletePlans;

#[async_trait]
impl BuiltInTool for DeletePlans {
    fn spec(&self) -> Spec {
        Spec {
            name: "delete_plans".into(),
            description: "Delete plans.".into(),
            input: json!({
                "type": "object",
                "properties": {"planIds": keys_schema()},
                "required": ["planIds"],
                "additionalProperties": false
            }),
            read_only: false,
            changes_space: false,
            group: Some(ToolGroup::Plans),
        }
    }

    async fn call(&self, calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
        let given = input
            .get("planIds")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        let ids: Result<BTreeSet<PlanId>> =
            given.enumerate().map(|(index, id)| id_of(id, index)).collect();
        let ids = match ids {
            Ok(ids) => ids,
            Err(error) => return Ok(Outcome::error(error.to_string())),
        };
        let store = calling.context.store();
        let agent = calling.context.run.agent_id;
        store_change(
            calling,
            deleted,
            |by| async move { store.plans().delete(agent, &ids, &by).await },
        )
        .await
    }
}

fn id_of(id: &str, index: usize) -> Result<PlanId> {
    id.parse().map_err(|error| Error::invalid(format!("/planIds/{index}"), format!("{error}")))
}

fn deleted(ids: &[PlanId]) -> Value {
    listed("deleted", ids.iter().map(|id| json!(id)))
}
