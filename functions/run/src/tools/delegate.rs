//! `delegate`: the admin agent of a space hands what woke it to another agent, and ends without a word.

use serde_json::{Value, json};
use smartspace_domain::{
    Error, Result, entities::EntityType, ids::EntityId, limits::NOTE_CHARS, messages::Sender, runs::EndReason, steps::CallStatus,
    triggers::Delegation,
};
use smartspace_store::{delegations::HandOn, steps::CallRecord};

use super::{Calling, Outcome, text_of, toolbox::Spec};

pub(super) const NAME: &str = "delegate";

pub(super) fn spec() -> Spec {
    Spec {
        name: NAME,
        description: "Let another agent of the space answer what woke you, and end this run. Only for the admin agent of a space.",
        input: json!({
            "type": "object",
            "properties": {
                "entityId": {"type": "string", "description": "The agent."},
                "note": {"type": "string", "maxLength": NOTE_CHARS, "description": "What that agent should know besides the message."}
            },
            "required": ["entityId"],
            "additionalProperties": false
        }),
        read_only: false,
        changes_space: false,
        side_by_side: false,
        call: |calling, input| Box::pin(call(calling, input)),
    }
}

async fn call(calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
    let to: EntityId = match text_of(input, "entityId").parse() {
        Ok(to) => to,
        Err(error) => return Ok(Outcome::error(format!("entityId: {error}"))),
    };
    let worker = calling.worker;
    let output = json!({"success": true, "delegatedTo": to});
    let ends = Some(EndReason::Delegated);
    let call = worker.with_expiry(CallRecord { status: CallStatus::Completed, output: output.clone(), ends, ..calling.record() });
    let note = Some(text_of(input, "note").to_owned()).filter(|note| !note.is_empty());
    let by = Sender { id: worker.run.agent_id, name: worker.name.clone(), kind: EntityType::Agent };
    let hand_on = HandOn { from: &worker.run, lease: &worker.lease, to, delegation: Delegation { by, note }, call };
    let handed_on = {
        let _writing = worker.writing.lock().await;
        worker.pipeline.store.hand_on(&hand_on, worker.pipeline.now()).await
    };
    match handed_on {
        Ok(run) => {
            worker.pipeline.queue_runs(vec![run.job()]).await;
            Ok(Outcome { kept: true, ends, ..Outcome::completed(output) })
        }
        Err(error @ (Error::Forbidden(_) | Error::Conflict(_) | Error::NotFound(_))) => Ok(Outcome::error(error.to_string())),
        Err(error) => Err(error),
    }
}
