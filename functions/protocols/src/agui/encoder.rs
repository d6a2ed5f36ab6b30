//! A turn in the words of AG-UI.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use smartspace_domain::{
    events::AskedCall,
    ids::{CallId, RunId},
    messages::Message,
    runs::{RunError, RunStatus},
    steps::CallStatus,
};

use crate::{
    agui::events::{
        Event, Interrupt, Metadata, Outcome, Role, ShownMessage, SubagentOutcome, ToolCall,
        files_event, metadata_of, role_of,
    },
    conversation::{Why, id_for_clients},
    event_stream::Protocol,
    narration::{Ending, Narration, Told, card_of},
    problem_codes::code_of,
};

/// A run of the protocol, which is a turn of ours.
#[derive(Debug)]
pub(super) struct Telling {
    thread: String,
    run: String,
    /// Forms that the client leaves open.
    left_open: Vec<CallId>,
    /// The messages that the client has.
    messages: Vec<ShownMessage>,
}

impl Telling {
    pub(super) fn new(thread: String, run: String, left_open: Vec<CallId>) -> Self {
        Self { thread, run, left_open, messages: Vec::new() }
    }

    pub(super) fn started(&self, protocol_version: Option<&'static str>) -> Event {
        Event::RunStarted {
            thread_id: self.thread.clone(),
            run_id: self.run.clone(),
            protocol_version,
        }
    }

    /// The messages of a space, oldest first.
    pub(super) fn snapshot_of<'a>(&mut self, messages: impl Iterator<Item = &'a Message>) -> Event {
        for message in messages {
            match card_of(message) {
                None => self.messages.push(ShownMessage::posted(message)),
                Some(card) => {
                    self.messages.push(shown_card(message));
                    if card.status != CallStatus::Pending {
                        self.messages.extend(shown_result(message));
                    }
                }
            }
        }
        self.snapshot()
    }

    fn snapshot(&self) -> Event {
        Event::MessagesSnapshot { messages: self.messages.clone() }
    }

    fn with_id(&mut self, id: &str) -> Option<&mut ShownMessage> {
        self.messages.iter_mut().rfind(|message| message.id == id)
    }

    fn write(&mut self, id: String, delta: String, events: &mut Vec<Event>) {
        if let Some(content) = self.with_id(&id).and_then(|message| message.content.as_mut()) {
            content.push_str(&delta);
        }
        events.push(Event::TextMessageContent { message_id: id, delta });
    }

    /// A message that is posted: its text ends, or is replaced.
    fn text_ended(
        &mut self,
        id: String,
        rest: Option<String>,
        message: &Message,
        events: &mut Vec<Event>,
    ) {
        let is_its_text = rest.is_some();
        if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
            self.write(id.clone(), rest, events);
        }
        let metadata = Some(metadata_of(message));
        events.push(Event::TextMessageEnd { message_id: id.clone(), metadata });
        if let Some(shown) = self.with_id(&id) {
            *shown = ShownMessage::posted(message);
        }
        if !is_its_text {
            events.push(self.snapshot());
        }
    }

    fn whole_text(&mut self, message: &Message, events: &mut Vec<Event>) {
        let id = id_for_clients(message);
        events.push(Event::TextMessageStart {
            message_id: id.clone(),
            role: role_of(&message.sender),
            name: message.sender.name.clone(),
            subagent_run_id: message.run_id,
        });
        let delta = message.text().to_owned();
        events.push(Event::TextMessageContent { message_id: id.clone(), delta });
        let metadata = Some(metadata_of(message));
        events.push(Event::TextMessageEnd { message_id: id, metadata });
        self.messages.push(ShownMessage::posted(message));
    }

    fn card(&mut self, message: &Message, events: &mut Vec<Event>) {
        let Some(card) = card_of(message) else { return };
        events.push(Event::ToolCallStart {
            tool_call_id: card.call_id,
            tool_call_name: card.name.clone(),
            parent_message_id: id_for_clients(message),
            subagent_run_id: message.run_id,
        });
        let delta = card.input.to_string();
        events.push(Event::ToolCallArgs { tool_call_id: card.call_id, delta });
        events.push(Event::ToolCallEnd { tool_call_id: card.call_id });
        self.messages.push(shown_card(message));
    }

    fn card_ended(&mut self, message: &Message, events: &mut Vec<Event>) {
        let Some(result) = shown_result(message) else { return };
        let Some(tool_call_id) = result.tool_call_id else { return };
        let id = id_for_clients(message);
        let at = self.messages.iter().position(|shown| shown.id == id);
        self.messages.insert(at.map_or(self.messages.len(), |at| at + 1), result.clone());
        events.push(Event::ToolCallResult {
            message_id: result.id,
            tool_call_id,
            content: result.content.unwrap_or_default(),
            role: Role::Tool,
            subagent_run_id: message.run_id,
        });
    }
}

impl Protocol for Telling {
    type Event = Event;

    fn tell(&mut self, told: Told, _narration: &Narration, events: &mut Vec<Event>) {
        match told {
            Told::RunStarted { run, agent } => {
                events.push(Event::SubagentStarted { subagent_run_id: run, name: agent });
            }
            Told::RunEnded { run, status, error } => events.push(ended(run, status, error)),
            Told::TextStarted { stream, run, sender } => {
                let id = stream.to_string();
                events.push(Event::TextMessageStart {
                    message_id: id.clone(),
                    role: role_of(&sender),
                    name: sender.name.clone(),
                    subagent_run_id: Some(run),
                });
                self.messages.push(ShownMessage::written(id, &sender, run));
            }
            Told::Text { stream, text } => self.write(stream.to_string(), text, events),
            Told::TextEnded { stream, rest, message } => {
                self.text_ended(stream.to_string(), rest, &message, events);
            }
            Told::TextDropped { stream } => {
                let id = stream.to_string();
                self.messages.retain(|message| message.id != id);
                events.push(Event::TextMessageEnd { message_id: id, metadata: None });
                events.push(self.snapshot());
            }
            Told::Message(message) => self.whole_text(&message, events),
            Told::Card(message) => self.card(&message, events),
            Told::CardEnded(message) => self.card_ended(&message, events),
            Told::Files { message, files } => events.push(files_event(&message, files)),
        }
    }

    fn end(&mut self, ending: Ending, why: Why, events: &mut Vec<Event>) {
        let Ending { open, forms, failure } = ending;
        let forms: Vec<_> =
            forms.into_iter().filter(|form| !self.left_open.contains(&form.call_id)).collect();
        if let Why::Lost(refusal) = why {
            let code = code_of(refusal.status).to_owned();
            return events.push(Event::RunError { message: refusal.detail, code });
        }
        // The protocol has no other word for an agent that still works.
        for (run, _) in open {
            let its = forms.iter().filter(|form| form.run_id == run);
            let interrupt_ids = its.map(|form| form.call_id).collect();
            let outcome = SubagentOutcome::Suspended { interrupt_ids };
            events.push(Event::SubagentFinished { subagent_run_id: run, outcome });
        }
        if let Some(RunError { code, message }) = failure {
            return events.push(Event::RunError { message, code: text_of(&json!(code)) });
        }
        let continues = Metadata { smartspace: json!({"continues": true}) };
        let interrupts: Vec<_> = forms.into_iter().map(interrupt).collect();
        events.push(Event::RunFinished {
            thread_id: self.thread.clone(),
            run_id: self.run.clone(),
            outcome: if interrupts.is_empty() {
                Outcome::Success
            } else {
                Outcome::Interrupt { interrupts }
            },
            metadata: matches!(why, Why::Continues).then_some(continues),
        });
    }
}

fn ended(run: RunId, status: RunStatus, error: Option<RunError>) -> Event {
    match (status, error) {
        (RunStatus::Failed, Some(RunError { code, message })) => {
            Event::SubagentError { subagent_run_id: run, message, code: text_of(&json!(code)) }
        }
        (RunStatus::Canceled, _) => Event::SubagentError {
            subagent_run_id: run,
            message: "the run was canceled".into(),
            code: "canceled".into(),
        },
        _ => Event::SubagentFinished { subagent_run_id: run, outcome: SubagentOutcome::Success },
    }
}

fn interrupt(form: AskedCall) -> Interrupt {
    let message = form.input["message"].as_str().map(str::to_owned);
    Interrupt {
        id: form.call_id,
        reason: "tool_call",
        message,
        tool_call_id: form.call_id,
        response_schema: form.result_schema.filter(Value::is_object),
        expires_at: form.expires_at.map(|at| at.to_string()),
        subagent_run_id: form.run_id,
        metadata: Metadata {
            smartspace: json!({"runId": form.run_id, "name": form.name, "ui": form.ui}),
        },
    }
}

/// The message of a card: a tool call.
fn shown_card(message: &Message) -> ShownMessage {
    let calls = card_of(message).map(|card| ToolCall {
        id: card.call_id,
        kind: "function",
        function: BTreeMap::from([
            ("name", card.name.clone()),
            ("arguments", card.input.to_string()),
        ]),
    });
    ShownMessage {
        content: None,
        role: Role::Assistant,
        tool_calls: calls.into_iter().collect(),
        ..ShownMessage::posted(message)
    }
}

/// The message with the result of a card's call.
fn shown_result(message: &Message) -> Option<ShownMessage> {
    let card = card_of(message)?;
    let content = match (&card.output, card.status) {
        (Some(Value::String(text)), _) => text.clone(),
        (Some(output), _) => output.to_string(),
        (None, status) => text_of(&json!(status)),
    };
    Some(ShownMessage {
        id: format!("{}:result", card.call_id),
        role: Role::Tool,
        content: Some(content),
        name: None,
        tool_calls: Vec::new(),
        tool_call_id: Some(card.call_id),
        subagent_run_id: message.run_id,
        metadata: None,
    })
}

/// The name of a value that is written as a JSON text.
fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
