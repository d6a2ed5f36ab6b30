//! `delegate`: the admin agent of a space lets another agent answer its trigger, and its run ends
//! without a message.

use async_trait::async_trait;
use serde_json::{Value, json};
use smartspace_domain::{
    Error, Result, entities::EntityType, ids::EntityId, limits::NOTE_CHARS, messages::Sender,
    runs::EndReason, steps::CallStatus, triggers::Delegation,
};
use smartspace_store::runs::{delegations::HandOn, steps::CallRecord};

use crate::tools::{
    calling::{Calling, Outcome},
    output::text_of,
    tool::{BuiltInTool, Spec},
};

pub(crate) const NAME: &str = "delegate";

pub(crate) struct Delegate;

#[async_trait]
impl BuiltInTool for Delegate {
    fn spec(&self) -> Spec {
        Spec {
            name: NAME.into(),
            description:
                "Let another agent of the space answer what woke you, and end this run. Only for \
                 the admin agent of a space."
                    .into(),
            input: json!({
                "type": "object",
                "properties": {
                    "entityId": {"type": "string", "description": "The agent."},
                    "note": {
                        "type": "string",
                        "maxLength": NOTE_CHARS,
                        "description": "What that agent should know besides the message."
                    }
                },
                "required": ["entityId"],
                "additionalProperties": false
            }),
            read_only: false,
            changes_space: false,
        }
    }

    async fn call(&self, calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
        let to: EntityId = match text_of(input, "entityId").parse() {
            Ok(to) => to,
            Err(error) => return Ok(Outcome::error(format!("entityId: {error}"))),
        };
        let context = calling.context;
        let output = json!({"success": true, "delegatedTo": to});
        let ends = Some(EndReason::Delegated);
        let call = context.with_expiry(CallRecord {
            status: CallStatus::Completed,
            output: output.clone(),
            ends,
            ..calling.record()
        });
        let note = Some(text_of(input, "note").to_owned()).filter(|note| !note.is_empty());
        let by = Sender {
            id: context.run.agent_id,
            name: context.name.clone(),
            kind: EntityType::Agent,
        };
        let hand_on = HandOn {
            from: &context.run,
            lease: &context.lease,
            to,
            delegation: Delegation { by, note },
            call,
        };
        let handed_on = {
            let _writing = context.writing.lock().await;
            context.store().runs().hand_on(&hand_on, context.now()).await
        };
        match handed_on {
            Ok(run) => {
                context.pipeline.queue_runs(vec![run.job()]).await;
                Ok(Outcome { is_stored: true, ends, ..Outcome::completed(output) })
            }
            Err(error @ (Error::Forbidden(_) | Error::Conflict(_) | Error::NotFound(_))) => {
                Ok(Outcome::error(error.to_string()))
            }
            Err(error) => Err(error),
        }
    }
}
