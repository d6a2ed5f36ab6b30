//! A turn in the words of the AI SDK's UI message stream.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use smartspace_domain::{
    entities::EntityType,
    ids::{RunId, StreamId},
    messages::{Message, Sender, ToolPart},
    runs::RunStatus,
    steps::CallStatus,
};

use crate::{
    chat::{
        chunks::{Chunk, Dropped, MessageData, RunData},
        input::two_buttons,
    },
    conversation::{Why, id_for_clients},
    event_stream::Protocol,
    files::{LinkedFile, files_of},
    narration::{Ending, Narration, Told, card_of},
};

/// A message of the assistant, which is a turn of ours.
#[derive(Debug, Default)]
pub(super) struct Telling {
    agents: BTreeMap<RunId, String>,
}

impl Telling {
    fn run(&self, run: RunId, status: RunStatus) -> Chunk {
        let agent = self.agents.get(&run).cloned().unwrap_or_default();
        Chunk::DataRun { id: run, data: RunData { run_id: run, agent, status } }
    }
}

impl Protocol for Telling {
    type Event = Chunk;

    const LAST: Option<&str> = Some("[DONE]");

    fn tell(&mut self, told: Told, narration: &Narration, chunks: &mut Vec<Chunk>) {
        match told {
            Told::RunStarted { run, agent } => {
                self.agents.insert(run, agent);
                chunks.push(self.run(run, RunStatus::Running));
            }
            Told::RunEnded { run, status, .. } => chunks.push(self.run(run, status)),
            Told::TextStarted { stream, sender, .. } => {
                chunks.push(about(&stream.to_string(), &sender, None));
                chunks.push(Chunk::TextStart { id: stream.to_string() });
            }
            Told::Text { stream, text } => {
                chunks.push(Chunk::TextDelta { id: stream.to_string(), delta: text });
            }
            Told::TextEnded { stream, rest: Some(rest), message } => {
                let id = stream.to_string();
                if !rest.is_empty() {
                    chunks.push(Chunk::TextDelta { id: id.clone(), delta: rest });
                }
                chunks.push(Chunk::TextEnd { id: id.clone() });
                chunks.push(about(&id, &message.sender, Some(&message)));
            }
            Told::TextEnded { stream, rest: None, message } => {
                drop_text(stream, chunks);
                whole(&message.id.to_string(), &message, chunks);
            }
            Told::TextDropped { stream } => drop_text(stream, chunks),
            Told::Message(message) => {
                whole(&id_for_clients(&message), &message, chunks);
            }
            Told::Card(message) => chunks.extend(card_of(&message).into_iter().flat_map(|card| {
                shown(card, &message, narration.may_answer(card.answer_by.as_ref()))
            })),
            Told::CardEnded(message) => chunks.extend(card_of(&message).map(result)),
            // What a person sends is no part of what the assistant says.
            Told::Files { message, files } if message.sender.kind == EntityType::Agent => {
                chunks.extend(files.into_iter().map(|file| file_chunk(file, &message)));
            }
            Told::Files { .. } => {}
        }
    }

    fn end(&mut self, ending: Ending, why: Why, chunks: &mut Vec<Chunk>) {
        let waiting =
            ending.open.into_iter().filter(|(_, status)| *status == RunStatus::WaitingTool);
        for (run, status) in waiting {
            chunks.push(self.run(run, status));
        }
        chunks.push(Chunk::FinishStep);
        if let Why::Lost(refusal) = why {
            return chunks.push(Chunk::Error { error_text: refusal.detail });
        }
        if let Some(failure) = ending.failure {
            return chunks.push(Chunk::Error { error_text: failure.message });
        }
        let continues = matches!(why, Why::Continues);
        let message_metadata = continues.then(|| json!({"smartspace": {"continues": true}}));
        chunks.push(Chunk::Finish { message_metadata });
    }
}

/// Who writes a text, and where its message stands once it is posted.
fn about(id: &str, sender: &Sender, message: Option<&Message>) -> Chunk {
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

/// A message of which nothing was told. What a person says is no text of the assistant.
fn whole(id: &str, message: &Message, chunks: &mut Vec<Chunk>) {
    chunks.push(about(id, &message.sender, Some(message)));
    if message.sender.kind == EntityType::Agent {
        chunks.push(Chunk::TextStart { id: id.to_owned() });
        chunks.push(Chunk::TextDelta { id: id.to_owned(), delta: message.text().to_owned() });
        chunks.push(Chunk::TextEnd { id: id.to_owned() });
    }
}

fn drop_text(stream: StreamId, chunks: &mut Vec<Chunk>) {
    chunks.push(Chunk::TextEnd { id: stream.to_string() });
    chunks.push(Chunk::DataDropped { id: stream, data: Dropped { id: stream } });
}

/// A card, and the request for an approval if it is a choice between two buttons.
fn shown(card: &ToolPart, message: &Message, may_answer: bool) -> Vec<Chunk> {
    let is_open_form = may_answer && card.ui.is_some() && card.status == CallStatus::Pending;
    let about_form = json!({
        "smartspace": {
            "runId": message.run_id,
            "ui": card.ui,
            "resultSchema": card.result_schema,
            "expiresAt": card.expires_at,
        },
    });
    let mut chunks = vec![Chunk::ToolInputAvailable {
        tool_call_id: card.call_id,
        tool_name: card.name.clone(),
        input: card.input.clone(),
        dynamic: true,
        provider_executed: !is_open_form,
        tool_metadata: is_open_form.then_some(about_form),
    }];
    if is_open_form && two_buttons(card).is_some() {
        chunks.push(Chunk::ToolApprovalRequest {
            approval_id: card.call_id,
            tool_call_id: card.call_id,
        });
    }
    chunks
}

/// A file of a message, and where that comes from.
fn file_chunk(LinkedFile { part, url }: LinkedFile, message: &Message) -> Chunk {
    let mut about = json!({
        "attachmentId": part.attachment_id,
        "name": part.name,
        "bytes": part.bytes,
        "messageId": message.id,
        "sender": message.sender,
    });
    if let Some(card) = card_of(message) {
        about["toolCallId"] = json!(card.call_id);
    }
    Chunk::File {
        url,
        media_type: part.content_type,
        provider_metadata: json!({"smartspace": about}),
    }
}

/// The result of a card's call.
fn result(card: &ToolPart) -> Chunk {
    let tool_call_id = card.call_id;
    if card.status == CallStatus::Completed {
        let output = card.output.clone().unwrap_or(Value::Null);
        return Chunk::ToolOutputAvailable { tool_call_id, output };
    }
    let error_text = match &card.output {
        Some(Value::String(text)) => text.clone(),
        Some(output) => output.to_string(),
        None => format!("the call has {}", ending_of(card.status)),
    };
    Chunk::ToolOutputError { tool_call_id, error_text }
}

fn ending_of(status: CallStatus) -> &'static str {
    match status {
        CallStatus::Expired => "expired",
        CallStatus::Canceled => "been canceled",
        _ => "failed",
    }
}
