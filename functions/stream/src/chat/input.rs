//! What `useChat` sends, as far as it matters here.

use serde::Deserialize;
use serde_json::{Value, json};
use smartspace_domain::{
    forms::BUTTONS,
    ids::CallId,
    messages::{Message, ToolPart},
    steps::CallStatus,
};

use crate::{
    api_client::Refusal,
    conversation::{Answer, Post, key_of},
    input::{is_ours, new_messages, text_of},
    narration::card_of,
};

/// The body of a request.
#[derive(Debug, Deserialize)]
pub(super) struct Input {
    pub(super) id: String,
    #[serde(default)]
    messages: Vec<UiMessage>,
    trigger: Option<String>,
}

#[derive(Debug, Deserialize)]
struct UiMessage {
    id: String,
    role: String,
    #[serde(default)]
    parts: Value,
}

/// A form to which the client gave an answer.
#[derive(Debug)]
pub(super) struct AnsweredForm<'a> {
    pub(super) call: CallId,
    part: &'a Value,
}

impl Input {
    /// The messages that the space may not have yet.
    pub(super) fn posts(&self) -> Result<Vec<Post>, Refusal> {
        if self.trigger.as_deref() == Some("regenerate-message") {
            return Err(Refusal::new(
                422,
                "/trigger: an answer in a space cannot be regenerated; expected submit-message",
            ));
        }
        let is_ours = |message: &UiMessage| is_ours(&message.id);
        let new = new_messages(&self.messages, is_ours, |message| message.role == "user")?;
        let post = |message: &&UiMessage| {
            let text = text_of(&message.parts, &message.id)?;
            Ok(Post { key: key_of("chat", &message.id)?, text })
        };
        new.iter().map(post).collect()
    }

    /// The forms that the client has answered in the newest message of the assistant.
    pub(super) fn answered_forms(&self) -> Vec<AnsweredForm<'_>> {
        let calls = self.calls().filter(|(_, part)| {
            let is_ours = part["providerExecuted"].as_bool() == Some(true);
            let state = part["state"].as_str().unwrap_or_default();
            !is_ours && ["output-available", "output-error", "approval-responded"].contains(&state)
        });
        calls.map(|(call, part)| AnsweredForm { call, part }).collect()
    }

    /// The calls in the newest message of the assistant.
    pub(super) fn known_calls(&self) -> Vec<CallId> {
        self.calls().map(|(call, _)| call).collect()
    }

    /// The id of the message that the client goes on with.
    pub(super) fn response_id(&self) -> Option<String> {
        let last = self.messages.last().filter(|last| last.role == "assistant")?;
        Some(last.id.clone())
    }

    fn calls(&self) -> impl Iterator<Item = (CallId, &Value)> {
        let newest = self.messages.iter().rfind(|message| message.role == "assistant");
        let parts = newest.into_iter().filter_map(|message| message.parts.as_array());
        parts.flatten().filter_map(|part| Some((part["toolCallId"].as_str()?.parse().ok()?, part)))
    }
}

impl AnsweredForm<'_> {
    /// The answer, if the form still waits for one.
    pub(super) fn answer<'a>(
        &self,
        mut messages: impl Iterator<Item = &'a Message>,
    ) -> Result<Option<Answer>, Refusal> {
        let card =
            messages.find_map(|message| card_of(message).filter(|card| card.call_id == self.call));
        // A form that is not among the newest messages is looked for when it is answered.
        if card.is_some_and(|card| card.status != CallStatus::Pending) {
            return Ok(None);
        }
        let body = match self.part["state"].as_str() {
            Some("output-available") => json!({"output": self.part["output"]}),
            Some("output-error") => declined(&self.part["errorText"]),
            _ => self.approval(card)?,
        };
        Ok(Some(Answer { call: self.call, body }))
    }

    /// The choice that an approval makes: the first of two options, or the second.
    fn approval(&self, card: Option<&ToolPart>) -> Result<Value, Refusal> {
        let approval = &self.part["approval"];
        let is_approved = approval["approved"].as_bool().unwrap_or_default();
        let Some([first, second]) = card.and_then(two_buttons) else {
            let detail = "expected an output: only a choice between two buttons can be approved";
            return Err(Refusal::new(422, format!("/messages: {}: {detail}", self.call)));
        };
        let choice = if is_approved { first } else { second };
        Ok(match approval["reason"].as_str() {
            Some(reason) => json!({"output": {"choice": choice, "comment": reason}}),
            None => json!({"output": {"choice": choice}}),
        })
    }
}

fn declined(reason: &Value) -> Value {
    match reason.as_str().filter(|reason| !reason.is_empty()) {
        Some(reason) => json!({"declined": true, "reason": reason}),
        None => json!({"declined": true}),
    }
}

/// The options of a form with exactly two buttons.
pub(super) fn two_buttons(card: &ToolPart) -> Option<[&str; 2]> {
    let options = card.input["options"].as_array().filter(|_| card.ui.as_deref() == Some(BUTTONS));
    let options: Vec<_> = options?.iter().filter_map(Value::as_str).collect();
    options.try_into().ok()
}
