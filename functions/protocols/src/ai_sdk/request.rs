//! The body of a request of `useChat`: the fields that are used here.

use serde::Deserialize;
use serde_json::{Value, json};
use smartspace_client::Refusal;
use smartspace_domain::{forms::BUTTONS, ids::CallId, messages::ToolPart};

use crate::{
    conversation::{content_of, new_messages},
    turn::{ClientView, FormAnswer, Post, key_of},
};

/// The body of a request.
#[derive(Debug, Deserialize)]
pub(super) struct ChatRequest {
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

/// A form that the client has answered.
#[derive(Debug)]
pub(super) struct AnsweredForm<'a> {
    pub(super) call: CallId,
    part: &'a Value,
}

impl ChatRequest {
    /// The messages that the space may not have yet.
    pub(super) fn posts(&self) -> Result<Vec<Post>, Refusal> {
        if self.trigger.as_deref() == Some("regenerate-message") {
            return Err(Refusal::new(
                422,
                "/trigger: an answer in a space cannot be regenerated; expected submit-message",
            ));
        }
        let new = new_messages(&self.messages, |message| (&message.id, &message.role))?;
        let post = |message: &&UiMessage| {
            let (text, files) = content_of(&message.parts, &message.id)?;
            Ok(Post { key: key_of("chat", &message.id)?, text, files })
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

    /// The cards and messages in the newest message of the assistant.
    pub(super) fn client_view(&self) -> ClientView {
        let messages = self.parts().filter(|part| part["type"] == "data-message");
        let messages = messages.filter_map(|part| part["id"].as_str().map(str::to_owned));
        ClientView {
            cards: self.calls().map(|(call, _)| call).collect(),
            messages: messages.collect(),
        }
    }

    /// The id of the client's last message, if the response continues it.
    pub(super) fn response_id(&self) -> Option<String> {
        let last = self.messages.last().filter(|last| last.role == "assistant")?;
        Some(last.id.clone())
    }

    fn calls(&self) -> impl Iterator<Item = (CallId, &Value)> {
        self.parts().filter_map(|part| Some((part["toolCallId"].as_str()?.parse().ok()?, part)))
    }

    /// The parts of the newest message of the assistant.
    fn parts(&self) -> impl Iterator<Item = &Value> {
        let newest = self.messages.iter().rfind(|message| message.role == "assistant");
        newest.into_iter().filter_map(|message| message.parts.as_array()).flatten()
    }
}

impl AnsweredForm<'_> {
    /// The answer to the form on `card`.
    pub(super) fn answer(&self, card: Option<&ToolPart>) -> Result<FormAnswer, Refusal> {
        let body = match self.part["state"].as_str() {
            Some("output-available") => json!({"output": self.part["output"]}),
            Some("output-error") => declined(&self.part["errorText"]),
            _ => self.approval(card)?,
        };
        Ok(FormAnswer { call: self.call, body })
    }

    /// An approval as the choice of the first of two buttons, and a denial as that of the second.
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
