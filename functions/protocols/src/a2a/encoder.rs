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
    /// The status that the client knows. `None` if the task has ended.
    known: Option<RunStatus>,
    /// The artifacts of the first event. They say nothing about what the task does now.
    first_artifacts: BTreeSet<String>,
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
        Self {
            call_id,
            task,
            context,
            known: Some(RunStatus::Queued),
            first_artifacts: BTreeSet::new(),
            started: BTreeSet::new(),
        }
    }

    /// The first event: the task as it is.
    pub(super) fn task(&mut self, task: Value) -> Value {
        let state = &task["status"]["state"];
        let active = [RunStatus::Queued, RunStatus::Running, RunStatus::WaitingTool];
        self.known = active.into_iter().find(|status| *state == state_of(*status));
        let artifacts = task["artifacts"].as_array().into_iter().flatten();
        let ids = artifacts.filter_map(|artifact| artifact["artifactId"].as_str());
        self.first_artifacts = ids.map(str::to_owned).collect();
        result_of(&self.call_id, json!({"task": task}))
    }

    /// Whether the first event says that the task has ended. Then nothing follows it.
    pub(super) fn has_ended(&self) -> bool {
        self.known.is_none()
    }

    /// The update that the task works, unless the client knows it.
    fn working(&mut self) -> Option<Value> {
        let known = self.known.replace(RunStatus::Running);
        (known != Some(RunStatus::Running)).then(|| self.status(RunStatus::Running, None))
    }

    /// Whether an update has an artifact that the first event lacks: the task works on it.
    fn is_new_artifact(&self, update: &Value) -> bool {
        let id = update["result"]["artifactUpdate"]["artifact"]["artifactId"].as_str();
        id.is_some_and(|id| !self.first_artifacts.contains(id))
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
            // A run that waits has started, too.
            TurnEvent::RunStarted { .. } if self.known == Some(RunStatus::WaitingTool) => None,
            TurnEvent::RunStarted { .. } | TurnEvent::RunResumed { .. } => self.working(),
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
        let Some(update) = self.encode_one(event) else { return Vec::new() };
        let working = if self.is_new_artifact(&update) { self.working() } else { None };
        working.into_iter().chain([update]).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{at, message, run_id};

    /// What the client gets after a task in this state, with the artifact of the first message:
    /// states, and `artifact`.
    fn sent(state: &str, events: &[TurnEvent]) -> Vec<String> {
        let mut encoder = TaskEncoder::new(json!(1), run_id(1), SpaceId::new(at(), 1));
        let artifacts = json!([{"artifactId": id_for_clients(&message(1, Some(1), None))}]);
        encoder.task(json!({"status": {"state": state}, "artifacts": artifacts}));
        let updates = events.iter().flat_map(|event| encoder.encode(event));
        let name = |update: Value| {
            let state = update["result"]["statusUpdate"]["status"]["state"].as_str();
            state.unwrap_or("artifact").to_owned()
        };
        updates.map(name).collect()
    }

    fn posted(number: u128) -> TurnEvent {
        let message = message(number, Some(1), None).into();
        TurnEvent::Message { message, in_turn: true }
    }

    #[test]
    fn a_client_gets_to_know_once_that_its_task_works() {
        let started = || TurnEvent::RunStarted { run: run_id(1), agent: "Guide".into() };
        let resumed = || TurnEvent::RunResumed { run: run_id(1) };
        let working = "TASK_STATE_WORKING";
        let waiting = "TASK_STATE_INPUT_REQUIRED";
        for (state, events, expected) in [
            ("TASK_STATE_SUBMITTED", vec![started(), posted(2)], vec![working, "artifact"]),
            (working, vec![started(), posted(2)], vec!["artifact"]),
            (waiting, vec![started()], vec![]),
            (waiting, vec![started(), resumed(), resumed()], vec![working]),
            (waiting, vec![started(), posted(2), resumed()], vec![working, "artifact"]),
            (waiting, vec![started(), posted(1)], vec!["artifact"]),
        ] {
            assert_eq!(sent(state, &events), expected, "{state} {events:?}");
        }
    }

    #[test]
    fn nothing_follows_a_task_that_has_ended() {
        for (status, has_ended) in [
            (RunStatus::Queued, false),
            (RunStatus::Running, false),
            (RunStatus::WaitingTool, false),
            (RunStatus::Completed, true),
            (RunStatus::Failed, true),
            (RunStatus::Canceled, true),
        ] {
            let mut encoder = TaskEncoder::new(json!(1), run_id(1), SpaceId::new(at(), 1));
            encoder.task(json!({"status": {"state": state_of(status)}}));
            assert_eq!(encoder.has_ended(), has_ended, "{status:?}");
        }
    }
}
