//! `send_message`: posts to the active space. The message, the result of the call and the check of
//! the lease are one transaction.

use async_trait::async_trait;
use serde_json::{Value, json};
use smartspace_domain::{
    Error, Result,
    ids::{AttachmentId, SpaceId},
    json,
    messages::excerpt,
    steps::CallStatus,
    tools::SEND_MESSAGE,
};
use smartspace_store::{messages::append::Content, runs::steps::CallRecord};

use crate::tools::{
    calling::{Calling, Outcome, PostContent},
    input::text_of,
    tool::{BuiltInTool, Spec},
};

/// How much of a message is stored with its call, in characters. Other runs of the agent read it.
const EXCERPT_CHARS: usize = 200;

pub(crate) struct SendMessage {
    /// Whether the model can say that the run goes on after the message.
    pub(crate) has_more: bool,
}

#[async_trait]
impl BuiltInTool for SendMessage {
    fn spec(&self) -> Spec {
        let mut input = json!({
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "attachments": {
                    "type": "array",
                    "items": {"type": "string"},
                    "maxItems": 10,
                    "description": "Ids of files of that space."
                },
                "replyTo": {"type": "integer"}
            },
            "required": ["text"],
            "additionalProperties": false
        });
        if self.has_more {
            input["properties"]["more"] = json!({
                "type": "boolean",
                "description": "You go on working after this message."
            });
        }
        Spec {
            name: SEND_MESSAGE.into(),
            description: "Post a message to the active space.".into(),
            input,
            read_only: false,
            changes_space: false,
            group: None,
        }
    }

    async fn call(&self, calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
        let Some(space) = calling.active_space else {
            return Ok(Outcome::no_active_space());
        };
        let (post, record) = match message(calling, space, input).await? {
            Ok(message) => message,
            Err(text) => return Ok(Outcome::error(text)),
        };
        let posted = match calling.post(space, post, record).await {
            Ok(Some(posted)) => posted,
            Ok(None) => {
                return Ok(Outcome::left_active_space());
            }
            Err(error @ Error::Invalid(_)) => return Ok(Outcome::error(error.to_string())),
            Err(error) => return Err(error),
        };
        Ok(Outcome {
            is_stored: true,
            message: Some(calling.message_id()),
            active_space: Some(space),
            read_up_to: posted.read_up_to,
            changed: posted.changed,
            ..Outcome::completed(posted.appended.call_output.unwrap_or_default())
        })
    }
}

/// Whether the run goes on after the message of a call with this input.
pub(crate) fn goes_on(input: &str) -> bool {
    json::parse_written(input).is_ok_and(|input| input["more"] == true)
}

/// The message of a call to a space, and the record of the call that has posted it. The inner error
/// is for the model.
pub(crate) async fn message(
    calling: &Calling<'_>,
    space: SpaceId,
    input: &Value,
) -> Result<Result<(PostContent, CallRecord), String>> {
    let text = text_of(input, "text");
    let mut ids = Vec::new();
    for (index, file) in input["attachments"].as_array().into_iter().flatten().enumerate() {
        match file.as_str().unwrap_or_default().parse::<AttachmentId>() {
            Ok(id) => ids.push(id),
            Err(error) => return Ok(Err(format!("/attachments/{index}: {error}"))),
        }
    }
    let content = match Content::of(text.to_owned(), !ids.is_empty()) {
        Ok(content) => content,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let files = match calling.context.pipeline.files_named(space, &ids).await {
        Ok(files) => files,
        Err(error @ Error::Invalid(_)) => return Ok(Err(error.to_string())),
        Err(error) => return Err(error),
    };
    let asked = match asked_parent(input) {
        Ok(asked) => asked,
        Err(text) => return Ok(Err(text)),
    };
    let reply_to = calling.context.run.triggered_by.parent_in(space, asked);
    let id = calling.message_id();
    let record = CallRecord {
        status: CallStatus::Completed,
        output: json!({"success": true, "messageId": id, "status": "delivered"}),
        sent_excerpt: Some(excerpt(text, EXCERPT_CHARS).0.to_owned()),
        ..calling.record()
    };
    Ok(Ok((PostContent { content, files, reply_to }, record)))
}

/// What the model says about the message to which its message replies.
fn asked_parent(input: &Value) -> Result<Option<u64>, String> {
    match &input["replyTo"] {
        Value::Null => Ok(None),
        said => {
            let seq = said.as_u64().map(Some);
            seq.ok_or_else(|| "/replyTo: expected the number of a message, or 0".to_owned())
        }
    }
}
