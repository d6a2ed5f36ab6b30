//! The body of an AG-UI request: the fields of `RunAgentInput` that are used here.

use serde::Deserialize;
use serde_json::Value;
use smartspace_client::Refusal;
use smartspace_domain::ids::CallId;

use crate::{
    conversation::{content_of, new_messages},
    turn::{FormAnswer, Post, key_of},
};

/// The input of a run of the protocol.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunInput {
    pub(super) thread_id: String,
    pub(super) run_id: String,
    pub(super) protocol_version: Option<String>,
    #[serde(default)]
    messages: Vec<InputMessage>,
    #[serde(default)]
    resume: Vec<Resume>,
}

#[derive(Debug, Deserialize)]
struct InputMessage {
    id: String,
    role: String,
    #[serde(default)]
    content: Value,
}

/// The client's decision about a form.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Resume {
    interrupt_id: String,
    status: ResumeStatus,
    #[serde(default)]
    payload: Value,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ResumeStatus {
    Resolved,
    Cancelled,
}

/// The client's decisions about forms.
#[derive(Debug, Default)]
pub(super) struct ResumedForms {
    pub(super) answers: Vec<FormAnswer>,
    pub(super) left_open: Vec<CallId>,
}

impl RunInput {
    /// The messages that the space may not have yet.
    pub(super) fn posts(&self) -> Result<Vec<Post>, Refusal> {
        let new = new_messages(&self.messages, |message| (&message.id, &message.role))?;
        let post = |message: &&InputMessage| {
            let (text, files) = match &message.content {
                Value::String(text) => (text.clone(), Vec::new()),
                parts => content_of(parts, &message.id)?,
            };
            Ok(Post { key: key_of("agui", &message.id)?, text, files })
        };
        new.iter().map(post).collect()
    }

    /// The forms that the request answers or leaves open.
    pub(super) fn resumed_forms(&self) -> Result<ResumedForms, Refusal> {
        let mut resumed = ResumedForms::default();
        for Resume { interrupt_id, status, payload } in &self.resume {
            let call: CallId = interrupt_id
                .parse()
                .map_err(|error| Refusal::new(422, format!("/resume: interruptId: {error}")))?;
            let known = resumed.answers.iter().map(|answer| answer.call);
            if known.chain(resumed.left_open.iter().copied()).any(|known| known == call) {
                return Err(Refusal::new(422, format!("/resume: {call} is there twice")));
            }
            match status {
                ResumeStatus::Cancelled => resumed.left_open.push(call),
                ResumeStatus::Resolved => resumed.answers.push(FormAnswer::new(call, payload)),
            }
        }
        Ok(resumed)
    }
}
