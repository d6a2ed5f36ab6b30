//! `send_message`: speaks in the active space. The message, the call's result and the lease's check are one transaction.

use serde_json::{Value, json};
use smartspace_domain::{Error, Result, ids::MessageId, limits::check_text, messages::excerpt, steps::CallStatus};
use smartspace_store::{
    append::{By, Content, NewMessage},
    steps::CallRecord,
};

use super::{Calling, Outcome, text_of, toolbox::Spec};

pub(crate) const NAME: &str = "send_message";

/// What of a message is kept with its call, in characters: other runs of the agent are told of it.
const SAID_CHARS: usize = 200;

pub(super) fn spec() -> Spec {
    Spec {
        name: NAME,
        description: "Post a message to the active space. Everyone there reads it; it streams to them while you write it.",
        input: json!({
            "type": "object",
            "properties": {"text": {"type": "string", "minLength": 1, "description": "What to say."}},
            "required": ["text"],
            "additionalProperties": false
        }),
        read_only: false,
        changes_space: false,
        side_by_side: false,
        call: |calling, input| Box::pin(call(calling, input)),
    }
}

async fn call(calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
    let text = text_of(input, "text");
    let Some(space) = calling.active_space else {
        return Ok(Outcome::error("no space is active; call enter_space first"));
    };
    if let Err(error) = check_text(text) {
        return Ok(Outcome::error(error.to_string()));
    }
    let (worker, begun) = (calling.worker, calling.begun);
    let id = MessageId::of_call(begun.call_id);
    let output = json!({"success": true, "messageId": id, "status": "delivered"});
    let record = CallRecord {
        status: CallStatus::Completed,
        output: output.clone(),
        said: Some(excerpt(text, SAID_CHARS).0.to_owned()),
        ..calling.record()
    };
    let by = By::Run(Box::new(calling.by_run(record)));
    let new = NewMessage { id, space, sender: worker.run.agent_id, content: Content::Text(text.to_owned()), by };
    let posted = {
        let _writing = worker.writing.lock().await;
        worker.pipeline.post(&new).await
    };
    match posted {
        Ok(appended) => {
            // What one says oneself right behind what one has read is read as well.
            let seq = appended.message.seq;
            let mark = calling.marks.get(&space).is_some_and(|read| read + 1 == seq).then_some((space, seq));
            Ok(Outcome { kept: true, message: Some(id), active_space: Some(space), mark, ..Outcome::completed(output) })
        }
        // It left the space, or the space is gone: the model is told, and the run goes on.
        Err(Error::Invalid(_) | Error::NotFound(_)) => Ok(Outcome::error("you are not a member of the active space any more")),
        Err(error) => Err(error),
    }
}
