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
            Ok(Post { key: key_of("chat", &message.id)?, text, files, page: None })
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
        // Clients send the conversation again and again, so the answer may be to a question from
        // before somebody changed the input. It must not approve an input that nobody has seen.
        let has_changed = |card: &ToolPart| !is_same_input(&card.input, &self.part["input"]);
        if card.is_some_and(|card| card.approval.is_some() && has_changed(card)) {
            let detail = "the input of the call has changed: read it again, then decide";
            return Err(Refusal::new(409, format!("/messages: {}: {detail}", self.call)));
        }
        let body = match self.part["state"].as_str() {
            Some("output-available") => json!({"output": self.part["output"]}),
            Some("output-error") => declined(&self.part["errorText"]),
            _ => self.approval(card)?,
        };
        Ok(FormAnswer { call: self.call, body })
    }

    /// An approval as a decision or as the choice of the first of two buttons, and a denial as the
    /// other decision or the choice of the second.
    fn approval(&self, card: Option<&ToolPart>) -> Result<Value, Refusal> {
        let approval = &self.part["approval"];
        let is_approved = approval["approved"].as_bool().unwrap_or_default();
        if card.is_some_and(|card| card.approval.is_some()) {
            let decision = if is_approved {
                json!({"action": "approve"})
            } else {
                declined_call(&approval["reason"])
            };
            return Ok(json!({"output": decision}));
        }
        let Some([first, second]) = card.and_then(two_buttons) else {
            let detail = "expected an output: only a choice between two buttons and a call that \
                          waits for approval can be approved";
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

fn declined_call(reason: &Value) -> Value {
    match reason.as_str().filter(|reason| !reason.is_empty()) {
        Some(reason) => json!({"action": "decline", "text": reason}),
        None => json!({"action": "decline"}),
    }
}

/// Whether two inputs are the same to a client, in which all numbers are floating-point numbers.
fn is_same_input(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| is_same_input(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let is_same =
                |(name, value)| other.get(name).is_some_and(|other| is_same_input(value, other));
            one.len() == other.len() && one.iter().all(is_same)
        }
        _ => one == other,
    }
}

/// Whether a client can answer a card by an approval or a denial.
pub(super) fn takes_approval(card: &ToolPart) -> bool {
    card.approval.is_some() || two_buttons(card).is_some()
}

/// The options of a form with exactly two buttons.
fn two_buttons(card: &ToolPart) -> Option<[&str; 2]> {
    let options = card.input["options"].as_array().filter(|_| card.ui.as_deref() == Some(BUTTONS));
    let options: Vec<_> = options?.iter().filter_map(Value::as_str).collect();
    options.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_may_write_the_same_number_in_another_way() {
        let shown = json!({"amount": 900.0, "to": ["Ben"]});
        assert!(is_same_input(&shown, &json!({"to": ["Ben"], "amount": 900})));
        for other in [
            json!({"amount": 600, "to": ["Ben"]}),
            json!({"amount": 900, "to": ["Ben", "Max"]}),
            json!({"amount": 900}),
            json!({"amount": 900, "to": ["Ben"], "at": null}),
            Value::Null,
        ] {
            assert!(!is_same_input(&shown, &other), "{other}");
        }
    }
}
