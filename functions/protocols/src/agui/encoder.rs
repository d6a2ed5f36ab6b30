//! Encodes a turn as events of AG-UI.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use smartspace_domain::{
    events::AskedCall,
    ids::{CallId, EntityId, RunId},
    messages::{Message, ToolPart},
    runs::{RunError, RunStatus},
    steps::CallStatus,
};

use crate::{
    agui::types::{
        AgUiMessage, Event, Interrupt, Metadata, Outcome, Role, SubagentOutcome, ToolCall,
        files_event, metadata_of, result_id, role_of,
    },
    problems::code_of,
    turn::{EndCause, TurnEncoder, TurnEnd, TurnEvent, card_of, id_for_clients, question_of},
};

/// The client of a run of the protocol.
#[derive(Debug)]
pub(super) struct Client {
    /// The member that it acts for.
    pub(super) member: EntityId,
    /// The names of the tools that its page runs.
    pub(super) page_tools: BTreeSet<String>,
    /// Forms that it has decided to leave open. They are not sent to it again.
    pub(super) left_open: Vec<CallId>,
}

impl Client {
    /// Whether the client may see the call on a card now.
    ///
    /// A client runs every call without a result that has the name of a tool of its page. So it
    /// must see neither a call that waits for the page of somebody else, nor one that waits for
    /// approval: the approved call has a card of its own.
    fn may_see(&self, card: &ToolPart) -> bool {
        match card.page_of {
            Some(member) => member == self.member || card.status != CallStatus::Pending,
            None => card.approval.is_none() || !self.page_tools.contains(&card.name),
        }
    }
}

/// The state of a run of the protocol, which is a turn of ours.
#[derive(Debug)]
pub(super) struct AgUiEncoder {
    thread: String,
    run: String,
    client: Client,
    /// The client's messages. The protocol cannot remove or replace one, so that takes a snapshot
    /// of all of them.
    messages: Vec<AgUiMessage>,
}

impl AgUiEncoder {
    pub(super) fn new(thread: String, run: String, client: Client) -> Self {
        Self { thread, run, client, messages: Vec::new() }
    }

    pub(super) fn started(&self, protocol_version: Option<&'static str>) -> Event {
        Event::RunStarted {
            thread_id: self.thread.clone(),
            run_id: self.run.clone(),
            protocol_version,
        }
    }

    /// The snapshot of a space's messages, given oldest first.
    pub(super) fn snapshot_of<'a>(&mut self, messages: impl Iterator<Item = &'a Message>) -> Event {
        for message in messages {
            match card_of(message) {
                None => self.messages.push(AgUiMessage::posted(message)),
                Some(card) if !self.client.may_see(card) => {}
                Some(card) => {
                    self.messages.push(tool_call_message(message));
                    if card.status != CallStatus::Pending {
                        self.messages.extend(tool_result_message(message));
                    }
                }
            }
        }
        self.snapshot()
    }

    fn snapshot(&self) -> Event {
        Event::MessagesSnapshot { messages: self.messages.clone() }
    }

    fn with_id(&mut self, id: &str) -> Option<&mut AgUiMessage> {
        self.messages.iter_mut().rfind(|message| message.id == id)
    }

    fn write(&mut self, id: String, delta: &str) -> Event {
        if let Some(content) = self.with_id(&id).and_then(|message| message.content.as_mut()) {
            content.push_str(delta);
        }
        Event::TextMessageContent { message_id: id, delta: delta.to_owned() }
    }

    /// Ends the text of a posted message, or replaces it if `rest` is `None`.
    fn text_ended(&mut self, id: &str, rest: Option<&str>, message: &Message) -> Vec<Event> {
        let mut events = Vec::new();
        if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
            events.push(self.write(id.to_owned(), rest));
        }
        let metadata = Some(metadata_of(message));
        events.push(Event::TextMessageEnd { message_id: id.to_owned(), metadata });
        if let Some(shown) = self.with_id(id) {
            *shown = AgUiMessage::posted(message);
        }
        if rest.is_none() {
            events.push(self.snapshot());
        }
        events
    }

    fn whole_text(&mut self, message: &Message) -> Vec<Event> {
        let id = id_for_clients(message);
        self.messages.push(AgUiMessage::posted(message));
        let start = Event::TextMessageStart {
            message_id: id.clone(),
            role: role_of(&message.sender),
            name: message.sender.marked_name(),
            subagent_run_id: message.run_id,
        };
        let delta = message.text().to_owned();
        let content = Event::TextMessageContent { message_id: id.clone(), delta };
        let metadata = Some(metadata_of(message));
        vec![start, content, Event::TextMessageEnd { message_id: id, metadata }]
    }

    fn card(&mut self, message: &Message) -> Vec<Event> {
        let card = card_of(message).filter(|card| self.client.may_see(card));
        let Some(card) = card else { return Vec::new() };
        self.messages.push(tool_call_message(message));
        let start = Event::ToolCallStart {
            tool_call_id: card.call_id,
            tool_call_name: card.name.clone(),
            parent_message_id: id_for_clients(message),
            subagent_run_id: message.run_id,
        };
        let delta = card.input.to_string();
        let arguments = Event::ToolCallArgs { tool_call_id: card.call_id, delta };
        vec![start, arguments, Event::ToolCallEnd { tool_call_id: card.call_id }]
    }

    fn card_ended(&mut self, message: &Message) -> Vec<Event> {
        let id = id_for_clients(message);
        // The call itself may have been hidden until now.
        let is_shown = self.messages.iter().any(|shown| shown.id == id);
        let mut events = if is_shown { Vec::new() } else { self.card(message) };
        if is_shown || !events.is_empty() {
            events.extend(self.result(message));
        }
        events
    }

    fn result(&mut self, message: &Message) -> Option<Event> {
        let result = tool_result_message(message)?;
        let tool_call_id = result.tool_call_id?;
        // Right after its call, where models expect a result.
        let id = id_for_clients(message);
        let at = self.messages.iter().position(|shown| shown.id == id);
        self.messages.insert(at.map_or(self.messages.len(), |at| at + 1), result.clone());
        Some(Event::ToolCallResult {
            message_id: result.id,
            tool_call_id,
            content: result.content.unwrap_or_default(),
            role: Role::Tool,
            subagent_run_id: message.run_id,
        })
    }
}

impl TurnEncoder for AgUiEncoder {
    type Event = Event;

    fn encode(&mut self, event: &TurnEvent) -> Vec<Event> {
        match event {
            TurnEvent::RunStarted { run, agent } => {
                vec![Event::SubagentStarted { subagent_run_id: *run, name: agent.clone() }]
            }
            TurnEvent::RunResumed { .. } => Vec::new(),
            TurnEvent::RunEnded { run, status, error } => {
                vec![ended(*run, *status, error.as_ref())]
            }
            TurnEvent::TextStarted { stream, run, sender } => {
                let id = stream.to_string();
                self.messages.push(AgUiMessage::live(id.clone(), sender, *run));
                vec![Event::TextMessageStart {
                    message_id: id,
                    role: role_of(sender),
                    name: sender.marked_name(),
                    subagent_run_id: Some(*run),
                }]
            }
            TurnEvent::TextDelta { stream, text } => vec![self.write(stream.to_string(), text)],
            TurnEvent::TextEnded { stream, rest, message } => {
                self.text_ended(&stream.to_string(), rest.as_deref(), message)
            }
            TurnEvent::TextDropped { stream } => {
                let id = stream.to_string();
                self.messages.retain(|message| message.id != id);
                let end = Event::TextMessageEnd { message_id: id, metadata: None };
                vec![end, self.snapshot()]
            }
            TurnEvent::Message { message, .. } => self.whole_text(message),
            TurnEvent::Card { message, .. } => self.card(message),
            TurnEvent::CardEnded(message) => self.card_ended(message),
            TurnEvent::Files { message, files, .. } => vec![files_event(message, files)],
        }
    }

    fn finish(&mut self, end: TurnEnd, cause: EndCause) -> Vec<Event> {
        let TurnEnd { open_runs, forms, failure } = end;
        let forms: Vec<_> = forms
            .into_iter()
            .filter(|form| !self.client.left_open.contains(&form.call_id))
            .collect();
        if let EndCause::Lost(refusal) = cause {
            let code = code_of(refusal.status).to_owned();
            return vec![Event::RunError { message: refusal.detail, code }];
        }
        // Runs that still work are suspended, too: the protocol has no other outcome for them, and
        // clients expect an end of every subagent before the end of the run.
        let suspended = open_runs.into_iter().map(|(run, _)| {
            let its = forms.iter().filter(|form| form.run_id == run);
            let interrupt_ids = its.map(|form| form.call_id).collect();
            let outcome = SubagentOutcome::Suspended { interrupt_ids };
            Event::SubagentFinished { subagent_run_id: run, outcome }
        });
        let mut events: Vec<_> = suspended.collect();
        if let Some(RunError { code, message }) = failure {
            events.push(Event::RunError { message, code: text_of(&json!(code)) });
            return events;
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
            metadata: matches!(cause, EndCause::TimeLimit).then_some(continues),
        });
        events
    }
}

fn ended(run: RunId, status: RunStatus, error: Option<&RunError>) -> Event {
    match (status, error) {
        (RunStatus::Failed, Some(RunError { code, message })) => Event::SubagentError {
            subagent_run_id: run,
            message: message.clone(),
            code: text_of(&json!(code)),
        },
        (RunStatus::Canceled, _) => Event::SubagentError {
            subagent_run_id: run,
            message: "the run was canceled".into(),
            code: "canceled".into(),
        },
        _ => Event::SubagentFinished { subagent_run_id: run, outcome: SubagentOutcome::Success },
    }
}

fn interrupt(form: AskedCall) -> Interrupt {
    let mut smartspace = json!({"runId": form.run_id, "name": form.name, "ui": form.ui});
    if let Some(approval) = &form.approval {
        smartspace["approval"] = json!(approval);
    }
    Interrupt {
        id: form.call_id,
        reason: "tool_call",
        message: question_of(&form),
        tool_call_id: form.call_id,
        response_schema: form.result_schema.filter(Value::is_object),
        expires_at: form.expires_at.map(|at| at.to_string()),
        subagent_run_id: form.run_id,
        metadata: Metadata { smartspace },
    }
}

/// A card as a message of the client: a tool call.
fn tool_call_message(message: &Message) -> AgUiMessage {
    let calls = card_of(message).map(|card| ToolCall {
        id: card.call_id,
        kind: "function",
        function: BTreeMap::from([
            ("name", card.name.clone()),
            ("arguments", card.input.to_string()),
        ]),
    });
    AgUiMessage {
        content: None,
        role: Role::Assistant,
        tool_calls: calls.into_iter().collect(),
        ..AgUiMessage::posted(message)
    }
}

/// The result of a card's call as a message of the client.
fn tool_result_message(message: &Message) -> Option<AgUiMessage> {
    let card = card_of(message)?;
    let content = match (&card.output, card.status) {
        (Some(Value::String(text)), _) => text.clone(),
        (Some(output), _) => output.to_string(),
        // A result may be null, and the agent reads it so.
        (None, CallStatus::Completed) => Value::Null.to_string(),
        (None, status) => text_of(&json!(status)),
    };
    Some(AgUiMessage {
        id: result_id(card.call_id),
        role: Role::Tool,
        content: Some(content),
        name: None,
        tool_calls: Vec::new(),
        tool_call_id: Some(card.call_id),
        subagent_run_id: message.run_id,
        metadata: None,
    })
}

/// The text of a value that serializes to a JSON string.
fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{at, message};

    fn member(number: u128) -> EntityId {
        EntityId::new(at(), number)
    }

    /// A card of the call `set_color`, with these fields.
    fn card(number: u128, status: &str, more: &Value) -> Message {
        let mut card = json!({
            "type": "tool", "callId": CallId::new(at(), 1), "name": "set_color",
            "input": {"color": "red"}, "output": null, "status": status, "ui": null,
            "resultSchema": null, "answerBy": null, "resolvedBy": null, "expiresAt": null,
        });
        for (name, value) in more.as_object().unwrap() {
            card[name] = value.clone();
        }
        let mut message = serde_json::to_value(message(number, Some(1), Some(&[]))).unwrap();
        message["parts"] = json!([card]);
        serde_json::from_value(message).unwrap()
    }

    /// The types of the events that the client of the first member gets, whose page has the tool.
    fn encoded(events: &[TurnEvent]) -> Vec<String> {
        let page_tools = BTreeSet::from(["set_color".to_owned()]);
        let client = Client { member: member(1), page_tools, left_open: Vec::new() };
        let mut encoder = AgUiEncoder::new("thread".into(), "run".into(), client);
        let events = events.iter().flat_map(|event| encoder.encode(event));
        events.map(|event| text_of(&json!(event)["type"])).collect()
    }

    fn shown_and_ended(open: Message, ended: Message) -> Vec<String> {
        let open = TurnEvent::Card { message: open.into(), may_answer: false };
        encoded(&[open, TurnEvent::CardEnded(ended.into())])
    }

    const CALL: [&str; 3] = ["TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END"];

    #[test]
    fn a_client_sees_a_call_for_the_page_of_somebody_else_once_it_has_a_result() {
        for (page_of, while_open) in [(member(1), CALL.len()), (member(2), 0)] {
            let page_of = json!({"pageOf": page_of});
            let open = card(2, "pending", &page_of);
            let only = TurnEvent::Card { message: open.clone().into(), may_answer: false };
            assert_eq!(encoded(&[only]).len(), while_open, "{page_of}");
            let events = shown_and_ended(open, card(2, "completed", &page_of));
            assert_eq!(events, [CALL.as_slice(), &["TOOL_CALL_RESULT"]].concat(), "{page_of}");
        }
    }

    #[test]
    fn a_client_reads_the_result_that_the_agent_reads() {
        for (status, output, expected) in [
            ("completed", Value::Null, "null"),
            ("completed", json!("red"), "red"),
            ("completed", json!({"color": null}), "{\"color\":null}"),
            ("failed", json!({"error": "expired"}), "{\"error\":\"expired\"}"),
            ("canceled", Value::Null, "canceled"),
        ] {
            let result = tool_result_message(&card(2, status, &json!({"output": output})));
            assert_eq!(result.unwrap().content.as_deref(), Some(expected), "{status}");
        }
    }

    #[test]
    fn a_client_never_sees_the_card_that_asks_for_an_approval_of_its_own_tool() {
        let approval = json!({"by": "owners", "needed": 1, "state": "open", "decisions": []});
        let asks = json!({"ui": "approval", "approval": approval});
        let ended = card(2, "completed", &asks);
        assert_eq!(shown_and_ended(card(2, "pending", &asks), ended), Vec::<String>::new());
    }
}
