//! `set_plans`: creates and changes plans of the agent.

use std::collections::BTreeSet;

use async_trait::async_trait;
use serde_json::{Value, json};
use smartspace_domain::{
    Error, Result,
    ids::{CallId, PlanId},
    limits,
    plans::{Plan, PlanChange, Schedule},
    steps::SystemMessage,
};
use smartspace_store::agents::plans::{SetPlan, too_deep};

use crate::tools::{
    builtin::shared::agent_state::{listed, store_change},
    calling::{Calling, Outcome},
    tool::{BuiltInTool, Spec, ToolGroup},
};

pub(crate) struct SetPlans;

#[async_trait]
impl BuiltInTool for SetPlans {
    fn spec(&self) -> Spec {
        Spec {
            name: "set_plans".into(),
            description: "Plan runs of yours. Give one of runAfter, scheduledAt and cron. An id \
                          changes a plan."
                .into(),
            input: json!({
                "type": "object",
                "properties": {"plans": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": limits::CHANGES_AT_ONCE,
                    "items": plan_schema()
                }},
                "required": ["plans"],
                "additionalProperties": false
            }),
            read_only: false,
            changes_space: false,
            group: Some(ToolGroup::Plans),
        }
    }

    async fn call(&self, calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
        let context = calling.context;
        let given = input.get("plans").and_then(Value::as_array).into_iter().flatten();
        let depth =
            ChainDepth { plan: context.run.chain_depth + 1, max: context.config.max_chain_depth };
        let set: Result<Vec<_>> = given
            .enumerate()
            .map(|(index, plan)| plan_of(plan, index, calling.begun.call_id, depth))
            .collect();
        let set = match set {
            Ok(set) => set,
            Err(error) => return Ok(Outcome::error(error.to_string())),
        };
        if depth.plan >= depth.max
            && set
                .iter()
                .any(|plan| plan.change.run_after.is_some() || plan.change.scheduled_at.is_some())
        {
            let text = too_deep(depth.plan, depth.max).to_string();
            announce_chain_end(calling, &text).await;
            return Ok(Outcome::error(text));
        }
        let agent = context.run.agent_id;
        store_change(calling, plans_json, |by| async move {
            context.pipeline.set_plans(agent, &set, &by).await
        })
        .await
    }
}

/// The schema of one plan.
fn plan_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "name": {"type": "string", "minLength": 1, "maxLength": 128},
            "instruction": {
                "type": "string",
                "minLength": 1,
                "maxLength": limits::MEMORY_CHARS,
                "description": "All that you must know then, such as the space."
            },
            "runAfter": {"type": "string", "description": "Like \"2 hours\"."},
            "scheduledAt": {"type": "string", "description": "Like 2026-02-18T15:07:00Z."},
            "cron": {"type": "string", "description": "Five fields."},
            "timezone": {"type": "string", "description": "Like Europe/Berlin; else UTC."}
        },
        "additionalProperties": false
    })
}

/// Notifies the space that a chain of plans ends here.
async fn announce_chain_end(calling: &Calling<'_>, text: &str) {
    let message =
        SystemMessage { watcher: "depth".to_owned(), text: format!("A plan was not set: {text}.") };
    let entered: BTreeSet<_> = calling.active_space.into_iter().collect();
    calling.context.announce_system_messages(calling.step, &[message], &entered).await;
}

/// The chain depth of a plan that this run sets, and the largest one that the agent may reach.
#[derive(Clone, Copy)]
struct ChainDepth {
    plan: u32,
    max: u32,
}

/// A plan of an input.
fn plan_of(plan: &Value, index: usize, call: CallId, depth: ChainDepth) -> Result<SetPlan> {
    let pointer = format!("/plans/{index}");
    let mut fields = plan.as_object().cloned().unwrap_or_default();
    let (id, known): (PlanId, _) = match fields.shift_remove("id") {
        Some(Value::String(id)) => (
            id.parse()
                .map_err(|error| Error::invalid(format!("{pointer}/id"), format!("{error}")))?,
            true,
        ),
        _ => (PlanId::of_call(call, index), false),
    };
    match serde_json::from_value::<PlanChange>(Value::Object(fields)) {
        Ok(change) => Ok(SetPlan {
            id,
            known,
            change,
            chain_depth: depth.plan,
            max_chain_depth: depth.max,
            pointer,
        }),
        Err(error) => Err(Error::invalid(pointer, error.to_string())),
    }
}

fn plans_json(plans: &[Plan]) -> Value {
    let shown = |plan: &Plan| match &plan.schedule {
        Schedule::Cron { timezone, .. } => {
            json!({"id": plan.id, "nextRunAt": plan.next_run_at, "timezone": timezone})
        }
        Schedule::Once { .. } => json!({"id": plan.id, "nextRunAt": plan.next_run_at}),
    };
    listed("plans", plans.iter().map(shown))
}
