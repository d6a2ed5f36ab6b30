//! `send_message`: posts to the active space. The message, the result of the call and the check of
//! the lease are one transaction.

use async_trait::async_trait;
use serde_json::{Value, json};
use smartspace_domain::{
    Result,
    ids::MessageId,
    messages::{MessageText, excerpt},
    steps::CallStatus,
};
use smartspace_store::{messages::append::Content, runs::steps::CallRecord};

use crate::prompt::run_activity::SEND_MESSAGE;
use crate::tools::{
    calling::{Calling, Outcome},
    output::text_of,
    tool::{BuiltInTool, Spec},
};

/// How much of a message is stored with its call, in characters. Other runs of the agent read it.
const EXCERPT_CHARS: usize = 200;

pub(crate) struct SendMessage;

#[async_trait]
impl BuiltInTool for SendMessage {
    fn spec(&self) -> Spec {
        Spec {
            name: SEND_MESSAGE.into(),
            description: "Post a message to the active space.".into(),
            input: json!({
                "type": "object",
                "properties": {
                    "text": {"type": "string", "minLength": 1}
                },
                "required": ["text"],
                "additionalProperties": false
            }),
            read_only: false,
            changes_space: false,
        }
    }

    async fn call(&self, calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
        let Some(space) = calling.active_space else {
            return Ok(Outcome::error("no space is active; call enter_space first"));
        };
        let (content, record) = match message(calling, input) {
            Ok(message) => message,
            Err(text) => return Ok(Outcome::error(text)),
        };
        let output = record.output.clone();
        let Some(posted) = calling.post(space, content, record).await? else {
            return Ok(Outcome::error("you are not a member of the active space any more"));
        };
        Ok(Outcome {
            is_stored: true,
            message: Some(MessageId::of_call(calling.begun.call_id)),
            active_space: Some(space),
            mark: posted.mark,
            ..Outcome::completed(output)
        })
    }
}

/// The message of a call, and the record of the call that has posted it. The error is for the
/// model.
pub(crate) fn message(
    calling: &Calling<'_>,
    input: &Value,
) -> Result<(Content, CallRecord), String> {
    let text = text_of(input, "text")
        .parse::<MessageText>()
        .map_err(|error| error.at("/text").to_string())?;
    let id = MessageId::of_call(calling.begun.call_id);
    let record = CallRecord {
        status: CallStatus::Completed,
        output: json!({"success": true, "messageId": id, "status": "delivered"}),
        sent_excerpt: Some(excerpt(text.as_str(), EXCERPT_CHARS).0.to_owned()),
        ..calling.record()
    };
    Ok((Content::Text(text), record))
}
