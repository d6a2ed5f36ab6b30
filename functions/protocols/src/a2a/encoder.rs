//! Encodes a turn of one run as updates of a task of A2A.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use smartspace_domain::{
    ids::{RunId, SpaceId, StreamId},
    runs::RunStatus,
};

use crate::{
    a2a::{
        rpc::{RpcError, error_of, result_of},
        task_json::{agent_message, error_id, file_part, form_message, state_of},
    },
    turn::{EndCause, TurnEncoder, TurnEnd, TurnEvent, card_of, id_for_clients},
};

/// The state of a response about a task.
#[derive(Debug)]
pub(super) struct TaskEncoder {
    /// The id of the JSON-RPC call, which each event repeats.
    call_id: Value,
    task: RunId,
    context: SpaceId,
    /// The texts whose first piece was sent.
    started: BTreeSet<StreamId>,
}

/// Whether a piece of an artifact continues it or replaces it, and whether it is the last one.
#[derive(Clone, Copy)]
struct Chunk {
    append: bool,
    last: bool,
}

impl TaskEncoder {
    pub(super) fn new(call_id: Value, task: RunId, context: SpaceId) -> Self {
        Self { call_id, task, context, started: BTreeSet::new() }
    }

    /// The first event: the task as it is.
    pub(super) fn task(&self, task: Value) -> Value {
        result_of(&self.call_id, json!({"task": task}))
    }

    fn status(&self, status: RunStatus, message: Option<Value>) -> Value {
        let mut shown = json!({"state": state_of(status)});
        if let Some(message) = message {
            shown["message"] = message;
        }
        let update = json!({"taskId": self.task, "contextId": self.context, "status": shown});
        result_of(&self.call_id, json!({"statusUpdate": update}))
    }

    fn text(&self, id: &str, text: &str, chunk: Chunk) -> Value {
        self.artifact(id, vec![json!({"text": text})], chunk)
    }

    fn artifact(&self, id: &str, parts: Vec<Value>, chunk: Chunk) -> Value {
        let update = json!({
            "taskId": self.task,
            "contextId": self.context,
            "artifact": {"artifactId": id, "parts": parts},
            "append": chunk.append,
            "lastChunk": chunk.last,
        });
        result_of(&self.call_id, json!({"artifactUpdate": update}))
    }

    fn encode_one(&mut self, event: &TurnEvent) -> Option<Value> {
        match event {
            TurnEvent::RunStarted { .. } => Some(self.status(RunStatus::Running, None)),
            TurnEvent::RunEnded { status, error, .. } => {
                let message = error.as_ref().map(|error| {
                    agent_message(&error_id(self.task), self.context, self.task, &error.message)
                });
                Some(self.status(*status, message))
            }
            TurnEvent::TextDelta { stream, text } => {
                let append = !self.started.insert(*stream);
                Some(self.text(&stream.to_string(), text, Chunk { append, last: false }))
            }
            TurnEvent::TextEnded { stream, rest, message } => {
                let text = rest.as_deref().unwrap_or(message.text());
                let chunk = Chunk { append: rest.is_some(), last: true };
                Some(self.text(&stream.to_string(), text, chunk))
            }
            // An artifact cannot be removed, so it is emptied.
            TurnEvent::TextDropped { stream } => {
                let chunk = Chunk { append: false, last: true };
                Some(self.artifact(&stream.to_string(), Vec::new(), chunk))
            }
            TurnEvent::Message { message, in_turn: true } => {
                let chunk = Chunk { append: false, last: true };
                Some(self.text(&id_for_clients(message), message.text(), chunk))
            }
            TurnEvent::Files { message, files, in_turn: true } => {
                // The text of a message is its artifact already. A card has none.
                let chunk = Chunk { append: card_of(message).is_none(), last: true };
                let parts = files.iter().map(file_part).collect();
                Some(self.artifact(&id_for_clients(message), parts, chunk))
            }
            TurnEvent::TextStarted { .. }
            | TurnEvent::Files { .. }
            | TurnEvent::Message { .. }
            | TurnEvent::Card { .. }
            | TurnEvent::CardEnded(_) => None,
        }
    }
}

impl TurnEncoder for TaskEncoder {
    type Event = Value;

    fn encode(&mut self, event: &TurnEvent) -> Vec<Value> {
        self.encode_one(event).into_iter().collect()
    }

    fn finish(&mut self, end: TurnEnd, cause: EndCause) -> Vec<Value> {
        match cause {
            EndCause::Lost(refusal) => vec![error_of(&self.call_id, &RpcError::from(refusal))],
            EndCause::Over
                if end.open_runs.iter().any(|(_, status)| *status == RunStatus::WaitingTool) =>
            {
                let form =
                    end.forms.first().map(|form| form_message(form, self.context, self.task));
                vec![self.status(RunStatus::WaitingTool, form)]
            }
            EndCause::Over | EndCause::TimeLimit => Vec::new(),
        }
    }
}
