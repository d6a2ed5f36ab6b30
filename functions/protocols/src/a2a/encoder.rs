//! A task in the words of A2A, while it goes on.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use smartspace_domain::{
    ids::{RunId, SpaceId, StreamId},
    runs::RunStatus,
};

use crate::{
    a2a::{
        rpc::{RpcError, error_of, result_of},
        tasks::{file_part, question, spoken, state_of},
    },
    conversation::{Why, id_for_clients},
    event_stream::Protocol,
    narration::{Ending, Narration, Told, card_of},
};

/// A task, as a client gets it.
#[derive(Debug)]
pub(super) struct Telling {
    /// The id of the call.
    id: Value,
    task: RunId,
    context: SpaceId,
    /// The texts that have begun.
    begun: BTreeSet<StreamId>,
}

impl Telling {
    pub(super) fn new(id: Value, task: RunId, context: SpaceId) -> Self {
        Self { id, task, context, begun: BTreeSet::new() }
    }

    /// The first event: the task as it is.
    pub(super) fn task(&self, task: Value) -> Value {
        result_of(&self.id, json!({"task": task}))
    }

    fn status(&self, status: RunStatus, message: Option<Value>) -> Value {
        let mut shown = json!({"state": state_of(status)});
        if let Some(message) = message {
            shown["message"] = message;
        }
        let update = json!({"taskId": self.task, "contextId": self.context, "status": shown});
        result_of(&self.id, json!({"statusUpdate": update}))
    }

    /// A piece of a text. It begins the text anew unless it is appended.
    fn artifact(&self, id: &str, text: Option<&str>, is_appended: bool, is_last: bool) -> Value {
        let parts = text.iter().map(|text| json!({"text": text})).collect();
        self.artifact_of(id, parts, is_appended, is_last)
    }

    fn artifact_of(&self, id: &str, parts: Vec<Value>, is_appended: bool, is_last: bool) -> Value {
        let update = json!({
            "taskId": self.task,
            "contextId": self.context,
            "artifact": {"artifactId": id, "parts": parts},
            "append": is_appended,
            "lastChunk": is_last,
        });
        result_of(&self.id, json!({"artifactUpdate": update}))
    }
}

impl Protocol for Telling {
    type Event = Value;

    fn tell(&mut self, told: Told, narration: &Narration, events: &mut Vec<Value>) {
        match told {
            Told::RunStarted { .. } => events.push(self.status(RunStatus::Running, None)),
            Told::RunEnded { status, error, .. } => {
                let id = format!("{}-error", self.task);
                let message =
                    error.map(|error| spoken(&id, self.context, self.task, &error.message));
                events.push(self.status(status, message));
            }
            Told::Text { stream, text } => {
                let is_appended = !self.begun.insert(stream);
                events.push(self.artifact(&stream.to_string(), Some(&text), is_appended, false));
            }
            Told::TextEnded { stream, rest, message } => {
                let text = rest.as_deref().unwrap_or(message.text());
                let id = stream.to_string();
                events.push(self.artifact(&id, Some(text), rest.is_some(), true));
            }
            Told::TextDropped { stream } => {
                events.push(self.artifact(&stream.to_string(), None, false, true));
            }
            Told::Message(message) if narration.is_of_turn(&message) => {
                let id = id_for_clients(&message);
                events.push(self.artifact(&id, Some(message.text()), false, true));
            }
            Told::Files { message, files } if narration.is_of_turn(&message) => {
                let id = id_for_clients(&message);
                // A card has no artifact of its own.
                let is_appended = card_of(&message).is_none();
                let parts = files.into_iter().map(file_part).collect();
                events.push(self.artifact_of(&id, parts, is_appended, true));
            }
            Told::TextStarted { .. }
            | Told::Files { .. }
            | Told::Message(_)
            | Told::Card(_)
            | Told::CardEnded(_) => {}
        }
    }

    fn end(&mut self, ending: Ending, why: Why, events: &mut Vec<Value>) {
        match why {
            Why::Lost(refusal) => events.push(error_of(&self.id, &RpcError::from(refusal))),
            Why::Over
                if ending.open.iter().any(|(_, status)| *status == RunStatus::WaitingTool) =>
            {
                let question =
                    ending.forms.first().map(|form| question(form, self.context, self.task));
                events.push(self.status(RunStatus::WaitingTool, question));
            }
            Why::Over | Why::Continues => {}
        }
    }
}
