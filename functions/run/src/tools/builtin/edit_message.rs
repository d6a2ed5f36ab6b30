//! `edit_message`: gives a message of the agent another text, or deletes it. The change, the result
//! of the call and the check of the lease are one transaction.

use async_trait::async_trait;
use serde_json::{Value, json};
use smartspace_domain::{Error, Result, access::Caller, steps::CallStatus, tools::EDIT_MESSAGE};
use smartspace_store::{
    messages::changing::{MessageChange, NewState},
    runs::{endings::ByWorker, steps::CallRecord},
};

use crate::tools::{
    calling::{Calling, Outcome},
    input::text_of,
    tool::{BuiltInTool, Spec, ToolGroup},
};

pub(crate) struct EditMessage;

#[async_trait]
impl BuiltInTool for EditMessage {
    fn spec(&self) -> Spec {
        Spec {
            name: EDIT_MESSAGE.into(),
            description: "Replace your message #seq; an empty text deletes it.".into(),
            input: json!({
                "type": "object",
                "properties": {"seq": {"type": "integer"}, "text": {"type": "string"}},
                "required": ["seq", "text"],
                "additionalProperties": false
            }),
            read_only: false,
            changes_space: false,
            group: Some(ToolGroup::Messages),
        }
    }

    async fn call(&self, calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
        let Some(space) = calling.active_space else {
            return Ok(Outcome::no_active_space());
        };
        let Some(seq) = input["seq"].as_u64() else {
            return Ok(Outcome::error("/seq: expected the number of a message of yours"));
        };
        let context = calling.context;
        let agent = context.run.agent_id;
        let text = text_of(input, "text");
        let to = if text.is_empty() {
            if let Some(refused) = not_own(calling, seq).await? {
                return Ok(refused);
            }
            NewState::Deleted { caller: Caller::Entity(agent) }
        } else {
            NewState::Edited { editor: agent, text, rev: None }
        };
        let output = json!({"success": true});
        let result = context.with_expiry(CallRecord {
            status: CallStatus::Completed,
            output: output.clone(),
            ..calling.record()
        });
        let by = ByWorker { run: context.run.id, lease: &context.lease, result: &result };
        let change = MessageChange { space, seq, to, by: Some(by) };
        let changed = {
            let _writing = context.writing.lock().await;
            Box::pin(context.pipeline.change_message(&change)).await
        };
        match changed {
            Ok(changed) => Ok(Outcome { is_stored: changed.is_new, ..Outcome::completed(output) }),
            Err(Error::NotAMember) => Ok(Outcome::left_active_space()),
            Err(
                error @ (Error::NotFound(_)
                | Error::Conflict(_)
                | Error::Forbidden(_)
                | Error::Invalid(_)),
            ) => Ok(Outcome::error(error.to_string())),
            Err(error) => Err(error),
        }
    }
}

/// The refusal of the call if the message is not the agent's own: an agent that owns the space
/// deletes the messages of others over the API.
async fn not_own(calling: &Calling<'_>, seq: u64) -> Result<Option<Outcome>> {
    let Some(space) = calling.active_space else { return Ok(None) };
    let message = calling.context.store().messages().record(space, seq).await?;
    let is_other = message.is_some_and(|it| it.sender.id != calling.context.run.agent_id);
    Ok(is_other.then(|| Outcome::error("it is not your message")))
}
