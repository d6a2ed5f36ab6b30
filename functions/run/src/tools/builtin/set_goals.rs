//! `set_goals`: creates and changes goals of the agent.

use async_trait::async_trait;
use serde_json::{Value, json};
use smartspace_domain::{
    Error, Result,
    goals::{Goal, GoalChange},
    ids::CallId,
    limits,
};
use smartspace_store::agents::goals::SetGoal;

use crate::tools::{
    builtin::shared::agent_state::{listed, store_change},
    calling::{Calling, Outcome},
    tool::{BuiltInTool, Spec, ToolGroup},
};

pub(crate) struct SetGoals;

#[async_trait]
impl BuiltInTool for SetGoals {
    fn spec(&self) -> Spec {
        Spec {
            name: "set_goals".into(),
            description: "Add goals, or change those whose id you give.".into(),
            input: json!({
                "type": "object",
                "properties": {"goals": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": limits::CHANGES_AT_ONCE,
                    "items": {
                        "type": "object",
                        "properties": {
                            "id": {
                                "type": "string",
                                "minLength": 1,
                                "maxLength": limits::MEMORY_KEY_CHARS
                            },
                            "description": {
                                "type": "string",
                                "minLength": 1,
                                "maxLength": limits::MEMORY_CHARS
                            },
                            "status": {
                                "type": "string",
                                "enum": ["active", "completed", "abandoned"]
                            },
                            "priority": {
                                "type": "integer",
                                "minimum": 1,
                                "maximum": 5,
                                "description": "1 is the most urgent."
                            },
                            "longTerm": {"type": "boolean"},
                            "dueAt": {
                                "type": ["string", "null"],
                                "description": "Like 2026-02-18T15:07:00Z."
                            }
                        },
                        "additionalProperties": false
                    }
                }},
                "required": ["goals"],
                "additionalProperties": false
            }),
            read_only: false,
            changes_space: false,
            group: Some(ToolGroup::Goals),
        }
    }

    async fn call(&self, calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
        let given = input.get("goals").and_then(Value::as_array).into_iter().flatten();
        let set: Result<Vec<_>> = given
            .enumerate()
            .map(|(index, goal)| goal_of(goal, index, calling.begun.call_id))
            .collect();
        let set = match set {
            Ok(set) => set,
            Err(error) => return Ok(Outcome::error(error.to_string())),
        };
        let context = calling.context;
        let agent = context.run.agent_id;
        store_change(calling, goals_json, |by| async move {
            context.store().goals().set(agent, &set, &by, context.now()).await
        })
        .await
    }
}

/// A goal of an input.
fn goal_of(goal: &Value, index: usize, call: CallId) -> Result<SetGoal> {
    let pointer = format!("/goals/{index}");
    let mut fields = goal.as_object().cloned().unwrap_or_default();
    let id = match fields.remove("id") {
        Some(Value::String(id)) => id,
        _ => Goal::id_of(call, index),
    };
    // For models and for JSON Schema, 3.0 is a whole number, too.
    if let Some(priority) = fields.get("priority").and_then(Value::as_f64) {
        fields.insert("priority".into(), json!(priority as u8));
    }
    match serde_json::from_value::<GoalChange>(Value::Object(fields)) {
        Ok(change) => Ok(SetGoal { id, change, pointer }),
        Err(error) => Err(Error::invalid(pointer, error.to_string())),
    }
}

fn goals_json(goals: &[Goal]) -> Value {
    listed("goals", goals.iter().map(|goal| json!(goal)))
}
