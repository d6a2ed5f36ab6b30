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
    input::text_of,
    naming::named,
    tool::{BuiltInTool, Spec, ToolGroup},
};

pub(crate) struct Delegate;

#[async_trait]
impl BuiltInTool for Delegate {
    fn spec(&self) -> Spec {
        Spec {
            name: "delegate".into(),
            description: "Let another agent of this space answer, and end this run.".into(),
            input: json!({
                "type": "object",
                "properties": {
                    "agent": {"type": "string", "description": "Its name or id."},
                    "entityId": {"type": "string", "deprecated": true},
                    "note": {
                        "type": "string",
                        "maxLength": NOTE_CHARS,
                        "description": "For that agent."
                    }
                },
                "anyOf": [{"required": ["agent"]}, {"required": ["entityId"]}],
                "additionalProperties": false
            }),
            read_only: false,
            changes_space: false,
            group: Some(ToolGroup::Delegate),
        }
    }

    async fn call(&self, calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
        let context = calling.context;
        let to = match agent(calling, input).await? {
            Ok(to) => to,
            Err(text) => return Ok(Outcome::error(text)),
        };
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
            guest: false,
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
            Ok(placement) => {
                context.pipeline.follow_placement(placement).await;
                Ok(Outcome { is_stored: true, ends, ..Outcome::completed(output) })
            }
            Err(error @ (Error::Forbidden(_) | Error::Conflict(_) | Error::NotFound(_))) => {
                Ok(Outcome::error(error.to_string()))
            }
            Err(error) => Err(error),
        }
    }
}

/// The agent that an input names, or an error text for the model.
async fn agent(calling: &Calling<'_>, input: &Value) -> Result<Result<EntityId, String>> {
    let field = if input.get("agent").is_some() { "agent" } else { "entityId" };
    let given = text_of(input, field);
    if let Ok(id) = given.parse() {
        return Ok(Ok(id));
    }
    let Some(space) = calling.context.run.space_id() else {
        return Ok(Err("no message of a space woke you: there is nothing to delegate".into()));
    };
    let roster = calling.context.store().members().roster(space).await?;
    let agents = roster
        .members
        .iter()
        .filter(|member| member.kind == EntityType::Agent)
        .map(|member| (member.entity_id, member.name.as_str()));
    Ok(named(given, "agent of this space", agents).map_err(|error| format!("{field}: {error}")))
}
