//! Encodes a turn as a UI message stream of the AI SDK.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use smartspace_client::{LinkedFile, files_of};
use smartspace_domain::{
    entities::EntityType,
    ids::{RunId, StreamId},
    messages::{Message, Sender, ToolPart},
    runs::RunStatus,
    steps::CallStatus,
};

use crate::{
    ai_sdk::{
        request::takes_approval,
        types::{Chunk, Dropped, MessageData, RunData},
    },
    turn::{EndCause, TurnEncoder, TurnEnd, TurnEvent, card_of, id_for_clients, is_open_form},
};

/// The state of a message of the assistant, which is a turn of ours.
#[derive(Debug, Default)]
pub(super) struct UiMessageEncoder {
    agents: BTreeMap<RunId, String>,
}

impl UiMessageEncoder {
    fn run(&self, run: RunId, status: RunStatus) -> Chunk {
        let agent = self.agents.get(&run).cloned().unwrap_or_default();
        Chunk::DataRun { id: run, data: RunData { run_id: run, agent, status } }
    }
}

impl TurnEncoder for UiMessageEncoder {
    type Event = Chunk;

    const TRAILER: Option<&str> = Some("[DONE]");

    fn encode(&mut self, event: &TurnEvent) -> Vec<Chunk> {
        match event {
            TurnEvent::RunStarted { run, agent } => {
                self.agents.insert(*run, agent.clone());
                vec![self.run(*run, RunStatus::Running)]
            }
            TurnEvent::RunResumed { .. } => Vec::new(),
            TurnEvent::RunEnded { run, status, .. } => vec![self.run(*run, *status)],
            TurnEvent::TextStarted { stream, sender, .. } => {
                let id = stream.to_string();
                vec![message_data(&id, sender, None), Chunk::TextStart { id }]
            }
            TurnEvent::TextDelta { stream, text } => {
                vec![Chunk::TextDelta { id: stream.to_string(), delta: text.clone() }]
            }
            TurnEvent::TextEnded { stream, rest: Some(rest), message } => {
                let id = stream.to_string();
                let delta = Chunk::TextDelta { id: id.clone(), delta: rest.clone() };
                let mut chunks: Vec<_> = (!rest.is_empty()).then_some(delta).into_iter().collect();
                chunks.push(Chunk::TextEnd { id: id.clone() });
                chunks.push(message_data(&id, &message.sender, Some(message)));
                chunks
            }
            // A text part cannot be changed, so another one follows under the message's own id.
            TurnEvent::TextEnded { stream, rest: None, message } => {
                let mut chunks = drop_text(*stream);
                chunks.extend(whole_message(&message.id.to_string(), message));
                chunks
            }
            TurnEvent::TextDropped { stream } => drop_text(*stream),
            TurnEvent::Message { message, .. } => whole_message(&id_for_clients(message), message),
            TurnEvent::Card { message, may_answer } => card_of(message)
                .map(|card| card_chunks(card, message, *may_answer))
                .unwrap_or_default(),
            TurnEvent::CardEnded(message) => card_of(message).map(result).into_iter().collect(),
            // A person's files are not part of the assistant's message.
            TurnEvent::Files { message, files, .. } if message.sender.kind == EntityType::Agent => {
                files.iter().map(|file| file_chunk(file, message)).collect()
            }
            TurnEvent::Files { .. } => Vec::new(),
        }
    }

    fn finish(&mut self, end: TurnEnd, cause: EndCause) -> Vec<Chunk> {
        let waiting =
            end.open_runs.into_iter().filter(|(_, status)| *status == RunStatus::WaitingTool);
        let mut chunks: Vec<_> = waiting.map(|(run, status)| self.run(run, status)).collect();
        chunks.push(Chunk::FinishStep);
        let continues = matches!(cause, EndCause::TimeLimit);
        chunks.push(match (cause, end.failure) {
            (EndCause::Lost(refusal), _) => Chunk::Error { error_text: refusal.detail },
            (_, Some(failure)) => Chunk::Error { error_text: failure.message },
            _ => Chunk::Finish {
                message_metadata: continues.then(|| json!({"smartspace": {"continues": true}})),
            },
        });
        chunks
    }
}

/// The sender of a text, and the place of its message once that is posted.
fn message_data(id: &str, sender: &Sender, message: Option<&Message>) -> Chunk {
    let by_person = sender.kind == EntityType::Human;
    let data = MessageData {
        id: id.to_owned(),
        sender: sender.clone(),
        text: message.filter(|_| by_person).map(|message| message.text().to_owned()),
        message_id: message.map(|message| message.id),
        seq: message.map(|message| message.seq),
        files: message.into_iter().flat_map(files_of).cloned().collect(),
    };
    Chunk::DataMessage { id: id.to_owned(), data }
}

/// A message without deltas. The text of a person is data, not text of the assistant.
fn whole_message(id: &str, message: &Message) -> Vec<Chunk> {
    let mut chunks = vec![message_data(id, &message.sender, Some(message))];
    if message.sender.kind == EntityType::Agent {
        chunks.push(Chunk::TextStart { id: id.to_owned() });
        chunks.push(Chunk::TextDelta { id: id.to_owned(), delta: message.text().to_owned() });
        chunks.push(Chunk::TextEnd { id: id.to_owned() });
    }
    chunks
}

/// The end of a text, and the request to hide it: the protocol cannot remove a part.
fn drop_text(stream: StreamId) -> Vec<Chunk> {
    let end = Chunk::TextEnd { id: stream.to_string() };
    vec![end, Chunk::DataDropped { id: stream, data: Dropped { id: stream } }]
}

/// A card, and the request for an approval if it waits for one or is a choice between two buttons.
fn card_chunks(card: &ToolPart, message: &Message, may_answer: bool) -> Vec<Chunk> {
    let is_open_form = may_answer && is_open_form(message);
    let mut form = json!({
        "runId": message.run_id,
        "ui": card.ui,
        "resultSchema": card.result_schema,
        "expiresAt": card.expires_at,
    });
    if let Some(approval) = &card.approval {
        form["approval"] = json!(approval);
    }
    let mut chunks = vec![Chunk::ToolInputAvailable {
        tool_call_id: card.call_id,
        tool_name: card.name.clone(),
        input: card.input.clone(),
        dynamic: true,
        provider_executed: !is_open_form,
        tool_metadata: is_open_form.then(|| json!({"smartspace": form})),
    }];
    if is_open_form && takes_approval(card) {
        chunks.push(Chunk::ToolApprovalRequest {
            approval_id: card.call_id,
            tool_call_id: card.call_id,
        });
    }
    chunks
}

/// A file of a message, with the message's id and sender.
fn file_chunk(file: &LinkedFile, message: &Message) -> Chunk {
    let LinkedFile { part, url } = file;
    let mut origin = json!({
        "attachmentId": part.attachment_id,
        "name": part.name,
        "bytes": part.bytes,
        "messageId": message.id,
        "sender": message.sender,
    });
    if let Some(card) = card_of(message) {
        origin["toolCallId"] = json!(card.call_id);
    }
    Chunk::File {
        url: url.clone(),
        media_type: part.content_type.clone(),
        provider_metadata: json!({"smartspace": origin}),
    }
}

/// The result of a card's call.
fn result(card: &ToolPart) -> Chunk {
    let tool_call_id = card.call_id;
    if card.status == CallStatus::Completed {
        let output = card.output.clone().unwrap_or(Value::Null);
        return Chunk::ToolOutputAvailable { tool_call_id, output, dynamic: true };
    }
    let error_text = match &card.output {
        Some(Value::String(text)) => text.clone(),
        Some(output) => output.to_string(),
        None => format!("the call has {}", ending_of(card.status)),
    };
    Chunk::ToolOutputError { tool_call_id, error_text, dynamic: true }
}

fn ending_of(status: CallStatus) -> &'static str {
    match status {
        CallStatus::Expired => "expired",
        CallStatus::Canceled => "been canceled",
        _ => "failed",
    }
}
