//! `react`: reacts to a message of the active space with an emoji. It wakes nobody, and a run that
//! has only reacted has answered.

use async_trait::async_trait;
use serde_json::{Value, json};
use smartspace_domain::{
    Error, Result,
    messages::Emoji,
    steps::CallStatus,
    tools::{REACT, SEND_MESSAGE},
};
use smartspace_pipeline::reactions::ReactionChange;
use smartspace_store::runs::steps::CallRecord;

use crate::tools::{
    calling::{Calling, Outcome},
    input::text_of,
    tool::{BuiltInTool, Spec, ToolGroup},
};

pub(crate) struct React;

/// Whether a call has posted its message, or has reacted to one: the agent has answered.
pub(crate) fn has_answered(call: &CallRecord) -> bool {
    [SEND_MESSAGE, REACT].contains(&call.name.as_str()) && call.status == CallStatus::Completed
}

#[async_trait]
impl BuiltInTool for React {
    fn spec(&self) -> Spec {
        Spec {
            name: REACT.into(),
            description: "React to message #seq with an emoji; wakes nobody.".into(),
            input: json!({
                "type": "object",
                "properties": {"seq": {"type": "integer"}, "emoji": {"type": "string"}},
                "required": ["seq", "emoji"],
                "additionalProperties": false
            }),
            read_only: false,
            changes_space: false,
            group: Some(ToolGroup::Messages),
        }
    }

    /// A worker that takes over the run may make the call again: each reaction counts once.
    async fn call(&self, calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
        let Some(space) = calling.active_space else {
            return Ok(Outcome::no_active_space());
        };
        let Some(seq) = input["seq"].as_u64() else {
            return Ok(Outcome::error("/seq: expected the number of a message"));
        };
        let emoji = match Emoji::parse(text_of(input, "emoji")) {
            Ok(emoji) => emoji,
            Err(error) => return Ok(Outcome::error(error.to_string())),
        };
        let context = calling.context;
        let change = ReactionChange { seq, emoji, on: true };
        match context.pipeline.react(space, context.run.agent_id, change).await {
            Ok(_) => Ok(Outcome::completed(json!({"success": true}))),
            Err(Error::NotAMember) => Ok(Outcome::left_active_space()),
            Err(error @ (Error::NotFound(_) | Error::Conflict(_))) => {
                Ok(Outcome::error(error.to_string()))
            }
            Err(error) => Err(error),
        }
    }
}
